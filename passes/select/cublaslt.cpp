#include "passes/select/cublaslt.h"

#include <fmt/format.h>

#include "ir/op_def.h"
#include "ir/ops/precision.h"

namespace heddle::passes {
namespace {

using namespace ir;

std::string refusal(const Graph& g, const Node& n, const Target& target) {
  if (!n.op->traits.matrix_product) return "used for matrix products only";
  if (!target.gpu) return "runs on a GPU only, not on " + target.name;
  const DType dtype = g[n.operands[0]].type.dtype;
  if (dtype != DType::f32 && dtype != DType::bf16 && dtype != DType::f16)
    return "used for f32, bf16 and f16 only, not " + to_string(dtype);
  return {};
}

// No relu in the epilogue: the library does not specify that its relu keeps nan.
std::vector<EpilogueStep> epilogue(const Graph& /*g*/, const Node& n) {
  if (n.op->traits.matrix_product) return {Bias{}};
  return {};
}

LibraryPlan plan(const Graph& kernel, const Target& /*target*/) {
  const Node& n = head_of(kernel);
  const std::string& precision = std::get<std::string>(attribute(*n.op, n.attrs, "precision"));
  const bool as_they_are = kernel[n.operands[0]].type.dtype != DType::f32 || mixed_type(precision);
  return {.precision = as_they_are ? ProductPrecision::f32 : parse_precision(precision)};
}

}  // namespace

const Library& cublaslt() {
  static const Library kLibrary{
      .name = "cublaslt", .refusal = refusal, .epilogue = epilogue, .plan = plan, .asked_for = true};
  return kLibrary;
}

}  // namespace heddle::passes
