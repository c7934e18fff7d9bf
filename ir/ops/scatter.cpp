#include "ir/ops/scatter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "ir/builder.h"
#include "ir/evaluate/sums.h"

namespace heddle::ir {

void check_target(const Signature& s) {
  if (s.operands[0].rank() == 0) throw InferError("expected rows to write to, got a scalar");
  const std::string& combine = s.text("combine");
  if (std::find(kCombinations.begin(), kCombinations.end(), combine) == kCombinations.end())
    throw InferError(fmt::format("combine is '{}', expected one of {}", combine, fmt::join(kCombinations, ", ")));
}

Dims with_rows(Dims dims, int64_t rows) {
  dims[0] = rows;
  return dims;
}

Key combine_attr() {
  return {.name = "combine", .type = KeyType::text, .doc = "set, add, mul, max or min", .fallback = "add"};
}

bool combines_by_adding(const Node& n) { return std::get<std::string>(attribute(*n.op, n.attrs, "combine")) == "add"; }

namespace {

double combined(double a, double b, const std::string& how) {
  if (how == "set") return b;
  if (how == "mul") return a * b;
  if (std::isnan(a) || std::isnan(b)) return std::nan("");
  return how == "max" ? std::max(a, b) : std::min(a, b);
}

int64_t combined(int64_t a, int64_t b, const std::string& how, DType dtype) {
  if (how == "set") return b;
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  if (how == "add") return wrap_to(dtype, static_cast<int64_t>(x + y));
  if (how == "mul") return wrap_to(dtype, static_cast<int64_t>(x * y));
  const bool less = dtype == DType::u64 ? x < y : a < b;
  return (how == "max") == less ? b : a;
}

}  // namespace

Tensor scatter_in_order(const Tensor& x, const Tensor& indices, const Tensor& updates, const std::string& combine) {
  Tensor y = x;
  const int64_t rows = x.type.dims[0], width = x.elements() / rows;
  const bool adds = y.floating() && combine == "add";
  Sums sums(adds ? y.real.size() : 0);
  for (size_t i = 0; adds && i < y.real.size(); ++i) sums.add(i, y.real[i]);
  for (int64_t i = 0; i < indices.elements(); ++i) {
    const int64_t row = indices.integer[static_cast<size_t>(i)];
    if (row < 0 || row >= rows) continue;  // u64 from 2^63 on is held as a negative number
    for (int64_t c = 0; c < width; ++c) {
      const auto to = static_cast<size_t>(row * width + c), from = static_cast<size_t>(i * width + c);
      if (adds)
        sums.add(to, updates.real[from]);
      else if (y.floating())
        y.real[to] = combined(y.real[to], updates.real[from], combine);
      else
        y.integer[to] = combined(y.integer[to], updates.integer[from], combine, y.type.dtype);
    }
  }
  if (adds) y.real = sums.totals();
  return y;
}

namespace {

std::vector<Type> infer(const Signature& s) {
  const Type &x = s.operands[0], &indices = s.operands[1], &updates = s.operands[2];
  check_target(s);
  if (!is_integer(indices.dtype) || indices.rank() != 1)
    throw InferError(fmt::format("expected integer indices [n], got {}", to_string(indices)));
  if (updates.dtype != x.dtype)
    throw InferError(
        fmt::format("updates are {}, what they are written to {}", to_string(updates.dtype), to_string(x.dtype)));
  const Dims expected = with_rows(x.dims, indices.dims[0]);
  if (updates.dims != expected)
    throw InferError(
        fmt::format("expected updates {}, a row for each index, got {}", to_string(expected), to_string(updates.dims)));
  if (indices.dims[0] > INT32_MAX)
    throw InferError(fmt::format("{} updates, expected fewer than 2^31", indices.dims[0]));
  return {x};
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> in) {
  return {scatter_in_order(*in[0], *in[1], *in[2], s.text("combine"))};
}

// Sorted, the updates of a row are neighbours, in the order in which they stand.
Values decompose(Builder& b, const Node& n) {
  const Values order = b.multi("argsort", {n.operands[1]});
  const auto combine = std::get<std::string>(attribute(*n.op, n.attrs, "combine"));
  return {b("scatter_rows", {n.operands[0], order[1], order[0], n.operands[2]}, {{"combine", combine}})};
}

class Gradient {
 public:
  Gradient(Builder& b, const Node& n, ValueId dy)
      : b_(b), x_(n.operands[0]), indices_(n.operands[1]), updates_(n.operands[2]), y_(n.results[0]), dy_(dy) {}

  Grads of(const std::string& combine) {
    if (combine == "add") return {dy_, {}, at_updates(dy_)};
    if (combine == "set") return set();
    return combine == "mul" ? mul() : best();
  }

