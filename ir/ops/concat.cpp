#include <fmt/format.h>

#include "ir/builder.h"
#include "ir/ops/shape.h"
#include "ir/ops/strided.h"

namespace heddle::ir {
namespace {

size_t axis_of(const Signature& s) { return static_cast<size_t>(normal_axis(s.integer("axis"), s.operands[0].rank())); }

std::vector<Type> infer(const Signature& s) {
  const Type& first = s.operands[0];
  if (first.rank() == 0) throw InferError("scalars cannot be joined: reshape them to [1]");
  const size_t axis = axis_of(s);
  Type result = first;
  for (size_t i = 1; i < s.operands.size(); ++i) {
    Type other = s.operands[i];
    const bool same_rank = other.rank() == first.rank();
    const int64_t length = same_rank ? other.dims[axis] : 0;
    if (same_rank) other.dims[axis] = first.dims[axis];
    if (other != first)
      throw InferError(fmt::format("operand {} is {}, which does not join {} along axis {}", i,
                                   to_string(s.operands[i]), to_string(first), axis));
    result.dims[axis] += length;
  }
  return {checked_type(result.dtype, result.dims)};
}

std::vector<IndexMap> maps(const Signature& s) {
  const size_t axis = axis_of(s);
  const Dims extents = infer(s)[0].dims;
  std::vector<IndexMap> maps;
  int64_t offset = 0;
  for (const Type& x : s.operands) {
    IndexMap map{.extents = extents, .results = {}, .guards = {}};
    for (size_t d = 0; d < extents.size(); ++d) {
      const IndexExpr at = IndexExpr::dim(static_cast<int>(d)) - IndexExpr(d == axis ? offset : 0);
      if (d == axis) map.add_guard(at, 0, x.dims[axis]);
      map.results.push_back(x.dims[d] == 1 ? IndexExpr(0) : at);
    }
    maps.push_back(map);
    offset += x.dims[axis];
  }
  return maps;
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> operands) {
  const size_t axis = axis_of(s);
  Tensor y(s.results[0]);
  const Dims strides = row_major_strides(y.type.dims);
  int64_t offset = 0;
  for (const Tensor* x : operands) {
    copy_strided(y, {offset * strides[axis], strides}, *x, {0, row_major_strides(x->type.dims)}, x->type.dims);
    offset += x->type.dims[axis];
  }
  return {std::move(y)};
}

Grads gradient(Builder& b, const Node& n, const Values& dy) {
  const int64_t rank = b.type(dy[0]).rank();
  const auto axis = static_cast<size_t>(normal_axis(std::get<int64_t>(attribute(*n.op, n.attrs, "axis")), rank));
  Dims starts(static_cast<size_t>(rank), 0), limits = b.type(dy[0]).dims;
  Grads grads;
  for (const ValueId x : n.operands) {
    limits[axis] = starts[axis] + b.type(x).dims[axis];
    grads.push_back(b("slice", {dy[0]}, {{"starts", starts}, {"limits", limits}}));
    starts[axis] = limits[axis];
  }
  return grads;
}

Sample sample(const std::vector<Dims>& shapes, int64_t axis) { return {.shapes = shapes, .attrs = {{"axis", axis}}}; }

const RegisterOp op(
    {.name = "concat",
     .doc = "the operands one after the other along the axis",
     .operands = {"x"},
     .variadic = true,
     .attrs = {{.name = "axis", .type = KeyType::integer, .doc = "where they are joined", .fallback = int64_t{-1}}},
     .kind = Movement{maps},
     .traits = {.joined_along = [](const Node& n) { return std::get<int64_t>(attribute(*n.op, n.attrs, "axis")); }},
     .infer = infer,
     .eval = eval,
     .grad = gradient,
     .flops = 0,
     .samples = {sample({{4, 33}, {4, 1}}, 1), sample({{3}, {1}, {5}}, 0), sample({{1}}, 0),
                 sample({{3, 1, 5}, {3, 4, 5}}, 1), sample({{2, 7}, {2, 7}, {2, 7}}, 0),
                 sample({{2, 3, 4}, {2, 3, 5}}, -1)}});

}  // namespace
}  // namespace heddle::ir
