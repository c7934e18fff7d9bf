// cumsum, cumprod, cummax, cummin: each element combined with those before it along an axis.
#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "ir/evaluate/arithmetic.h"
#include "ir/evaluate/sums.h"
#include "ir/ops/expr.h"
#include "ir/ops/reduce.h"

namespace heddle::ir {
namespace {

size_t axis_of(const Signature& s) { return static_cast<size_t>(normal_axis(s.integer("axis"), s.operands[0].rank())); }

std::vector<Type> infer(const Signature& s) {
  if (s.operands[0].rank() == 0) throw InferError("expected at least one axis, got a scalar");
  axis_of(s);
  return {s.operands[0]};
}

bool exclusive_of(const Signature& s) { return s.op->find_attr("exclusive") != nullptr && s.flag("exclusive"); }

// The operand as [outer, n, inner], along n.
struct Lines {
  int64_t outer = 1, n = 1, inner = 1;
};
Lines lines_of(const Signature& s) {
  const Dims& dims = s.operands[0].dims;
  Lines lines;
  for (size_t d = 0; d < dims.size(); ++d)
    (d < axis_of(s) ? lines.outer : d == axis_of(s) ? lines.n : lines.inner) *= dims[d];
  return lines;
}

// Whether a block takes a line: if the line is long, and its elements are contiguous or there are too few lines for
// threads.
bool by_blocks(const Lines& lines) {
  constexpr int64_t kShort = 32, kMany = 4096;
  return lines.n > kShort && (lines.inner == 1 || lines.outer * lines.inner < kMany);
}

std::function<PrimitivePlan(const Signature&)> plan_with(const std::string& monoid) {
  return [monoid](const Signature& s) -> PrimitivePlan {
    constexpr int64_t kThreads = 128, kMostThreads = 1024, kItems = 4;
    constexpr int64_t kBeside = 256;  // a page of memory serves many of them
    constexpr double kStep = 4, kBlockStep = 14, kLanes = 32;
    const Lines lines = lines_of(s);
    const int64_t elements = s.operands[0].elements(), count = lines.outer * lines.inner;
    const bool blocks = by_blocks(lines);
    const int64_t threads =
        blocks ? std::min(kMostThreads, ((lines.n + kItems - 1) / kItems + 31) / 32 * 32) : kThreads;
    const int64_t turns = blocks ? (lines.n + threads * kItems - 1) / (threads * kItems) : (lines.n + 3) / 4;
    return {.words = {{"Monoid", "hd::" + monoid},
                      {"Index", elements < int64_t{1} << 30 ? "int" : "hd::i64"},
                      {"outer", std::to_string(lines.outer)},
                      {"n", std::to_string(lines.n)},
                      {"inner", std::to_string(lines.inner)},
                      {"reverse", s.flag("reverse") ? "true" : "false"},
                      {"exclusive", exclusive_of(s) ? "true" : "false"},
                      {"team", std::to_string(blocks ? kMostThreads : 1)},
                      {"beside", std::to_string(kBeside)}},
            .threads = threads,
            .blocks = blocks ? count : (count + kThreads - 1) / kThreads,
            .workers = lines.outer * ((lines.inner + kBeside - 1) / kBeside),
            .instructions = static_cast<double>(elements) * (blocks ? kBlockStep : kStep) / kLanes,
            .dependent_loads = static_cast<double>(turns)};
  };
}

// Calls f(position, position before it or -1) for each element, in the order of the prefixes.
template <class F>
void for_each_step(const Signature& s, F&& f) {
  const Lines lines = lines_of(s);
  for (int64_t line = 0; line < lines.outer * lines.inner; ++line) {
    int64_t before = -1;
    for (int64_t i = 0; i < lines.n; ++i) {
      const int64_t place = s.flag("reverse") ? lines.n - 1 - i : i;
      const int64_t at = (line / lines.inner * lines.n + place) * lines.inner + line % lines.inner;
      f(static_cast<size_t>(at), before);
      before = at;
    }
  }
}

template <class T>
using Combine = T (*)(DType, T, T);
template <class T>
void fill(std::vector<T>& y, const std::vector<T>& x, const Signature& s, T start, Combine<T> combine) {
  const DType dtype = s.operands[0].dtype;
  std::vector<T> inclusive(x.size());
  for_each_step(s, [&](size_t at, int64_t before) {
    const T sum = before < 0 ? start : inclusive[static_cast<size_t>(before)];
    inclusive[at] = before < 0 && !exclusive_of(s) ? x[at] : combine(dtype, sum, x[at]);
    if constexpr (std::is_same_v<T, int64_t>) inclusive[at] = wrap_to(dtype, inclusive[at]);
    y[at] = exclusive_of(s) ? sum : inclusive[at];
  });
}

// Compensated sums of doubles.
void fill_sums(std::vector<double>& y, const std::vector<double>& x, const Signature& s) {
  Sum sum;
  for_each_step(s, [&](size_t at, int64_t before) {
    if (before < 0) sum = Sum();
    if (exclusive_of(s)) y[at] = sum.total();
    sum.add(x[at]);
    if (!exclusive_of(s)) y[at] = sum.total();
  });
}

// Without a combination of doubles they are added up.
Eval eval_scan(double start, Combine<double> real, Combine<int64_t> integer) {
  return [=](const Signature& s, std::span<const Tensor* const> in) -> std::vector<Tensor> {
    Tensor y(s.results[0]);
    if (y.floating() && real == nullptr)
      fill_sums(y.real, in[0]->real, s);
    else if (y.floating())
      fill(y.real, in[0]->real, s, start, real);
    else
      fill(y.integer, in[0]->integer, s, static_cast<int64_t>(start), integer);
    return {std::move(y)};
  };
}

// The prefix in the other direction: each element gets what the prefixes that hold it get.
Expr scanned_back(const Expr& v, const Signature& s) {
  return apply("cumsum", v,
               {{"axis", s.integer("axis")}, {"reverse", !s.flag("reverse")}, {"exclusive", exclusive_of(s)}});
}

Grads sum_gradient(Builder& b, const Node& n, const Values& dy) {
  return {scanned_back({b, dy[0]}, signature(b.graph, n))};
}

// An element's gradient is the sum of dy y over the prefixes that hold it, divided by the element;
// but of the first zero of a line it is the sum of dy over those with the other elements' product,
// and behind it nothing is left.
Grads product_gradient(Builder& b, const Node& n, const Values& dy) {
  const Signature s = signature(b.graph, n);
  const Expr x{b, n.operands[0]}, y{b, n.results[0]}, g{b, dy[0]};
  const Expr zero = apply("eq", x, 0.0), zeros{b, b.cast(zero, DType::i32)};
  const Expr before =
      apply("cumsum", zeros, {{"axis", s.integer("axis")}, {"reverse", s.flag("reverse")}, {"exclusive", true}});
  const Expr first = apply("and", zero, apply("eq", before, 0.0));
  const Expr others = apply("cumprod", select(first, 1.0, x), s.attrs);
  const Expr at_zero = select(first, scanned_back(g * others, s), 0.0);
  const Expr quotient = scanned_back(g * y, s) / select(zero, 1.0, x);
  return {select(zero, at_zero, quotient)};
}

// To the last of equal elements that was taken, as in PyTorch.
Grads extreme_gradient(Builder& b, const Node& n, const Values& dy) {
  const Signature s = signature(b.graph, n);
  const Type type = s.operands[0];
  const Expr x{b, n.operands[0]}, y{b, n.results[0]};
  const auto axis = static_cast<int64_t>(axis_of(s));
  const DType index = type.elements() > INT32_MAX ? DType::i64 : DType::i32;
  const Attrs iota{{"shape", type.dims}, {"axis", axis}, {"dtype", to_string(index)}};
  const Expr place{b, b("iota", {}, iota)};
  const Expr taken = apply("or", apply("eq", x, y), apply("is_nan", x));
  const double length = static_cast<double>(type.dims[static_cast<size_t>(axis)]);
  const Expr candidate = select(taken, place, s.flag("reverse") ? length : -1);
  const Expr from =
      apply(s.flag("reverse") ? "cummin" : "cummax", candidate, {{"axis", axis}, {"reverse", s.flag("reverse")}});
  // The row-major position of the element that each prefix took.
  const Lines lines = lines_of(s);
  const Dims flat{type.elements()};
  const Expr own{b, b.reshape(b("iota", {}, {{"shape", flat}, {"dtype", to_string(index)}}), type.dims)};
  const Expr position = own + (from - place) * static_cast<double>(lines.inner);
  const ValueId back =
      b("scatter", {b.constant(0, {type.dtype, flat}), b.reshape(position, flat), b.reshape(dy[0], flat)});
  return {b.reshape(back, type.dims)};
}

std::vector<Key> attributes(bool exclusive) {
  std::vector<Key> attrs = {
      {.name = "axis", .type = KeyType::integer, .doc = "the axis along which it goes", .fallback = int64_t{-1}},
      {.name = "reverse", .type = KeyType::flag, .doc = "from the last element to the first", .fallback = false}};
  if (exclusive)
    attrs.push_back(
        {.name = "exclusive", .type = KeyType::flag, .doc = "without the element itself", .fallback = false});
  return attrs;
}

Sample sample(const Dims& dims, int64_t axis, bool reverse, double low, double high) {
  return {.shapes = {dims}, .attrs = {{"axis", axis}, {"reverse", reverse}}, .low = low, .high = high};
}

// Around 1, so that long products stay near it.
std::vector<Sample> samples_around_one() {
  std::vector<Sample> list = {sample({7, 33}, -1, false, 0.5, 1.5), sample({33, 7}, 0, false, 0.5, 1.5),
                              sample({1}, -1, true, 0.5, 1.5),      sample({3, 5, 4}, 1, true, -1, 1),
                              sample({2, 150}, -1, true, 0.9, 1.1), sample({2, 40, 70}, -2, false, 0.9, 1.1),
                              sample({3, 1, 9}, 1, false, -1, 1),   sample({2, 129}, 1, false, 0.9, 1.1),
                              sample({9, 3}, 0, true, 0.5, 1.5)};
  for (size_t i = list.size() - 2; i < list.size(); ++i) list[i].attrs["exclusive"] = true;
  return list;
}

// Few values, far apart, so that a central difference does not change which element is the largest.
std::vector<Sample> samples_far_apart() {
  return {sample({7, 33}, -1, false, -9, 9), sample({33, 7}, 0, false, -9, 9),    sample({1}, -1, true, -9, 9),
          sample({3, 5, 4}, 1, true, -9, 9), sample({2, 150}, -1, true, -90, 90), sample({3, 1, 9}, 1, false, -9, 9)};
}

OpDef prefix(const std::string& name, const std::string& doc, const std::string& monoid, Eval eval,
             Grads (*grad)(Builder&, const Node&, const Values&), bool exclusive) {
  return {.name = name,
          .doc = doc,
          .operands = {"x"},
          .attrs = attributes(exclusive),
          .dtypes = kArithmetic,
          .kind = Primitive{"hd::prefix<Monoid, Index, outer, n, inner, reverse, exclusive, team, beside>(x, y);",
                            plan_with(monoid),
                            {}},
          .infer = infer,
          .eval = std::move(eval),
          .grad = grad,
          .samples = exclusive ? samples_around_one() : samples_far_apart()};
}

const RegisterOp cumsum(prefix("cumsum", "y = the sum of x up to each element along the axis", "Sum",
                               eval_scan(0, /*real=*/nullptr,
                                         [](DType, int64_t a, int64_t x) { return wrapping(pattern(a) + pattern(x)); }),
                               sum_gradient, true));
const RegisterOp cumprod(prefix("cumprod", "y = the product of x up to each element along the axis", "Prod",
                                eval_scan(
                                    1, [](DType, double a, double x) { return a * x; },
                                    [](DType, int64_t a, int64_t x) { return wrapping(pattern(a) * pattern(x)); }),
                                product_gradient, true));
const RegisterOp cummax(prefix(
    "cummax",
    "y = the largest x up to each element along the axis, nan behind one; the last of equals gets the gradient", "Max",
    eval_scan(
        0, [](DType, double a, double x) { return a != a || a > x ? a : x; },
        [](DType t, int64_t a, int64_t x) { return integer_less(t, a, x) ? x : a; }),
    extreme_gradient, false));
const RegisterOp cummin(prefix(
    "cummin",
    "y = the smallest x up to each element along the axis, nan behind one; the last of equals gets the gradient", "Min",
    eval_scan(
        0, [](DType, double a, double x) { return a != a || a < x ? a : x; },
        [](DType t, int64_t a, int64_t x) { return integer_less(t, x, a) ? x : a; }),
    extreme_gradient, false));

}  // namespace
}  // namespace heddle::ir
