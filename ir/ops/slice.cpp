#include <fmt/format.h>

#include "ir/builder.h"
#include "ir/ops/shape.h"
#include "ir/ops/strided.h"

namespace heddle::ir {
namespace {

// An empty list means 1 in every dimension.
Dims steps(const Dims& strides, size_t rank) { return strides.empty() ? Dims(rank, 1) : strides; }

std::vector<Type> infer(const Signature& s) {
  const Type& x = s.operands[0];
  const Dims &starts = s.integers("starts"), &limits = s.integers("limits");
  require_length("starts", starts, x.rank());
  require_length("limits", limits, x.rank());
  const Dims strides = steps(s.integers("strides"), x.dims.size());
  require_length("strides", strides, x.rank());
  Dims dims;
  for (size_t d = 0; d < x.dims.size(); ++d) {
    if (starts[d] < 0 || limits[d] <= starts[d] || limits[d] > x.dims[d])
      throw InferError(
          fmt::format("[{}, {}) is not a range within dimension {} of size {}", starts[d], limits[d], d, x.dims[d]));
    if (strides[d] < 1) throw InferError(fmt::format("stride {} is below 1", strides[d]));
    dims.push_back((limits[d] - starts[d] - 1) / strides[d] + 1);
  }
  return {{x.dtype, dims}};
}

Slice slice_of(const Node& n) {
  const Dims& starts = integers_of(n, "starts");
  return {starts, integers_of(n, "limits"), steps(integers_of(n, "strides"), starts.size())};
}

std::vector<IndexMap> maps(const Signature& s) {
  const Dims& starts = s.integers("starts");
  const Dims strides = steps(s.integers("strides"), starts.size());
  IndexMap map{.extents = infer(s)[0].dims, .results = {}, .guards = {}};
  for (size_t d = 0; d < starts.size(); ++d) {
    const IndexExpr along = map.extents[d] == 1 ? IndexExpr(0) : IndexExpr::dim(static_cast<int>(d)) * strides[d];
    map.results.push_back(along + IndexExpr(starts[d]));
  }
  return {map};
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> operands) {
  Tensor y(s.results[0]);
  const Dims &starts = s.integers("starts"), from = row_major_strides(operands[0]->type.dims);
  Strided read{0, steps(s.integers("strides"), starts.size())};
  for (size_t d = 0; d < starts.size(); ++d) {
    read.offset += starts[d] * from[d];
    read.strides[d] = s.results[0].dims[d] == 1 ? 0 : read.strides[d] * from[d];  // a stride of no step may be huge
  }
  copy_strided(y, {0, row_major_strides(y.type.dims)}, *operands[0], read, y.type.dims);
  return {std::move(y)};
}

// Puts dy back where it was cut out, zeros around it and between its elements.
Grads gradient(Builder& b, const Node& n, const Values& dy) {
  const Dims from = b.type(n.operands[0]).dims, to = b.type(dy[0]).dims;
  const auto low = std::get<Dims>(attribute(*n.op, n.attrs, "starts"));
  Dims interior = steps(std::get<Dims>(attribute(*n.op, n.attrs, "strides")), from.size()), high;
  bool dense = true;
  for (size_t d = 0; d < from.size(); ++d) {
    high.push_back(from[d] - (low[d] + (to[d] - 1) * interior[d] + 1));
    interior[d] = to[d] == 1 ? 0 : interior[d] - 1;
    dense = dense && interior[d] == 0;
  }
  Attrs attrs{{"low", low}, {"high", high}};
  if (!dense) attrs["interior"] = interior;
  return {b("pad", {dy[0]}, attrs)};
}

Sample sample(const Dims& from, const Dims& starts, const Dims& limits, const Dims& strides = {}) {
  return {.shapes = {from}, .attrs = {{"starts", starts}, {"limits", limits}, {"strides", strides}}};
}

const RegisterOp op({.name = "slice",
                     .doc = "elements starts[d], starts[d] + strides[d], ... below limits[d] of each dimension",
                     .operands = {"x"},
                     .attrs = {{.name = "starts",
                                .type = KeyType::integer,
                                .count = Count::several,
                                .doc = "first index of each dimension",
                                .required = true},
                               {.name = "limits",
                                .type = KeyType::integer,
                                .count = Count::several,
                                .doc = "one past the last index",
                                .required = true},
                               {.name = "strides",
                                .type = KeyType::integer,
                                .count = Count::several,
                                .doc = "steps; empty: all 1",
                                .fallback = Dims{}}},
                     .kind = Movement{maps},
                     .traits = {.slice = slice_of, .lists_by_axis = true},
                     .infer = infer,
                     .eval = eval,
                     .grad = gradient,
                     .flops = 0,
                     .samples = {sample({4, 33}, {1, 2}, {3, 33}), sample({9}, {0}, {9}, {2}),
                                 sample({9}, {1}, {9}, {3}), sample({3, 1, 5}, {0, 0, 1}, {3, 1, 4}),
                                 sample({1}, {0}, {1}), sample({}, {}, {}), sample({8, 7}, {1, 0}, {8, 6}, {3, 2})}});

}  // namespace
}  // namespace heddle::ir
