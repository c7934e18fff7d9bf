#include "ir/ops/reduce.h"

#include <algorithm>
#include <limits>

#include "ir/evaluate/arithmetic.h"
#include "ir/evaluate/sums.h"
#include "ir/ops/loops.h"

namespace heddle::ir {
namespace {

// How far a step along each axis of the operand moves in the result: 0 along the reduced ones.
Dims result_steps(const Dims& dims, const Dims& axes) {
  Dims steps(dims.size(), 0);
  int64_t step = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) != axes.end()) continue;
    steps[d] = step;
    step *= dims[d];
  }
  return steps;
}

}  // namespace

Key axes_attribute() {
  return {.name = "axes",
          .type = KeyType::integer,
          .count = Count::several,
          .doc = "axes to remove; none: all of them",
          .fallback = Dims{}};
}

int64_t reduced_count(const Dims& dims, const Dims& axes) {
  int64_t count = 1;
  for (const int64_t axis : axes) count *= dims[static_cast<size_t>(axis)];
  return count;
}

Dims without_axes(const Dims& dims, const Dims& axes) {
  Dims kept;
  for (size_t d = 0; d < dims.size(); ++d)
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) == axes.end()) kept.push_back(dims[d]);
  return kept;
}

std::vector<Type> infer_reduced(const Signature& s) {
  const Type& x = s.operands[0];
  return {{x.dtype, without_axes(x.dims, normal_axes(s.integers("axes"), x.rank()))}};
}

ReductionDomain axes_domain(const Dims& dims, const Dims& axes) {
  ReductionDomain domain;
  for (const int64_t axis : axes) domain.extents.push_back(dims[static_cast<size_t>(axis)]);
  IndexMap map;
  map.extents = without_axes(dims, axes);
  int kept = 0;
  int reduced = static_cast<int>(map.extents.size());
  map.extents.insert(map.extents.end(), domain.extents.begin(), domain.extents.end());
  for (size_t d = 0; d < dims.size(); ++d) {
    const bool gone = std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) != axes.end();
    map.results.push_back(IndexExpr::dim(gone ? reduced++ : kept++));
  }
  domain.maps.push_back(std::move(map));
  return domain;
}

ReductionDomain reduced_domain(const Signature& s) {
  return axes_domain(s.operands[0].dims, normal_axes(s.integers("axes"), s.operands[0].rank()));
}

Eval eval_reduced(Fold<double> real, Fold<int64_t> integer) {
  return [=](const Signature& s, std::span<const Tensor* const> in) -> std::vector<Tensor> {
    const Tensor& x = *in[0];
    const DType dtype = x.type.dtype;
    Tensor y(s.results[0]);
    std::fill(y.real.begin(), y.real.end(), real.start(dtype));
    std::fill(y.integer.begin(), y.integer.end(), integer.start(dtype));
    const Dims steps = result_steps(x.type.dims, normal_axes(s.integers("axes"), x.type.rank()));
    size_t from = 0;
    Sums sums(real.adds ? y.real.size() : 0);
    for_each_point(x.type.dims, [&](const Dims& at) {
      int64_t to = 0;
      for (size_t d = 0; d < at.size(); ++d) to += at[d] * steps[d];
      if (x.floating() && real.adds) {
        sums.add(static_cast<size_t>(to), x.real[from]);
      } else if (x.floating()) {
        double& acc = y.real[static_cast<size_t>(to)];
        acc = real.combine(dtype, acc, x.real[from]);
      } else {
        int64_t& acc = y.integer[static_cast<size_t>(to)];
        acc = wrap_to(dtype, integer.combine(dtype, acc, x.integer[from]));
      }
      ++from;
    });
    if (x.floating() && real.adds) y.real = sums.totals();
    return {y};
  };
}

bool comes_first(const Tensor& x, int64_t i, int64_t j, bool largest) {
  const auto p = static_cast<size_t>(i), q = static_cast<size_t>(j);
  if (!x.floating())
    return largest ? integer_less(x.type.dtype, x.integer[q], x.integer[p])
                   : integer_less(x.type.dtype, x.integer[p], x.integer[q]);
  const double a = x.real[p], b = x.real[q];
  if (b != b) return false;
  return a != a || (largest ? a > b : a < b);
}

ValueId spread(Builder& b, ValueId v, const Dims& dims, const Dims& axes) {
  Dims kept;
  for (int64_t d = 0; d < static_cast<int64_t>(dims.size()); ++d)
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) kept.push_back(d);
  if (kept.size() == dims.size()) return v;
  return b("broadcast", {v}, {{"dims", kept}, {"shape", dims}});
}

ValueId shift_of(Builder& b, ValueId largest) {
  const ValueId size = b("abs", {largest});
  const ValueId infinite = b("eq", {size, b.like(std::numeric_limits<double>::infinity(), size)});
  return b("select", {infinite, b.like(0, largest), largest});
}

std::vector<Sample> reduction_samples() {
  return {{.shapes = {{7, 33}}, .attrs = {{"axes", Dims{1}}}},
          {.shapes = {{33, 7}}, .attrs = {{"axes", Dims{0}}}},
          {.shapes = {{5, 1, 9}}, .attrs = {{"axes", Dims{1}}}},
          {.shapes = {{3, 4, 5}}, .attrs = {{"axes", Dims{0, 2}}}},
          {.shapes = {{3, 5, 4}}, .attrs = {{"axes", Dims{-2}}}},
          {.shapes = {{6, 11}}},
          {.shapes = {{1}}},
          {.shapes = {{2, 513}}, .attrs = {{"axes", Dims{1}}}}};
}

}  // namespace heddle::ir
