#include "passes/select/cudnn.h"

#include <fmt/format.h>

#include "ir/op_def.h"
#include "ir/ops/precision.h"

namespace heddle::passes {
namespace {

using namespace ir;

std::string refusal(const Graph& g, const Node& n, const Target& target) {
  if (!n.op->traits.convolution) return "used for convolutions only";
  if (!target.gpu) return "runs on a GPU only, not on " + target.name;
  const DType dtype = g[n.operands[0]].type.dtype;
  if (dtype != DType::f32 && dtype != DType::bf16 && dtype != DType::f16)
    return "used for f32, bf16 and f16 only, not " + to_string(dtype);
  return {};
}

// A bias and relu stay generated: for f32 without TF32 few of its engines add them, and it does not say that its relu
// keeps nan.
std::vector<EpilogueStep> epilogue(const Node& /*n*/) { return {}; }

// Its tensor cores take operands of f32 as tf32, which is finer than all that may be asked for.
LibraryPlan plan(const Graph& kernel, const Target& /*target*/) {
  const Node& n = head_of(kernel);
  const std::string& precision = std::get<std::string>(attribute(*n.op, n.attrs, "precision"));
  const bool as_they_are = kernel[n.operands[0]].type.dtype != DType::f32 || mixed_type(precision);
  const bool exact = as_they_are || parse_precision(precision) == ProductPrecision::f32;
  return {.precision = exact ? ProductPrecision::f32 : ProductPrecision::tf32};
}

}  // namespace

const Library& cudnn() {
  static const Library kLibrary{
      .name = "cudnn", .refusal = refusal, .epilogue = epilogue, .plan = plan, .asked_for = true};
  return kLibrary;
}

}  // namespace heddle::passes
