// product_logsumexp: what a cross-entropy needs of logits that are a matrix product. The logits never exist as a whole;
// they are computed in chunks of classes.
//
//   x: f32[T,K], w: f32[V,K], chunk = 4096   ->   matmul(x, w[0:4096]^T), then w[4096:8192] ...: each f32[T,4096]
//
// The gradient computes each chunk again, transposed, as w x^T. So no pass can merge it with the forward chunk, which
// would have to be kept until then.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/ceil_div.h"
#include "ir/evaluate/sums.h"
#include "ir/ops/precision.h"
#include "ir/ops/reduce.h"

namespace heddle::ir {
namespace {

const std::vector<DType> kWide = {DType::f32, DType::f64};

constexpr int64_t kMostChunks = 256;  // each becomes kernels of its own

std::vector<Key> attributes() {
  return with_precision({{.name = "chunk",
                          .type = KeyType::integer,
                          .doc = "how many classes are computed at a time",
                          .required = true}});
}

void require_type(const Signature& s, size_t operand, const char* name, const Type& expected) {
  if (s.operands[operand] != expected)
    throw InferError(fmt::format("{} is {}, expected {}", name, to_string(s.operands[operand]), to_string(expected)));
}

// x, w, bias, labels
void require_product(const Signature& s) {
  const Type &x = s.operands[0], &w = s.operands[1];
  if (x.rank() != 2 || w.rank() != 2 || x.dims[1] != w.dims[1] || w.dtype != x.dtype)
    throw InferError(fmt::format("x is {} and w {}, expected [rows, features] and [classes, features] of one type",
                                 to_string(x), to_string(w)));
  require_type(s, 2, "bias", {x.dtype, {w.dims[0]}});
  require_type(s, 3, "labels", {DType::i32, {x.dims[0]}});
  const int64_t chunk = s.integer("chunk");
  if (chunk < 1) throw InferError(fmt::format("chunk is {}, expected 1 or more", chunk));
  if (ceil_div(w.dims[0], chunk) > kMostChunks)
    throw InferError(
        fmt::format("chunk is {}: {} classes would be more than {} chunks", chunk, w.dims[0], kMostChunks));
  check_precision(s);
}

std::vector<Type> infer(const Signature& s) {
  require_product(s);
  const Type row{s.operands[0].dtype, {s.operands[0].dims[0]}};
  return {row, row, row};
}

// The classes [first, first + count) of a product, and what belongs to them.
struct Chunk {
  int64_t first = 0, count = 0;
  ValueId w, bias, classes;  // [count, K], [count], i32[count]: their numbers
};

class Walk {
 public:
  Walk(Builder& b, const Node& n) : b_(b), n_(n) {
    const Signature s = signature(b.graph, n);
    classes_ = s.operands[1].dims[0];
    features_ = s.operands[1].dims[1];
    chunk_ = std::min(s.integer("chunk"), classes_);
    precision_ = s.text("precision");
  }

  ValueId product(ValueId a, ValueId b, bool transpose_a, bool transpose_b) {
    return b_("matmul", {a, b},
              {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}, {"precision", precision_}});
  }

  std::vector<Chunk> chunks() {
    std::vector<Chunk> all;
    for (int64_t first = 0; first < classes_; first += chunk_) {
      const int64_t stop = std::min(first + chunk_, classes_);
      Chunk c{first, stop - first, {}, {}, {}};
      c.w = stop - first == classes_
                ? n_.operands[1]
                : b_("slice", {n_.operands[1]}, {{"starts", Dims{first, 0}}, {"limits", Dims{stop, features_}}});
      c.bias = stop - first == classes_
                   ? n_.operands[2]
                   : b_("slice", {n_.operands[2]}, {{"starts", Dims{first}}, {"limits", Dims{stop}}});
      const ValueId numbers = b_("iota", {}, {{"axis", int64_t{0}}, {"shape", Dims{c.count}}});
      c.classes = b_("add", {numbers, b_.like(static_cast<double>(first), numbers)});
      all.push_back(c);
    }
    return all;
  }

