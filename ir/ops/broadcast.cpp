#include <fmt/format.h>

#include <algorithm>

#include "ir/builder.h"
#include "ir/ops/shape.h"
#include "ir/ops/strided.h"

namespace heddle::ir {
namespace {

std::vector<Type> infer(const Signature& s) {
  const Type& x = s.operands[0];
  const Dims &shape = s.integers("shape"), &dims = s.integers("dims");
  require_length("dims", dims, x.rank());
  const Type result = checked_type(x.dtype, shape);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0 || dims[i] >= result.rank() || (i > 0 && dims[i] <= dims[i - 1]))
      throw InferError(fmt::format("dims {} are not increasing dimensions of {}", to_string(dims), to_string(shape)));
    const int64_t from = x.dims[i], to = shape[static_cast<size_t>(dims[i])];
    if (from != to && from != 1)
      throw InferError(fmt::format("operand dimension {} of size {} cannot become size {}", i, from, to));
  }
  return {result};
}

std::vector<IndexMap> maps(const Signature& s) {
  const Dims &shape = s.integers("shape"), &dims = s.integers("dims"), &from = s.operands[0].dims;
  IndexMap map{.extents = shape, .results = {}, .guards = {}};
  for (size_t i = 0; i < dims.size(); ++i)
    map.results.push_back(from[i] == 1 ? IndexExpr(0) : IndexExpr::dim(static_cast<int>(dims[i])));
  return {map};
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> operands) {
  const Type& from = operands[0]->type;
  Tensor y(s.results[0]);
  const Dims operand_strides = row_major_strides(from.dims), &dims = s.integers("dims");
  Dims strides(y.type.dims.size(), 0);
  for (size_t i = 0; i < dims.size(); ++i)
    if (from.dims[i] != 1) strides[static_cast<size_t>(dims[i])] = operand_strides[i];
  copy_strided(y, {0, row_major_strides(y.type.dims)}, *operands[0], {0, strides}, y.type.dims);
  return {std::move(y)};
}

// Sums over the dimensions that are new or were of size 1.
Grads gradient(Builder& b, const Node& n, const Values& dy) {
  const Dims from = b.type(n.operands[0]).dims, to = b.type(dy[0]).dims;
  const auto dims = std::get<Dims>(attribute(*n.op, n.attrs, "dims"));
  Dims axes;
  for (int64_t d = 0; d < static_cast<int64_t>(to.size()); ++d) {
    const auto it = std::find(dims.begin(), dims.end(), d);
    const bool kept = it != dims.end() && from[static_cast<size_t>(it - dims.begin())] == to[static_cast<size_t>(d)];
    if (!kept) axes.push_back(d);
  }
  const ValueId sum = axes.empty() ? dy[0] : b("reduce_sum", {dy[0]}, {{"axes", axes}});
  return {b.reshape(sum, from)};
}

Sample sample(const Dims& from, const Dims& shape, const Dims& dims) {
  return {.shapes = {from}, .attrs = {{"shape", shape}, {"dims", dims}}};
}

const RegisterOp op(
    {.name = "broadcast",
     .doc = "operand dimension i becomes result dimension dims[i], repeated where its size is 1; x repeats along the "
            "others",
     .operands = {"x"},
     .attrs = {{.name = "shape",
                .type = KeyType::integer,
                .count = Count::several,
                .doc = "the result's shape",
                .required = true},
               {.name = "dims",
                .type = KeyType::integer,
                .count = Count::several,
                .doc = "increasing result dimensions",
                .fallback = Dims{}}},
     .kind = Movement{maps},
     .traits = {.spread = [](const Node& n) { return integers_of(n, "dims"); }},
     .infer = infer,
     .eval = eval,
     .grad = gradient,
     .flops = 0,
     .samples = {sample({33}, {4, 33}, {1}), sample({4}, {4, 33}, {0}), sample({}, {3, 5}, {}),
                 sample({1, 5}, {3, 5}, {0, 1}), sample({3, 5}, {2, 3, 1, 5}, {1, 3}), sample({1}, {7}, {0}),
                 sample({4, 3}, {4, 3}, {0, 1})}});

}  // namespace
}  // namespace heddle::ir
