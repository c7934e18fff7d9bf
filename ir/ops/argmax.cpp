#include <fmt/format.h>

#include <cstdint>

#include "ir/mixed_precision.h"
#include "ir/ops/loops.h"
#include "ir/ops/reduce.h"

namespace heddle::ir {
namespace {

std::vector<Type> infer_index(const Signature& s) {
  const Type& x = s.operands[0];
  const int64_t axis = normal_axis(s.integer("axis"), x.rank());
  if (x.dims[static_cast<size_t>(axis)] > INT32_MAX)
    throw InferError(fmt::format("{} elements along the axis, expected fewer than 2^31: their index is an i32",
                                 x.dims[static_cast<size_t>(axis)]));
  return {{DType::i32, without_axes(x.dims, {axis})}};
}

ReductionDomain index_domain(const Signature& s) {
  return axes_domain(s.operands[0].dims, {normal_axis(s.integer("axis"), s.operands[0].rank())});
}

Eval eval_index(bool largest) {
  return [largest](const Signature& s, std::span<const Tensor* const> in) -> std::vector<Tensor> {
    const Tensor& x = *in[0];
    const auto axis = static_cast<size_t>(normal_axis(s.integer("axis"), x.type.rank()));
    Tensor y(s.results[0]);
    for_each_point(y.type.dims, [&](const Dims& at) {
      Dims point = at;
      point.insert(point.begin() + static_cast<std::ptrdiff_t>(axis), 0);
      const int64_t first = position(x.type.dims, point);
      int64_t best = first;
      for (int64_t i = 0; i < x.type.dims[axis]; ++i) {
        point[axis] = i;
        const int64_t here = position(x.type.dims, point);
        if (!comes_first(x, here, best, largest)) continue;
        best = here;
        y.integer[static_cast<size_t>(position(y.type.dims, at))] = i;
      }
    });
    return {y};
  };
}

std::vector<Sample> samples() {
  return {{.shapes = {{7, 33}}, .attrs = {{"axis", int64_t{1}}}},
          {.shapes = {{33, 7}}, .attrs = {{"axis", int64_t{0}}}},
          {.shapes = {{5, 1, 9}}, .attrs = {{"axis", int64_t{1}}}},
          {.shapes = {{3, 4, 5}}, .attrs = {{"axis", int64_t{-2}}}},
          {.shapes = {{1}}, .attrs = {{"axis", int64_t{0}}}},
          {.shapes = {{2, 513}}, .attrs = {{"axis", int64_t{-1}}}}};
}

OpDef index_of(const std::string& name, const std::string& which, const Monoid& monoid, bool largest) {
  return {.name = name,
          .doc = "y = the index along axis of the " + which + " element, the first of equals",
          .operands = {"x"},
          .attrs = {{.name = "axis", .type = KeyType::integer, .doc = "the axis that is removed", .required = true}},
          .dtypes = kArithmetic,
          .kind = Reduction{monoid, "x", {"acc.index"}, index_domain},
          .infer = infer_index,
          .eval = eval_index(largest),
          .no_gradient = "an index is piecewise constant",
          .below = [](const Signature& s) { return index_domain(s).extents[0]; },
          .samples = samples()};
}

const RegisterOp argmax(index_of("argmax", "largest", monoids::kArgMax, true));
const RegisterOp argmin(index_of("argmin", "smallest", monoids::kArgMin, false));

const StatesMixedPrecision picks({"argmax", "argmin"}, MixedRule::follows);

}  // namespace
}  // namespace heddle::ir