 private:
  Builder& b_;
  const Node& n_;
  int64_t classes_ = 0, features_ = 0, chunk_ = 0;
  std::string precision_;
};

ValueId along(Builder& b, ValueId v, const Dims& shape, int64_t axis) {
  return b("broadcast", {v}, {{"shape", shape}, {"dims", Dims{axis}}});
}

// Of each chunk the largest logit m_i and the sum s_i of exp(logit - m_i); of all, m the largest m_i and
// s = sum of s_i exp(m_i - m). No chunk asks for another one: each has been given back before the next is made.
struct ChunkSums {
  ValueId largest, sum, label, total;  // each [T]
};
ChunkSums sums_of(Builder& b, const Chunk& c, ValueId product, ValueId labels) {
  const Dims dims = b.type(product).dims;
  const Attrs columns = {{"axes", Dims{1}}};
  const ValueId logits = b("add", {product, along(b, c.bias, dims, 1)});
  const ValueId largest = b("reduce_max", {logits}, columns);
  const ValueId powers = b("exp", {b("sub", {logits, along(b, shift_of(b, largest), dims, 0)})});
  const ValueId hit = b("eq", {along(b, c.classes, dims, 1), along(b, labels, dims, 0)});
  const ValueId own = b("select", {hit, logits, b.like(-std::numeric_limits<double>::infinity(), logits)});
  return {largest, b("reduce_sum", {powers}, columns), b("reduce_max", {own}, columns),
          b("reduce_sum", {logits}, columns)};
}

Values decomposition(Builder& b, const Node& n) {
  std::vector<ChunkSums> chunks;
  Walk walk(b, n);
  for (const Chunk& c : walk.chunks())
    chunks.push_back(sums_of(b, c, walk.product(n.operands[0], c.w, false, true), n.operands[3]));
  const auto joined = [&](const char* op, const auto& part) {
    ValueId all = part(chunks[0]);
    for (size_t i = 1; i < chunks.size(); ++i) all = b(op, {all, part(chunks[i])});
    return all;
  };
  const ValueId shift = shift_of(b, joined("max", [](const ChunkSums& c) { return c.largest; }));
  const ValueId sum = joined("add", [&](const ChunkSums& c) {
    return chunks.size() == 1 ? c.sum : b("mul", {c.sum, b("exp", {b("sub", {c.largest, shift})})});
  });
  return {b("add", {shift, b("log", {sum})}), joined("max", [](const ChunkSums& c) { return c.label; }),
          joined("add", [](const ChunkSums& c) { return c.total; })};
}

Grads grad(Builder& b, const Node& n, const Values& dy) {
  Values operands = n.operands;
  operands.push_back(n.results[0]);
  for (const ValueId d : dy) operands.push_back(d.valid() ? d : b.like(0, n.results[0]));
  Values made =
      b.multi("product_logsumexp_grad", operands,
              {{"chunk", attribute(*n.op, n.attrs, "chunk")}, {"precision", attribute(*n.op, n.attrs, "precision")}});
  return {made[0], made[1], made[2], {}};
}

// Logits of a row, in double precision.
std::vector<double> logits_of(std::span<const Tensor* const> in, int64_t row) {
  const int64_t features = in[0]->type.dims[1], classes = in[1]->type.dims[0];
  std::vector<double> logits;
  for (int64_t v = 0; v < classes; ++v) {
    Sum sum;
    for (int64_t k = 0; k < features; ++k) sum.add(in[0]->at(row * features + k) * in[1]->at(v * features + k));
    logits.push_back(sum.total() + in[2]->at(v));
  }
  return logits;
}

double logsumexp(const std::vector<double>& logits) {
  const double largest = *std::ranges::max_element(logits);
  const double shift = std::isinf(largest) ? 0 : largest;
  Sum sum;
  for (const double x : logits) sum.add(std::exp(x - shift));
  return shift + std::log(sum.total());
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> in) {
  std::vector<Tensor> out(3, Tensor(s.results[0]));
  for (int64_t row = 0; row < s.results[0].dims[0]; ++row) {
    const std::vector<double> logits = logits_of(in, row);
    const int64_t label = in[3]->integer[static_cast<size_t>(row)];
    const bool known = label >= 0 && label < static_cast<int64_t>(logits.size());
    Sum all;
    for (const double x : logits) all.add(x);
    out[0].set(row, logsumexp(logits));
    out[1].set(row, known ? logits[static_cast<size_t>(label)] : -std::numeric_limits<double>::infinity());
    out[2].set(row, all.total());
  }
  return out;
}

// --- The gradient ---

std::vector<Type> infer_grad(const Signature& s) {
  require_product(s);
  const Type row{s.operands[0].dtype, {s.operands[0].dims[0]}};
  for (size_t i = 4; i < 8; ++i) require_type(s, i, "a number for each row", row);
  return {s.operands[0], s.operands[1], s.operands[2]};
}

// The gradient of a logit: probability dy_total + [it is the label] dy_label + dy_sum. [count, T]: as w x^T has them.
Values decomposition_grad(Builder& b, const Node& n) {
  const ValueId x = n.operands[0], labels = n.operands[3], total = n.operands[4];
  const int64_t rows = b.type(x).dims[0];
  ValueId dx;
  Values dw, dbias;
  Walk walk(b, n);
  for (const Chunk& c : walk.chunks()) {
    const Dims dims{c.count, rows};
    const ValueId product = walk.product(c.w, x, false, true);
    const ValueId logits = b("add", {product, along(b, c.bias, dims, 0)});
    const ValueId share = b("exp", {b("sub", {logits, along(b, total, dims, 1)})});
    const ValueId hit = b("eq", {along(b, c.classes, dims, 0), along(b, labels, dims, 1)});
    const ValueId of_label = along(b, n.operands[6], dims, 1);
    const ValueId own = b("select", {hit, of_label, b.like(0, of_label)});
    const ValueId of_total = b("mul", {share, along(b, n.operands[5], dims, 1)});
    const ValueId d = b("add", {b("add", {of_total, own}), along(b, n.operands[7], dims, 1)});
    const ValueId more = walk.product(d, c.w, true, false);
    dx = dx.valid() ? b("add", {dx, more}) : more;
    dw.push_back(walk.product(d, x, false, false));
    dbias.push_back(b("reduce_sum", {d}, {{"axes", Dims{1}}}));
  }
  const auto joined = [&](const Values& parts) {
    return parts.size() == 1 ? parts[0] : b("concat", parts, {{"axis", int64_t{0}}});
  };
  return {dx, joined(dw), joined(dbias)};
}

std::vector<Tensor> eval_grad(const Signature& s, std::span<const Tensor* const> in) {
  std::vector<Tensor> out;
  for (const Type& type : s.results) out.emplace_back(type);
  const int64_t features = s.operands[0].dims[1], classes = s.operands[1].dims[0];
  std::vector<Sums> sums;
  sums.reserve(out.size());
  for (const Tensor& t : out) sums.emplace_back(static_cast<size_t>(t.elements()));
  for (int64_t row = 0; row < s.operands[0].dims[0]; ++row) {
    const std::vector<double> logits = logits_of(in, row);
    for (int64_t v = 0; v < classes; ++v) {
      const bool own = in[3]->integer[static_cast<size_t>(row)] == v;
      const double share = std::exp(logits[static_cast<size_t>(v)] - in[4]->at(row));
      const double d = share * in[5]->at(row) + (own ? in[6]->at(row) : 0) + in[7]->at(row);
      for (int64_t k = 0; k < features; ++k) {
        sums[0].add(static_cast<size_t>(row * features + k), d * in[1]->at(v * features + k));
        sums[1].add(static_cast<size_t>(v * features + k), d * in[0]->at(row * features + k));
      }
      sums[2].add(static_cast<size_t>(v), d);
    }
  }
  for (size_t i = 0; i < out.size(); ++i) out[i].real = sums[i].totals();
  return out;
}

struct Shape {
  int64_t rows, features, classes, chunk;
};

Sample sample(const Shape& n, bool of_gradient) {
  Sample s{.shapes = {{n.rows, n.features}, {n.classes, n.features}, {n.classes}, {n.rows}},
           .attrs = {{"chunk", n.chunk}},
           .below = n.classes,
           .dtypes = {DType::f32, DType::f32, DType::f32, DType::i32}};
  for (int i = 0; of_gradient && i < 4; ++i) {
    s.shapes.push_back({n.rows});
    s.dtypes.push_back(DType::f32);
  }
  return s;
}

std::vector<Sample> samples(bool of_gradient) {
  std::vector<Sample> all;
  for (const Shape& n : {Shape{8, 6, 10, 4}, Shape{7, 5, 33, 16}, Shape{1, 3, 2, 1}, Shape{5, 1, 9, 9},
                         Shape{16, 4, 12, 5}, Shape{3, 8, 1, 7}})
    all.push_back(sample(n, of_gradient));
  return all;
}

const RegisterOp forward(
    {.name = "product_logsumexp",
     .doc =
         "of each row of logits x w^T + bias, of which `chunk` classes exist at a time: total = the log of the sum of "
         "exp(logit), label = the logit of its label, -inf where that is no class, sum = the sum of all",
     .operands = {"x", "w", "bias", "labels"},
     .results = {"total", "label", "sum"},
     .attrs = attributes(),
     .dtypes = kWide,
     .kind = Composite{},
     .infer = infer,
     .eval = eval,
     .grad = grad,
     .decomposition = decomposition,
     .flops = 6,
     .samples = samples(/*of_gradient=*/false)});

const RegisterOp backward(
    {.name = "product_logsumexp_grad",
     .doc = "the gradient of product_logsumexp, whose total it reads: with d = exp(logit - total) dtotal + [it is the "
            "label] dlabel + dsum of each logit, dx = d w, dw = d^T x, dbias = the sum of d over rows",
     .operands = {"x", "w", "bias", "labels", "total", "dtotal", "dlabel", "dsum"},
     .results = {"dx", "dw", "dbias"},
     .attrs = attributes(),
     .dtypes = kWide,
     .kind = Composite{},
     .infer = infer_grad,
     .eval = eval_grad,
     .decomposition = decomposition_grad,
     .flops = 6,
     .samples = samples(/*of_gradient=*/true)});

}  // namespace
}  // namespace heddle::ir
