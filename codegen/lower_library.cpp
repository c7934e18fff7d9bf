#include "codegen/lower.h"
#include "ir/check.h"
#include "ir/op_def.h"
#include "ir/visit.h"

namespace heddle::codegen {
namespace {

using namespace ir;

TensorDesc tensor(const Type& type) { return {to_string(type.dtype), type.dims}; }

// All attributes, with defaults, as lists of integers. If a library is to take a composite with other attributes,
// Library needs a member for them.
std::map<std::string, std::vector<int64_t>> integer_attrs(const Node& n) {
  std::map<std::string, std::vector<int64_t>> result;
  for (const Key& def : n.op->attrs) {
    if (def.name == "precision") continue;  // the schedule has the precision that is used
    const Attr& value = attribute(*n.op, n.attrs, def.name);
    if (const auto* flag = std::get_if<bool>(&value)) result[def.name] = {*flag ? 1 : 0};
    if (const auto* integer = std::get_if<int64_t>(&value)) result[def.name] = {*integer};
    if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) result[def.name] = *list;
    HEDDLE_CHECK(result.contains(def.name), n.op->name + ": a library call cannot hold the attribute " + def.name);
  }
  return result;
}

}  // namespace

Library describe_library(const Graph& kernel) {
  HEDDLE_CHECK(ir::calls_library(kernel), "@" + kernel.name + " is no library call");
  const auto& schedule = std::get<schedules::LibraryCall>(kernel.schedule->how);
  Library call;
  call.impl = schedule.impl;
  call.title = kernel.name;
  call.batch_split = schedule.batch_split;
  call.precision = to_string(schedule.precision);
  call.workspace.bytes = kernel.schedule->workspace;
  for (NodeId id : kernel.order) {
    const Node& n = kernel[id];
    visit_kind(
        *n.op,
        [&](const OneOf<Contraction, Composite> auto&) {
          call.op = n.op->name;
          call.matrix_product = n.op->traits.matrix_product;
          if (const auto& roles = n.op->traits.convolution)
            call.convolution = ConvolutionRoles{roles->image, roles->filter, roles->result};
          call.integers = integer_attrs(n);
        },
        [](const Movement&) {},  // the vector of the next step
        [&](const Elementwise&) {
          if (call.op.empty()) return;  // a cast of 8 bits, which the operands' types say
          const std::optional<Arithmetic> arithmetic = n.op->traits.arithmetic;
          if (arithmetic == Arithmetic::product) call.epilogue.push_back({.op = "scale", .scale = true});
          if (arithmetic == Arithmetic::sum) call.epilogue.push_back({.op = "bias", .bias = true});
          if (n.operands.size() == 1) call.epilogue.push_back({.op = n.op->name, .at_least = n.op->traits.at_least});
        },
        [&](const OneOf<Source, Lookup, Reduction, Primitive, Gradient, Call, Scan> auto&) {
          HEDDLE_CHECK(false, n.op->name + " is in no library call");
        });
  }
  for (ValueId v : kernel.inputs) call.operands.push_back(tensor(kernel[v].type));
  for (ValueId v : kernel.outputs) call.results.push_back(tensor(kernel[v].type));
  return call;
}

}  // namespace heddle::codegen