 private:
  ValueId zeros(ValueId like) { return b_.like(0, like); }
  ValueId scatter(ValueId x, ValueId updates, const char* combine) {
    return b_("scatter", {x, indices_, updates}, {{"combine", std::string(combine)}});
  }
  // The row of each update; 0 where it has none.
  ValueId at_updates(ValueId rows) {
    const ValueId found = b_("gather", {rows, indices_}, {{"axis", int64_t{0}}});
    const ValueId low = b_("ge", {indices_, zeros(indices_)});
    const int64_t count = b_.type(rows).dims[0];
    ValueId inside = low;
    if (holds(b_.type(indices_).dtype, count))
      inside = b_("and", {low, b_("lt", {indices_, b_.like(static_cast<double>(count), indices_)})});
    return b_("select", {along(inside), found, zeros(found)});
  }
  ValueId along(ValueId each) {  // a number for each update, at each of its elements
    const Dims dims = b_.type(updates_).dims;
    return dims.size() == 1 ? each : b_("broadcast", {each}, {{"dims", Dims{0}}, {"shape", dims}});
  }
  ValueId as_number(ValueId condition, ValueId like) {
    return b_("select", {condition, b_.like(1, like), zeros(like)});
  }

  // The last update of each row stays.
  Grads set() {
    const int64_t n = b_.type(indices_).dims[0], rows = b_.type(x_).dims[0];
    const ValueId place = b_("iota", {}, {{"shape", Dims{n}}, {"dtype", std::string("i32")}});
    const ValueId last = scatter(b_.constant(-1, {DType::i32, {rows}}), place, "set");
    const ValueId stays = b_("eq", {b_("gather", {last, indices_}, {{"axis", int64_t{0}}}), place});
    const ValueId dx = scatter(dy_, zeros(updates_), "set");
    const ValueId found = at_updates(dy_);
    return {dx, {}, b_("select", {along(stays), found, zeros(found)})};
  }
  // All that are the best share the cotangent.
  Grads best() {
    const ValueId from_x = as_number(b_("eq", {x_, y_}), x_);
    const ValueId from_updates = as_number(b_("eq", {updates_, at_updates(y_)}), updates_);
    const ValueId share = b_("div", {dy_, scatter(from_x, from_updates, "add")});
    return {b_("mul", {share, from_x}), {}, b_("mul", {at_updates(share), from_updates})};
  }
  // The product of all others: by division, where the factor is not 0; else what the others give without it.
  Grads mul() {
    const ValueId ones = b_.like(1, x_);
    const ValueId dx = b_("mul", {dy_, scatter(ones, updates_, "mul")});
    const ValueId is_zero = b_("eq", {updates_, zeros(updates_)});
    const ValueId zeros_there = at_updates(scatter(zeros(x_), as_number(is_zero, updates_), "add"));
    const ValueId rest = at_updates(scatter(x_, b_("select", {is_zero, b_.like(1, updates_), updates_}), "mul"));
    const ValueId alone = b_("eq", {zeros_there, b_.like(1, zeros_there)});
    const ValueId none = b_("eq", {zeros_there, zeros(zeros_there)});
    const ValueId of_zero = b_("select", {alone, rest, zeros(rest)});
    const ValueId divisor = b_("select", {is_zero, b_.like(1, updates_), updates_});
    const ValueId of_other = b_("select", {none, b_("div", {rest, divisor}), zeros(rest)});
    return {dx, {}, b_("mul", {at_updates(dy_), b_("select", {is_zero, of_zero, of_other})})};
  }

  Builder& b_;
  ValueId x_, indices_, updates_, y_, dy_;
};

Grads gradient(Builder& b, const Node& n, const Values& dy) {
  return Gradient(b, n, dy[0]).of(std::get<std::string>(attribute(*n.op, n.attrs, "combine")));
}

Sample sample(const Dims& x, int64_t n, const std::string& combine) {
  return {.shapes = {x, {n}, with_rows(x, n)},
          .attrs = {{"combine", combine}},
          .below = x[0] + 1,
          .dtypes = {DType::f32, DType::i32, DType::f32}};
}

const RegisterOp op(
    {.name = "scatter",
     .doc =
         "y = x, where row indices[i] is combined with updates[i], one i after the other; an index that is no row of x "
         "changes nothing",
     .operands = {"x", "indices", "updates"},
     .attrs = {combine_attr()},
     .dtypes = kArithmetic,
     .kind = Composite{},
     .traits = {.adds_to_first = combines_by_adding},
     .infer = infer,
     .eval = eval,
     .grad = gradient,
     .decomposition = decompose,
     .places = [](const Signature& s) -> Dims { return {s.operands[0].dims[0]}; },
     .samples = {sample({7, 5}, 9, "add"), sample({33}, 100, "set"), sample({1, 1}, 1, "add"),
                 sample({4, 3, 2}, 6, "mul"), sample({5, 40}, 17, "max"), sample({6, 2}, 3, "min"),
                 sample({9, 1}, 30, "add")}});

}  // namespace
}  // namespace heddle::ir
