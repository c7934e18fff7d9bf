#include "passes/select/cudnn.h"

#include <fmt/format.h>

#include "ir/op_def.h"
#include "ir/ops/precision.h"

namespace heddle::passes {
namespace {

using namespace ir;

bool is_relu(const OpDef& op) { return op.traits.at_least == 0.0; }

std::string refusal(const Graph& g, const Node& n, const Target& target) {
  if (!n.op->traits.convolution) return "used for convolutions only";
  if (!target.gpu) return "runs on a GPU only, not on " + target.name;
  const DType dtype = g[n.operands[0]].type.dtype;
  if (dtype != DType::f32 && dtype != DType::bf16 && dtype != DType::f16)
    return "used for f32, bf16 and f16 only, not " + to_string(dtype);
  return {};
}

// relu only behind a bias: the device tests with a nan in the bias whether an engine's relu keeps nan
// (runtime/cuda/cudnn.h).
std::vector<EpilogueStep> epilogue(const Graph& /*g*/, const Node& n) {
  if (n.op->traits.convolution->result != ConvolutionRoles::kMade) return {};
  return {Bias{}, Activation{.takes = is_relu, .behind_bias = true}};
}

// Its tensor cores read f32 operands as tf32, which is more precise than every reduced precision that a product may
// permit.
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
