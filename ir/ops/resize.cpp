// resize, resize_grad: samples between the elements of an axis.
//
//   y[o] = x at the place p = (step o + offset) / scale:   sum over i of w(p - i) x[i]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "ir/builder.h"
#include "ir/ceil_div.h"
#include "ir/evaluate/sums.h"
#include "ir/mixed_precision.h"
#include "ir/ops/loops.h"

namespace heddle::ir {
namespace {

struct Places {
  size_t axis;
  int64_t input, size;  // elements along the axis, before and after
  int64_t step, offset, scale;
  bool cubic;
  int64_t reach() const { return cubic ? 2 : 1; }
};

Places places(const Signature& s) {
  return {.axis = static_cast<size_t>(normal_axis(s.integer("axis"), s.operands[0].rank())),
          .input = s.integer("input"),
          .size = s.integer("size"),
          .step = s.integer("step"),
          .offset = s.integer("offset"),
          .scale = s.integer("scale"),
          .cubic = s.flag("cubic")};
}

// Every place is nearer than 1 to an element, and all numbers are exact in double precision.
Places checked_places(const Signature& s) {
  if (s.operands[0].rank() == 0) throw InferError("expected at least one axis, got a scalar");
  const Places p = places(s);
  constexpr int64_t kMost = int64_t{1} << 26;
  for (const int64_t number : {p.input, p.size, p.scale})
    if (number < 1 || number > kMost)
      throw InferError(fmt::format("input, size and scale are from 1 to {}, got {}", kMost, number));
  if (p.step < 0 || p.step > kMost || p.offset <= -p.scale || p.offset > kMost)
    throw InferError(fmt::format("place ({} o + {}) / {} is not inside the axis", p.step, p.offset, p.scale));
  if (p.step * (p.size - 1) + p.offset >= p.input * p.scale)
    throw InferError(fmt::format("the last place ({} * {} + {}) / {} is behind the {} elements", p.step, p.size - 1,
                                 p.offset, p.scale, p.input));
  return p;
}

std::vector<Type> infer_with(const Signature& s, bool back) {
  const Places p = checked_places(s);
  Type type = s.operands[0];
  const int64_t expected = back ? p.size : p.input;
  if (type.dims[p.axis] != expected)
    throw InferError(
        fmt::format("operand is {}, expected {} elements along axis {}", to_string(type), expected, p.axis));
  type.dims[p.axis] = back ? p.input : p.size;
  return {type};
}

// Result [.., o, ..] over the elements around each place; k tells place and element.
ReductionDomain resize_domain(const Signature& s) {
  const Places p = places(s);
  ReductionDomain domain;
  domain.extents = {2 * p.reach()};
  IndexMap map;
  map.extents = infer_with(s, false)[0].dims;
  const int tap = static_cast<int>(map.extents.size());
  map.extents.push_back(domain.extents[0]);
  const IndexExpr o = IndexExpr::dim(static_cast<int>(p.axis));
  const IndexExpr from = floor_div(o * p.step + IndexExpr(p.offset + p.scale), p.scale, map.extents);  // >= 0
  const IndexExpr element = from + IndexExpr::dim(tap) - IndexExpr(p.reach());
  for (int d = 0; d < tap; ++d) map.results.push_back(d == static_cast<int>(p.axis) ? element : IndexExpr::dim(d));
  map.add_guard(element, 0, p.input);
  domain.k = o * p.input + element;
  domain.maps.push_back(std::move(map));
  return domain;
}

// Result [.., i, ..] over the places that are nearer to the element than the weights reach.
ReductionDomain resize_grad_domain(const Signature& s) {
  const Places p = places(s);
  ReductionDomain domain;
  domain.extents = {p.step == 0 ? p.size : std::min(p.size, ceil_div(2 * p.reach() * p.scale, p.step))};
  IndexMap map;
  map.extents = infer_with(s, true)[0].dims;
  const int tap = static_cast<int>(map.extents.size());
  map.extents.push_back(domain.extents[0]);
  const IndexExpr i = IndexExpr::dim(static_cast<int>(p.axis));
  IndexExpr place = IndexExpr::dim(tap);
  if (p.step != 0 && domain.extents[0] < p.size) {
    const int64_t nearest = -p.scale * p.reach() - p.offset;                 // what is divided for element 0
    const int64_t steps = std::max<int64_t>(ceil_div(-nearest, p.step), 0);  // added so that it is not negative
    place = floor_div(i * p.scale + IndexExpr(nearest + steps * p.step), p.step, map.extents) - IndexExpr(steps - 1) +
            IndexExpr::dim(tap);
  }
  for (int d = 0; d < tap; ++d) map.results.push_back(d == static_cast<int>(p.axis) ? place : IndexExpr::dim(d));
  map.add_guard(place, 0, p.size);
  domain.k = place * p.input + i;
  domain.maps.push_back(std::move(map));
  return domain;
}

// Keys 1981, IEEE Transactions on Acoustics, Speech, and Signal Processing 29, with a = -3/4.
double cubic_weight(double d) {
  d = std::abs(d);
  if (d >= 2) return 0;
  return d <= 1 ? (1.25 * d - 2.25) * d * d + 1 : ((-0.75 * d + 3.75) * d - 6) * d + 3;
}

// Calls f(element, weight) for the place of result o; beyond the ends the last element is repeated.
template <class F>
void for_each_weight(const Places& p, int64_t o, F&& f) {
  const double place = static_cast<double>(p.step * o + p.offset) / static_cast<double>(p.scale);
  const auto first = static_cast<int64_t>(std::floor(place));
  std::map<int64_t, double> weights;
  for (int64_t i = first - p.reach() + 1; i <= first + p.reach(); ++i) {
    const double distance = place - static_cast<double>(i);
    weights[std::clamp<int64_t>(i, 0, p.input - 1)] += p.cubic ? cubic_weight(distance) : 1 - std::abs(distance);
  }
  for (const auto& [element, weight] : weights) f(element, weight);
}

std::vector<Tensor> eval_with(const Signature& s, const Tensor& in, bool back) {
  const Places p = places(s);
  Tensor out(s.results[0]);
  const Dims& results = back ? in.type.dims : out.type.dims;
  const Dims& elements = back ? out.type.dims : in.type.dims;
  Sums sums(out.real.size());
  for_each_point(results, [&](const Dims& at) {
    const auto result = static_cast<size_t>(position(results, at));
    for_each_weight(p, at[p.axis], [&](int64_t i, double weight) {
      Dims from = at;
      from[p.axis] = i;
      const auto element = static_cast<size_t>(position(elements, from));
      if (back && weight != 0)
        sums.add(element, weight * in.real[result]);
      else if (!back)
        sums.add(result, weight * in.real[element]);
    });
  });
  out.real = sums.totals();
  return {std::move(out)};
}

std::vector<Key> attributes() {
  const auto number = [](const char* name, const char* doc) {
    return Key{.name = name, .type = KeyType::integer, .doc = doc, .required = true};
  };
  return {number("axis", "the axis that gets another size"),
          number("input", "elements along it before"),
          number("size", "and after"),
          number("step", "from place to place, in units of 1 / scale"),
          number("offset", "of the first place, in the same units"),
          number("scale", "units of an element"),
          {.name = "cubic", .type = KeyType::flag, .doc = "by cubics through four elements", .fallback = false}};
}

// Samples: centers aligned, corners aligned, first elements aligned; enlarged, shrunk, of one element.
std::vector<Sample> samples(bool back) {
  const auto sample = [&](Dims x, int64_t axis, int64_t size, int64_t step, int64_t offset, int64_t scale, bool cubic) {
    const auto d = static_cast<size_t>(axis);
    const int64_t input = x[d];
    if (back) x[d] = size;
    return Sample{.shapes = {x},
                  .attrs = {{"axis", axis},
                            {"input", input},
                            {"size", size},
                            {"step", step},
                            {"offset", offset},
                            {"scale", scale},
                            {"cubic", cubic}}};
  };
  return {sample({2, 5, 3}, 1, 10, 10, -5, 20, false), sample({4, 7}, 1, 5, 14, 2, 10, false),
          sample({6, 3}, 0, 11, 5, 0, 10, false),      sample({3, 1}, 1, 4, 0, 0, 3, false),
          sample({2, 4, 17}, 1, 7, 4, 0, 7, false),    sample({2, 5, 3}, 1, 9, 10, -4, 18, true),
          sample({9, 2}, 0, 4, 18, 5, 8, true),        sample({1}, 0, 3, 2, -2, 6, true)};
}

Grads gradient(Builder& b, const Node& n, const Values& dy) { return {b("resize_grad", {dy[0]}, n.attrs)}; }
Grads gradient_back(Builder& b, const Node& n, const Values& dy) { return {b("resize", {dy[0]}, n.attrs)}; }

const RegisterOp resize(
    {.name = "resize",
     .doc = "y[o] = x between its elements, at the place (step o + offset) / scale along the axis: linear, or cubic "
            "with a = -3/4 (Keys 1981). Beyond the ends the last element is repeated",
     .operands = {"x"},
     .attrs = attributes(),
     .dtypes = kFloating,
     .kind = Reduction{monoids::kSum,
                       "x * hd::resize_weight<T>(k, input, step, offset, scale, cubic)",
                       {"acc"},
                       resize_domain},
     .infer = [](const Signature& s) { return infer_with(s, false); },
     .eval = [](const Signature& s, std::span<const Tensor* const> in) { return eval_with(s, *in[0], false); },
     .grad = gradient,
     .flops = 4,
     .samples = samples(false)});

const RegisterOp resize_grad(
    {.name = "resize_grad",
     .doc = "gradient of resize: each dy is added to the elements around its place, times their weights",
     .operands = {"dy"},
     .results = {"dx"},
     .attrs = attributes(),
     .dtypes = kFloating,
     .kind = Reduction{monoids::kSum,
                       "hd::weighed(T(dy), hd::resize_weight<T>(k, input, step, offset, scale, cubic))",
                       {"acc"},
                       resize_grad_domain},
     .infer = [](const Signature& s) { return infer_with(s, true); },
     .eval = [](const Signature& s, std::span<const Tensor* const> in) { return eval_with(s, *in[0], true); },
     .grad = gradient_back,
     .flops = 4,
     .samples = samples(true)});

const StatesMixedPrecision few_terms({"resize"}, MixedRule::follows);

}  // namespace
}  // namespace heddle::ir
