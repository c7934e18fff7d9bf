#include <fmt/format.h>

#include <cmath>

#include "ir/builder.h"
#include "ir/ops/loops.h"

namespace heddle::ir {
namespace {

int64_t axis_of(const Signature& s) { return normal_axis(s.integer("axis"), s.operands[0].rank()); }

std::vector<Type> infer(const Signature& s) {
  const Type &x = s.operands[0], &indices = s.operands[1];
  if (x.rank() == 0) throw InferError("expected at least one axis to find elements along, got a scalar");
  if (!is_integer(indices.dtype)) throw InferError(fmt::format("expected integer indices, got {}", to_string(indices)));
  const auto axis = static_cast<std::ptrdiff_t>(axis_of(s));
  Dims dims(x.dims.begin(), x.dims.begin() + axis);
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), x.dims.begin() + axis + 1, x.dims.end());
  return {{x.dtype, dims}};
}

// (result coordinates, the index) -> the operand's: the index stands in the place of its own coordinates.
LookupDomain domain(const Signature& s) {
  const Dims &x = s.operands[0].dims, &indices = s.operands[1].dims;
  const auto axis = static_cast<size_t>(axis_of(s));
  const Dims result = infer(s)[0].dims;
  const auto coordinate = [&](size_t d) { return result[d] == 1 ? IndexExpr(0) : IndexExpr::dim(static_cast<int>(d)); };
  IndexMap index{.extents = result, .results = {}, .guards = {}};
  for (size_t d = 0; d < indices.size(); ++d) index.results.push_back(coordinate(axis + d));
  IndexMap map{.extents = result, .results = {}, .guards = {}};
  map.extents.push_back(x[axis]);
  for (size_t d = 0; d < x.size(); ++d)
    map.results.push_back(d < axis    ? coordinate(d)
                          : d == axis ? IndexExpr::dim(static_cast<int>(result.size()))
                                      : coordinate(d + indices.size() - 1));
  return {.extents = {x[axis]}, .indices = {index}, .map = map};
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> in) {
  const Tensor &x = *in[0], &indices = *in[1];
  const auto axis = static_cast<size_t>(axis_of(s));
  const size_t places = indices.type.dims.size();
  Tensor y(s.results[0]);
  int64_t to = 0;
  for_each_point(y.type.dims, [&](const Dims& at) {
    const auto first = at.begin() + static_cast<std::ptrdiff_t>(axis);
    const Dims place(first, first + static_cast<std::ptrdiff_t>(places));
    const int64_t index = indices.integer[static_cast<size_t>(position(indices.type.dims, place))];
    Dims from(at.begin(), first);
    from.push_back(index);
    from.insert(from.end(), first + static_cast<std::ptrdiff_t>(places), at.end());
    if (index >= 0 && index < x.type.dims[axis])
      y.copy(to, x, position(x.type.dims, from));
    else
      y.set(to, y.floating() ? std::nan("") : 0);
    ++to;
  });
  return {std::move(y)};
}

// Rows of the axis are added up where they came from.
Grads gradient(Builder& b, const Node& n, const Values& dy) {
  const Dims x = b.type(n.operands[0]).dims, indices = b.type(n.operands[1]).dims, y = b.type(dy[0]).dims;
  const auto axis = static_cast<size_t>(
      normal_axis(std::get<int64_t>(attribute(*n.op, n.attrs, "axis")), static_cast<int64_t>(x.size())));
  Dims perm, rows{x[axis]}, back;
  for (size_t d = 0; d < indices.size(); ++d) perm.push_back(static_cast<int64_t>(axis + d));
  for (size_t d = 0; d < y.size(); ++d)
    if (d < axis || d >= axis + indices.size()) perm.push_back(static_cast<int64_t>(d));
  for (size_t d = 0; d < x.size(); ++d)
    if (d != axis) rows.push_back(x[d]);
  for (size_t d = 0; d < x.size(); ++d) back.push_back(static_cast<int64_t>(d < axis ? d + 1 : d == axis ? 0 : d));
  Dims updates = rows;
  updates[0] = product(indices);
  const ValueId first = axis == 0 ? dy[0] : b("transpose", {dy[0]}, {{"perm", perm}});
  const ValueId sum = b("scatter", {b.constant(0, {b.type(dy[0]).dtype, rows}), b.reshape(n.operands[1], {updates[0]}),
                                    b.reshape(first, updates)});
  return {axis == 0 ? sum : b("transpose", {sum}, {{"perm", back}}), {}};
}

Sample sample(const Dims& x, const Dims& indices, int64_t axis, int64_t beyond = 1) {
  return {.shapes = {x, indices},
          .attrs = {{"axis", axis}},
          .below = x[static_cast<size_t>(axis)] + beyond,
          .dtypes = {DType::f32, DType::i32}};
}

const RegisterOp op({.name = "gather",
                     .doc = "the elements of x at indices along an axis: y[.., i.., ..] = x[.., indices[i..], ..]; "
                            "NaN, or 0 of a type that "
                            "has none, where an index is outside",
                     .operands = {"x", "indices"},
                     .attrs = {{.name = "axis",
                                .type = KeyType::integer,
                                .doc = "the axis of x that the indices' axes replace",
                                .fallback = int64_t{0}}},
                     .kind = Lookup{domain},
                     .traits = {.rows_along =
                                    [](const Node& n) { return std::get<int64_t>(attribute(*n.op, n.attrs, "axis")); }},
                     .infer = infer,
                     .eval = eval,
                     .grad = gradient,
                     .places = [](const Signature& s) { return domain(s).extents; },
                     .flops = 0,
                     .samples = {sample({9, 33}, {7}, 0, 0), sample({5}, {3, 4}, 0, 0), sample({4, 6, 3}, {5}, 1, 0),
                                 sample({3, 8}, {2, 2}, 1, 0), sample({1, 1}, {1}, 0, 0), sample({4, 5}, {}, 1, 0),
                                 sample({6, 2}, {9}, 0)}});

}  // namespace
}  // namespace heddle::ir
