#include "frontend/instantiate/model_outputs.h"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "frontend/instantiate/mixed.h"
#include "frontend/keys/fields.h"

namespace heddle::frontend {

using ir::ValueId;

namespace {

// Each output is computed, and is another value than those before it.
void require_output(const Instance& e, const OutputDef& output, ValueId v, std::map<ValueId, std::string>& taken) {
  if (e.graph.def(v) == nullptr) {
    const ir::Value& value = e.graph[v];
    const std::string which = value.role == ir::Role::input ? fmt::format("is the input '{}' itself", value.name)
                                                            : fmt::format("is the parameter '{}' itself", value.name);
    throw UserError(output.value.where, fmt::format("output '{}' {}: expected something computed", output.name, which),
                    "for example {\"op\": \"mul\", \"in\": [NAME, 1]}");
  }
  if (const auto [first, is_new] = taken.emplace(v, output.name); !is_new) {
    throw UserError(output.value.where,
                    fmt::format("output '{}': {} is the same value as output '{}'", output.name,
                                quote(output.value.name), first->second),
                    "leave one of them out");
  }
  const ValueId other = e.graph.find(output.name);
  if (other.valid() && other != v && e.graph[other].role == ir::Role::param)
    throw UserError(output.value.where, fmt::format("output '{}' has the name of a parameter", output.name),
                    "give the output another name");
}

// The values of `outputs`, each as `require_output` says.
std::vector<std::pair<ValueId, const OutputDef*>> outputs_of(const Instance& e, const Model& model) {
  std::map<ValueId, std::string> taken;  // and by which output
  std::vector<std::pair<ValueId, const OutputDef*>> outputs;
  for (const OutputDef& output : model.outputs) {
    const ValueId v = e.find(output.value);
    if (!v.valid()) continue;
    require_output(e, output, v, taken);
    outputs.emplace_back(v, &output);
  }
  return outputs;
}

}  // namespace

void require_outputs(const Instance& e, const Model& model) { outputs_of(e, model); }

void add_outputs(Instance& e, const Model& model) {
  for (const auto& [computed, output] : outputs_of(e, model)) {
    const ValueId v = fixed_in_f32(e, model, computed);
    if (v != computed && e.graph.find(output->name) == computed) e.graph.rename(computed, output->name + ".computed");
    const ValueId other = e.graph.find(output->name);
    if (other.valid() && other != v) e.graph.rename(other, output->name + kNameTaken);
    if (other != v) e.graph.rename(v, output->name);
    e.graph.outputs.push_back(v);
  }
}

}  // namespace heddle::frontend
