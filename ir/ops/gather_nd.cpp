#include <fmt/format.h>

#include <cmath>

#include "ir/builder.h"
#include "ir/ops/coordinates.h"
#include "ir/ops/loops.h"

namespace heddle::ir {
namespace {

std::vector<Type> infer(const Signature& s) {
  const Coordinates c = coordinates(s);
  return {{s.operands[0].dtype, in_a_row(c.points, c.rest)}};
}

// (result coordinates, the indices) -> the operand's: the batch, the indices, the rest.
LookupDomain domain(const Signature& s) {
  const Coordinates c = coordinates(s);
  const Dims result = in_a_row(c.points, c.rest);
  const auto coordinate = [&](size_t d) { return result[d] == 1 ? IndexExpr(0) : IndexExpr::dim(static_cast<int>(d)); };
  IndexMap index{.extents = result, .results = {}, .guards = {}};
  for (size_t d = 0; d < c.points.size(); ++d) index.results.push_back(coordinate(d));
  index.results.emplace_back(0);
  LookupDomain domain{.extents = c.indexed, .indices = {}, .map = {.extents = result, .results = {}, .guards = {}}};
  IndexMap& map = domain.map;
  for (size_t d = 0; d < c.batch; ++d) map.results.push_back(coordinate(d));
  for (size_t i = 0; i < c.indexed.size(); ++i) {
    index.results.back() = static_cast<int64_t>(i);
    domain.indices.push_back(index);
    map.extents.push_back(c.indexed[i]);
    map.results.push_back(IndexExpr::dim(static_cast<int>(result.size() + i)));
  }
  for (size_t d = 0; d < c.rest.size(); ++d) map.results.push_back(coordinate(c.points.size() + d));
  return domain;
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> in) {
  const Coordinates c = coordinates(s);
  const int64_t width = product(c.rest);
  Tensor y(s.results[0]);
  int64_t to = 0;
  for_each_point(c.points, [&](const Dims& point) {
    const int64_t row = row_at(c, *in[1], point);
    for (int64_t i = 0; i < width; ++i, ++to)
      if (row >= 0)
        y.copy(to, *in[0], row * width + i);
      else
        y.set(to, y.floating() ? std::nan("") : 0);
  });
  return {std::move(y)};
}

Grads gradient(Builder& b, const Node& n, const Values& dy) {
  const Type x{b.type(dy[0]).dtype, b.type(n.operands[0]).dims};
  return {b("scatter_nd", {b.constant(0, x), n.operands[1], dy[0]}, n.attrs), {}};
}

Sample sample(const Dims& x, const Dims& indices, int64_t batch, int64_t below) {
  return {.shapes = {x, indices}, .attrs = {{"batch", batch}}, .below = below, .dtypes = {DType::f32, DType::i32}};
}

const RegisterOp op(
    {.name = "gather_nd",
     .doc = "the elements of x at the coordinates that the last axis of indices holds: y[b.., i.., ..] = "
            "x[b.., indices[b.., i.., 0], indices[b.., i.., 1], .., ..]; NaN, or 0 of a type that has none, where a "
            "coordinate is outside",
     .operands = {"x", "indices"},
     .attrs = {batch_attr()},
     .kind = Lookup{domain},
     .infer = infer,
     .eval = eval,
     .grad = gradient,
     .places = indexed_axes,
     .flops = 0,
     .samples = {sample({4, 6, 3}, {5, 2}, 0, 4), sample({9, 33}, {7, 1}, 0, 9), sample({3, 5, 2}, {3, 4, 1}, 1, 5),
                 sample({7}, {2, 3, 1}, 0, 8), sample({1, 1}, {1, 2}, 0, 1), sample({2, 4, 5, 3}, {2, 2}, 1, 4),
                 sample({4, 5}, {2}, 0, 4), sample({3, 8}, {3, 6, 1}, 1, 8)}});

}  // namespace
}  // namespace heddle::ir
