// adaptive_avg_pool, adaptive_max_pool, and the operators of their gradients. They pool an axis of `input` elements to
// `size` elements, for any two numbers.
//
//   bin o = [floor(o input / size), ceil((o + 1) input / size)):   5 elements, size 3  ->  [0, 2) [1, 4) [3, 5)
//
// Bin o holds element i where (o, o + 1) / size and (i, i + 1) / input overlap. So the bins that
// hold element i are again bins, of an axis of `size` elements: a sum over bins is its own
// gradient, with both exchanged.
#include <fmt/format.h>

#include "ir/builder.h"
#include "ir/ceil_div.h"
#include "ir/mixed_precision.h"
#include "ir/ops/loops.h"
#include "ir/ops/reduce.h"

namespace heddle::ir {
namespace {

struct Bins {
  size_t axis = 0;
  int64_t input = 1, size = 1;
};

// From the first operand to `size`; and back to it, of operators that know the `input`.
Bins bins(const Signature& s) {
  const auto axis = static_cast<size_t>(normal_axis(s.integer("axis"), s.operands[0].rank()));
  return {axis, s.operands[0].dims[axis], s.integer("size")};
}
Bins bins_back(const Signature& s) {
  const auto axis = static_cast<size_t>(normal_axis(s.integer("axis"), s.operands[0].rank()));
  return {axis, s.integer("input"), s.operands[0].dims[axis]};
}

// Products of two of them stay exact.
void require_length(std::string_view name, int64_t length) {
  constexpr int64_t kMost = int64_t{1} << 26;
  if (length < 1 || length > kMost) throw InferError(fmt::format("{} is from 1 to {}, got {}", name, kMost, length));
}

Dims pooled(const Signature& s) {
  if (s.operands[0].rank() == 0) throw InferError("expected at least one axis, got a scalar");
  const Bins b = bins(s);
  require_length("size", b.size);
  require_length("the axis", b.input);
  Dims dims = s.operands[0].dims;
  dims[b.axis] = b.size;
  return dims;
}

int64_t first_of(const Bins& b, int64_t o) { return o * b.input / b.size; }
int64_t end_of(const Bins& b, int64_t o) { return ceil_div((o + 1) * b.input, b.size); }

// The longest bin: bins begin and end at multiples of input / size, rounded outwards.
int64_t longest(const Bins& b) { return b.input % b.size == 0 ? b.input / b.size : (b.input - 1) / b.size + 2; }

// From coordinates [.., o, .., tap] to the element of the bin, which is also `k`.
ReductionDomain bin_domain(const Bins& b, Dims results) {
  ReductionDomain domain;
  domain.extents = {std::min(longest(b), b.input)};
  IndexMap map;
  map.extents = std::move(results);
  const int tap = static_cast<int>(map.extents.size());
  map.extents.push_back(domain.extents[0]);
  const IndexExpr o = IndexExpr::dim(static_cast<int>(b.axis));
  const IndexExpr element = floor_div(o * b.input, b.size, map.extents) + IndexExpr::dim(tap);
  for (int d = 0; d < tap; ++d) map.results.push_back(d == static_cast<int>(b.axis) ? element : IndexExpr::dim(d));
  map.add_guard(element, 0, b.input);
  map.add_guard((o + IndexExpr(1)) * b.input - element * b.size, 1, (b.input + 1) * (b.size + 1));
  domain.k = element;
  domain.maps.push_back(std::move(map));
  return domain;
}

// With a map to the bin's own element of a second operand.
ReductionDomain with_bins(ReductionDomain domain, int rank) {
  IndexMap own = domain.maps[0];
  own.results.clear();
  for (int d = 0; d < rank; ++d) own.results.push_back(IndexExpr::dim(d));
  domain.maps.push_back(std::move(own));
  return domain;
}

// Calls f(o, i, result, element) for each element of each bin; positions are row-major.
template <class F>
void for_each_member(const Bins& b, const Dims& image, const Dims& results, F&& f) {
  for_each_point(results, [&](const Dims& at) {
    const auto result = static_cast<size_t>(position(results, at));
    for (int64_t i = first_of(b, at[b.axis]); i < end_of(b, at[b.axis]); ++i) {
      Dims from = at;
      from[b.axis] = i;
      f(at[b.axis], i, result, position(image, from));
    }
  });
}

std::vector<Key> attributes(const std::string& name, const std::string& doc) {
  return {{.name = "axis", .type = KeyType::integer, .doc = "the axis that gets another size", .required = true},
          {.name = name, .type = KeyType::integer, .doc = doc, .required = true}};
}
std::vector<Key> forward_attributes() { return attributes("size", "elements along it after"); }

// Samples: bins that overlap, bins that do not, one bin for all elements, one bin per element, more bins than elements.
std::vector<Sample> samples() {
  const auto sample = [](Dims x, int64_t axis, int64_t size) {
    return Sample{.shapes = {std::move(x)}, .attrs = {{"axis", axis}, {"size", size}}};
  };
  return {sample({2, 5, 3}, 1, 3), sample({13, 2}, 0, 6),   sample({3, 8}, 1, 4),  sample({2, 7, 1}, 1, 1),
          sample({4, 3}, 0, 10),   sample({2, 2, 6}, 2, 6), sample({1, 10}, 1, 7), sample({1}, 0, 2)};
}

std::vector<Type> infer_pool(const Signature& s) { return {{s.operands[0].dtype, pooled(s)}}; }

std::vector<Tensor> eval_sum(const Signature& s, std::span<const Tensor* const> in) {
  Tensor y(s.results[0]);
  for_each_member(bins(s), in[0]->type.dims, y.type.dims, [&](int64_t, int64_t, size_t result, int64_t element) {
    y.real[result] += in[0]->real[static_cast<size_t>(element)];
  });
  return {y};
}

const RegisterOp adaptive_sum_pool(
    {.name = "adaptive_sum_pool",
     .doc = "y[o] = the sum of x in bin o along the axis, elements floor(o n / size) to "
            "ceil((o + 1) n / size) of n: its own gradient, with n for the size",
     .operands = {"x"},
     .attrs = forward_attributes(),
     .dtypes = kFloating,
     .kind = Reduction{monoids::kSum, "x", {"acc"}, [](const Signature& s) { return bin_domain(bins(s), pooled(s)); }},
     .infer = infer_pool,
     .eval = eval_sum,
     .grad = [](Builder& b, const Node& n, const Values& dy) -> Grads {
       const Bins back = bins(signature(b.graph, n));
       return {b("adaptive_sum_pool", {dy[0]}, {{"axis", static_cast<int64_t>(back.axis)}, {"size", back.input}})};
     },
     .samples = samples()});

std::vector<Tensor> eval_average(const Signature& s, std::span<const Tensor* const> in) {
  std::vector<Tensor> out = eval_sum(s, in);
  const Bins b = bins(s);
  size_t i = 0;
  for_each_point(out[0].type.dims, [&](const Dims& at) {
    out[0].real[i++] /= static_cast<double>(end_of(b, at[b.axis]) - first_of(b, at[b.axis]));
  });
  return out;
}

// Each dy is divided by the length of its bin, then added to all elements of it.
Grads average_gradient(Builder& b, const Node& n, const Values& dy) {
  const Type x = b.type(n.operands[0]), y = b.type(dy[0]);
  const Bins back = bins(signature(b.graph, n));
  const ValueId lengths =
      b("adaptive_sum_pool", {b.constant(1, {x.dtype, {back.input}})}, {{"axis", int64_t{0}}, {"size", back.size}});
  const auto axis = static_cast<int64_t>(back.axis);
  const ValueId each = b("broadcast", {lengths}, {{"shape", y.dims}, {"dims", Dims{axis}}});
  return {b("adaptive_sum_pool", {b("div", {dy[0], each})}, {{"axis", axis}, {"size", back.input}})};
}

const RegisterOp adaptive_avg_pool(
    {.name = "adaptive_avg_pool",
     .doc = "y[o] = the mean of x in bin o along the axis, elements floor(o n / size) to ceil((o + 1) n / size) of n",
     .operands = {"x"},
     .attrs = forward_attributes(),
     .dtypes = kFloating,
     .kind = Reduction{monoids::kSum,
                       "x",
                       {"acc / T(valid)"},
                       [](const Signature& s) { return bin_domain(bins(s), pooled(s)); }},
     .infer = infer_pool,
     .eval = eval_average,
     .grad = average_gradient,
     .samples = samples()});

// --- adaptive_max_pool, its gradient, and that one's ---

std::vector<Tensor> eval_max(const Signature& s, std::span<const Tensor* const> in) {
  const Tensor& x = *in[0];
  Tensor y(s.results[0]), index(s.results[1]);
  std::vector<int64_t> best(static_cast<size_t>(y.elements()), -1);
  for_each_member(bins(s), x.type.dims, y.type.dims, [&](int64_t, int64_t i, size_t result, int64_t element) {
    if (best[result] >= 0 && !comes_first(x, element, best[result], /*largest=*/true)) return;
    best[result] = element;
    index.integer[result] = i;
  });
  for (size_t o = 0; o < best.size(); ++o) y.copy(static_cast<int64_t>(o), x, best[o]);
  return {y, index};
}

const RegisterOp adaptive_max_pool(
    {.name = "adaptive_max_pool",
     .doc = "y[o] = the largest x in bin o along the axis (see adaptive_avg_pool), index its place along the axis: the "
            "first of equals, which gets the gradient",
     .operands = {"x"},
     .results = {"y", "index"},
     .attrs = forward_attributes(),
     .dtypes = kArithmetic,
     .kind = Reduction{monoids::kArgMax,
                       "x",
                       {"acc.value", "acc.index"},
                       [](const Signature& s) { return bin_domain(bins(s), pooled(s)); }},
     .infer = [](const Signature& s) -> std::vector<Type> {
       return {{s.operands[0].dtype, pooled(s)}, {DType::i32, pooled(s)}};
     },
     .eval = eval_max,
     .grad = [](Builder& b, const Node& n, const Values& dy) -> Grads {
       const Bins back = bins(signature(b.graph, n));
       return {b("adaptive_max_pool_grad", {dy[0], n.results[1]},
                 {{"axis", static_cast<int64_t>(back.axis)}, {"input", back.input}})};
     },
     .samples = samples()});

void require_index(const Signature& s, const Dims& dims) {
  const Type index{DType::i32, dims};
  if (s.operands[1] != index)
    throw InferError(fmt::format("index is {}, expected {}", to_string(s.operands[1]), to_string(index)));
}

Dims unpooled(const Signature& s) {
  if (s.operands[0].rank() == 0) throw InferError("expected at least one axis, got a scalar");
  const Bins b = bins_back(s);
  require_length("input", b.input);
  require_length("the axis", b.size);
  require_index(s, s.operands[0].dims);
  Dims dims = s.operands[0].dims;
  dims[b.axis] = b.input;
  return dims;
}

// Over the bins that hold an element; `k` is the element.
ReductionDomain back_domain(const Signature& s) {
  const Bins b = bins_back(s);
  ReductionDomain domain = bin_domain({b.axis, b.size, b.input}, unpooled(s));
  domain.k = IndexExpr::dim(static_cast<int>(b.axis));
  domain.maps.push_back(domain.maps[0]);
  return domain;
}

std::vector<Tensor> eval_max_grad(const Signature& s, std::span<const Tensor* const> in) {
  Tensor dx(s.results[0]);
  for_each_member(bins_back(s), dx.type.dims, in[0]->type.dims,
                  [&](int64_t, int64_t i, size_t result, int64_t element) {
                    if (in[1]->integer[result] == i) dx.real[static_cast<size_t>(element)] += in[0]->real[result];
                  });
  return {dx};
}

std::vector<Sample> indexed_samples(bool back) {
  std::vector<Sample> list = samples();
  for (Sample& sample : list) {
    const auto axis = static_cast<size_t>(std::get<int64_t>(sample.attrs.at("axis")));
    const int64_t size = std::get<int64_t>(sample.attrs.at("size")), input = sample.shapes[0][axis];
    sample.shapes.push_back(sample.shapes[0]);
    sample.shapes[1][axis] = size;
    sample.dtypes = {DType::f32, DType::i32};
    sample.below = input;
    if (!back) continue;
    sample.shapes[0][axis] = size;
    sample.attrs = {{"axis", static_cast<int64_t>(axis)}, {"input", input}};
  }
  return list;
}

const RegisterOp adaptive_max_pool_grad(
    {.name = "adaptive_max_pool_grad",
     .doc = "gradient of adaptive_max_pool: each dy is added to the element at its index",
     .operands = {"dy", "index"},
     .results = {"dx"},
     .attrs = attributes("input", "elements along it before"),
     .dtypes = kFloating,
     .kind = Reduction{monoids::kSum, "index == k ? dy : T(0)", {"acc"}, back_domain},
     .infer = [](const Signature& s) -> std::vector<Type> {
       return {{s.operands[0].dtype, unpooled(s)}};
     },
     .eval = eval_max_grad,
     .grad = [](Builder& b, const Node& n, const Values& dy) -> Grads {
       const Bins back = bins_back(signature(b.graph, n));
       return {b("adaptive_max_pool_pick", {dy[0], n.operands[1]},
                 {{"axis", static_cast<int64_t>(back.axis)}, {"size", back.size}}),
               {}};
     },
     .samples = indexed_samples(/*back=*/true)});

std::vector<Tensor> eval_pick(const Signature& s, std::span<const Tensor* const> in) {
  Tensor y(s.results[0]);
  for_each_member(bins(s), in[0]->type.dims, y.type.dims, [&](int64_t, int64_t i, size_t result, int64_t element) {
    if (in[1]->integer[result] == i) y.real[result] = in[0]->real[static_cast<size_t>(element)];
  });
  return {y};
}

const RegisterOp adaptive_max_pool_pick(
    {.name = "adaptive_max_pool_pick",
     .doc = "y[o] = the x at index, which lies in bin o: the gradient of adaptive_max_pool_grad",
     .operands = {"x", "index"},
     .attrs = forward_attributes(),
     .dtypes = kFloating,
     .kind = Reduction{monoids::kSum,
                       "index == k ? x : T(0)",
                       {"acc"},
                       [](const Signature& s) {
                         return with_bins(bin_domain(bins(s), pooled(s)), static_cast<int>(s.operands[0].rank()));
                       }},
     .infer = [](const Signature& s) -> std::vector<Type> {
       require_index(s, pooled(s));
       return {{s.operands[0].dtype, pooled(s)}};
     },
     .eval = eval_pick,
     .grad = [](Builder& b, const Node& n, const Values& dy) -> Grads {
       const Bins back = bins(signature(b.graph, n));
       return {b("adaptive_max_pool_grad", {dy[0], n.operands[1]},
                 {{"axis", static_cast<int64_t>(back.axis)}, {"input", back.input}}),
               {}};
     },
     .samples = indexed_samples(/*back=*/false)});

const StatesMixedPrecision few_terms({"adaptive_avg_pool", "adaptive_sum_pool", "adaptive_max_pool",
                                      "adaptive_max_pool_pick"},
                                     MixedRule::follows);

}  // namespace
}  // namespace heddle::ir
