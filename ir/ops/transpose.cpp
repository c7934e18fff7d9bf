#include <fmt/format.h>

#include "ir/builder.h"
#include "ir/ops/shape.h"
#include "ir/ops/strided.h"

namespace heddle::ir {
namespace {

std::vector<Type> infer(const Signature& s) {
  const Type& x = s.operands[0];
  const Dims& perm = s.integers("perm");
  require_length("perm", perm, x.rank());
  std::vector<bool> seen(perm.size(), false);
  Dims dims;
  for (const int64_t p : perm) {
    if (p < 0 || p >= x.rank() || seen[static_cast<size_t>(p)])
      throw InferError(fmt::format("perm {} is not a permutation", to_string(perm)));
    seen[static_cast<size_t>(p)] = true;
    dims.push_back(x.dims[static_cast<size_t>(p)]);
  }
  return {{x.dtype, dims}};
}

std::vector<IndexMap> maps(const Signature& s) {
  const Dims& perm = s.integers("perm");
  IndexMap map{.extents = {}, .results = std::vector<IndexExpr>(perm.size()), .guards = {}};
  for (size_t i = 0; i < perm.size(); ++i) {
    const auto p = static_cast<size_t>(perm[i]);
    map.extents.push_back(s.operands[0].dims[p]);
    map.results[p] = map.extents[i] == 1 ? IndexExpr(0) : IndexExpr::dim(static_cast<int>(i));
  }
  return {map};
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> operands) {
  Tensor y(s.results[0]);
  const Dims from = row_major_strides(operands[0]->type.dims);
  Dims strides;
  for (const int64_t p : s.integers("perm")) strides.push_back(from[static_cast<size_t>(p)]);
  copy_strided(y, {0, row_major_strides(y.type.dims)}, *operands[0], {0, strides}, y.type.dims);
  return {std::move(y)};
}

Grads gradient(Builder& b, const Node& n, const Values& dy) {
  const auto perm = std::get<Dims>(attribute(*n.op, n.attrs, "perm"));
  return {b("transpose", {dy[0]}, {{"perm", inverse(perm)}})};
}

Sample sample(const Dims& from, const Dims& perm) { return {.shapes = {from}, .attrs = {{"perm", perm}}}; }

const RegisterOp op({.name = "transpose",
                     .doc = "result dimension i is operand dimension perm[i]",
                     .operands = {"x"},
                     .attrs = {{.name = "perm",
                                .type = KeyType::integer,
                                .count = Count::several,
                                .doc = "a permutation of the dimensions",
                                .required = true}},
                     .kind = Movement{maps},
                     .traits = {.permutation = [](const Node& n) { return integers_of(n, "perm"); }},
                     .infer = infer,
                     .eval = eval,
                     .grad = gradient,
                     .flops = 0,
                     .samples = {sample({4, 33}, {1, 0}), sample({3, 1, 5}, {2, 0, 1}),
                                 sample({2, 7, 3, 5}, {0, 3, 1, 2}), sample({9}, {0}), sample({}, {}),
                                 sample({1, 6}, {1, 0}), sample({35, 40}, {1, 0})}});

}  // namespace
}  // namespace heddle::ir
