#include <algorithm>

#include "ir/builder.h"
#include "ir/ops/shape.h"
#include "ir/ops/strided.h"

namespace heddle::ir {
namespace {

Dims axes_of(const Signature& s) {
  const Dims& axes = s.integers("axes");
  return axes.empty() ? Dims{} : normal_axes(axes, s.operands[0].rank());
}

std::vector<Type> infer(const Signature& s) {
  axes_of(s);
  return {s.operands[0]};
}

std::vector<IndexMap> maps(const Signature& s) {
  IndexMap map = identity_map(s.operands[0].dims);
  for (const int64_t axis : axes_of(s)) {
    IndexExpr& at = map.results[static_cast<size_t>(axis)];
    at = IndexExpr(map.extents[static_cast<size_t>(axis)] - 1) - at;
  }
  return {map};
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> operands) {
  const Tensor& x = *operands[0];
  Tensor y(x.type);
  Strided read{0, row_major_strides(x.type.dims)};
  for (const int64_t axis : axes_of(s)) {
    const auto d = static_cast<size_t>(axis);
    read.offset += (x.type.dims[d] - 1) * read.strides[d];
    read.strides[d] = -read.strides[d];
  }
  copy_strided(y, {0, row_major_strides(x.type.dims)}, x, read, x.type.dims);
  return {std::move(y)};
}

Sample sample(const Dims& from, const Dims& axes) { return {.shapes = {from}, .attrs = {{"axes", axes}}}; }

const RegisterOp op({.name = "reverse",
                     .doc = "the elements in opposite order along each of the axes",
                     .operands = {"x"},
                     .attrs = {{.name = "axes",
                                .type = KeyType::integer,
                                .count = Count::several,
                                .doc = "dimensions to turn round; empty: none",
                                .required = true}},
                     .kind = Movement{maps},
                     .traits = {.reversal = [](const Node& n) { return integers_of(n, "axes"); }},
                     .infer = infer,
                     .eval = eval,
                     .grad = [](Builder& b, const Node& n, const Values& dy) -> Grads {
                       return {b("reverse", {dy[0]}, n.attrs)};
                     },
                     .flops = 0,
                     .samples = {sample({4, 33}, {1}), sample({4, 33}, {0, 1}), sample({1}, {0}),
                                 sample({3, 1, 5}, {2}), sample({9}, {-1})}});

}  // namespace
}  // namespace heddle::ir
