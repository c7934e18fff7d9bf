#include <fmt/format.h>

#include "ir/builder.h"
#include "ir/ops/shape.h"
#include "ir/ops/strided.h"

namespace heddle::ir {
namespace {

// An empty list means 0 in every dimension.
Dims gaps(const Dims& interior, size_t rank) { return interior.empty() ? Dims(rank, 0) : interior; }

std::vector<Type> infer(const Signature& s) {
  constexpr int64_t kMaxPad = int64_t{1} << 40;  // so that no size overflows before checked_type sees it
  const Type& x = s.operands[0];
  const Dims &low = s.integers("low"), &high = s.integers("high");
  const Dims interior = gaps(s.integers("interior"), x.dims.size());
  require_length("low", low, x.rank());
  require_length("high", high, x.rank());
  require_length("interior", interior, x.rank());
  Dims dims;
  for (size_t d = 0; d < x.dims.size(); ++d) {
    for (const int64_t pad : {low[d], high[d], interior[d]}) {
      if (pad < 0) throw InferError(fmt::format("padding {} of dimension {} is negative: use slice", pad, d));
      if (pad > kMaxPad) throw InferError(fmt::format("padding {} of dimension {} is above 2^40", pad, d));
    }
    if (interior[d] > kMaxPad / x.dims[d])
      throw InferError(fmt::format("padding {} between elements is too large", interior[d]));
    dims.push_back(low[d] + x.dims[d] + (x.dims[d] - 1) * interior[d] + high[d]);
  }
  return {checked_type(x.dtype, dims)};
}

Padding padding_of(const Node& n) {
  const Dims& low = integers_of(n, "low");
  return {low, integers_of(n, "high"), gaps(integers_of(n, "interior"), low.size()),
          std::get<double>(attribute(*n.op, n.attrs, "fill"))};
}

std::vector<IndexMap> maps(const Signature& s) {
  const Dims &low = s.integers("low"), &from = s.operands[0].dims;
  const Dims interior = gaps(s.integers("interior"), from.size());
  IndexMap map{.extents = infer(s)[0].dims, .results = {}, .guards = {}};
  for (size_t d = 0; d < from.size(); ++d) {
    const IndexExpr at = IndexExpr::dim(static_cast<int>(d)) - IndexExpr(low[d]);
    const int64_t step = interior[d] + 1;
    map.add_guard(at, 0, (from[d] - 1) * step + 1);
    if (step > 1) map.add_guard(modulo(at, step, map.extents), 0, 1);
    map.results.push_back(from[d] == 1 ? IndexExpr(0) : floor_div(at, step, map.extents));
  }
  return {map};
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> operands) {
  const Tensor& x = *operands[0];
  Tensor y(s.results[0]);
  for (int64_t i = 0; i < y.elements(); ++i) y.set(i, s.real("fill"));
  const Dims &low = s.integers("low"), to = row_major_strides(y.type.dims);
  Strided write{0, gaps(s.integers("interior"), low.size())};
  for (size_t d = 0; d < low.size(); ++d) {
    write.offset += low[d] * to[d];
    write.strides[d] = (write.strides[d] + 1) * to[d];
  }
  copy_strided(y, write, x, {0, row_major_strides(x.type.dims)}, x.type.dims);
  return {std::move(y)};
}

Grads gradient(Builder& b, const Node& n, const Values& dy) {
  const Dims from = b.type(n.operands[0]).dims;
  const auto starts = std::get<Dims>(attribute(*n.op, n.attrs, "low"));
  Dims strides = gaps(std::get<Dims>(attribute(*n.op, n.attrs, "interior")), from.size()), limits;
  bool dense = true;
  for (size_t d = 0; d < from.size(); ++d) {
    strides[d] += 1;
    limits.push_back(starts[d] + (from[d] - 1) * strides[d] + 1);
    dense = dense && strides[d] == 1;
  }
  Attrs attrs{{"starts", starts}, {"limits", limits}};
  if (!dense) attrs["strides"] = strides;
  return {b("slice", {dy[0]}, attrs)};
}

Sample sample(const Dims& from, const Dims& low, const Dims& high, const Dims& interior = {}, double fill = 0) {
  return {.shapes = {from}, .attrs = {{"low", low}, {"high", high}, {"interior", interior}, {"fill", fill}}};
}

const RegisterOp op(
    {.name = "pad",
     .doc = "x with low[d] elements of `fill` before it, high[d] after it and interior[d] between its elements",
     .operands = {"x"},
     .attrs = {{.name = "low",
                .type = KeyType::integer,
                .count = Count::several,
                .doc = "elements before each dimension",
                .required = true},
               {.name = "high",
                .type = KeyType::integer,
                .count = Count::several,
                .doc = "elements after",
                .required = true},
               {.name = "interior",
                .type = KeyType::integer,
                .count = Count::several,
                .doc = "elements between; empty: none",
                .fallback = Dims{}},
               {.name = "fill", .type = KeyType::real, .doc = "the value of the new elements", .fallback = 0.0}},
     .kind = Movement{maps},
     .traits = {.padding = padding_of, .lists_by_axis = true},
     .infer = infer,
     .eval = eval,
     .grad = gradient,
     .flops = 0,
     .samples = {sample({4, 33}, {1, 0}, {0, 2}), sample({5}, {0}, {0}, {2}), sample({5}, {2}, {3}, {1}, 1.5),
                 sample({1}, {3}, {0}), sample({3, 1, 5}, {0, 1, 0}, {0, 1, 2}, {0, 4, 1}), sample({}, {}, {}),
                 sample({2, 7}, {0, 0}, {0, 0})}});

}  // namespace
}  // namespace heddle::ir
