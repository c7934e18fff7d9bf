#include "tools/driver/choose_outputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/diagnostic.h"

namespace heddle::driver {
namespace {

std::vector<std::string> node_names(const frontend::Model& model) {
  std::vector<std::string> names;
  for (const frontend::OutputDef& output : model.outputs) names.push_back(output.name);
  for (const frontend::NodeDef& node : model.nodes) {
    if (!node.name.empty()) names.push_back(node.name);
    for (const frontend::Named& out : node.out) names.push_back(out.text);
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// Where a result of a node has its name.
Location place_of(const frontend::Model& model, const std::string& name) {
  for (const frontend::NodeDef& node : model.nodes) {
    if (node.name == name) return node.name_where;
    for (const frontend::Named& out : node.out)
      if (out.text == name) return out.where;
  }
  return model.train.where;
}

}  // namespace

void choose_outputs(frontend::Model& model, const std::vector<std::string>& names) {
  std::vector<frontend::OutputDef> chosen;
  for (const std::string& name : names) {
    const auto given = std::ranges::find(model.outputs, name, &frontend::OutputDef::name);
    const std::vector<std::string> known = node_names(model);
    if (std::ranges::count(known, name) == 0)
      throw UserError(ExitCode::usage, fmt::format("--output: the model has no output and no node '{}'", name),
                      frontend::suggest(name, known));
    if (std::ranges::count(chosen, name, &frontend::OutputDef::name) > 0)
      throw UserError(ExitCode::usage, fmt::format("--output: '{}' is given twice", name), "once is enough");
    chosen.push_back(
        given != model.outputs.end()
            ? *given
            : frontend::OutputDef{name, {.name = name, .literal = {}, .port = {}, .where = place_of(model, name)}});
  }
  if (!chosen.empty()) model.outputs = std::move(chosen);
  if (!model.outputs.empty()) return;
  if (model.train.losses.empty() || model.train.losses[0].in.empty())
    throw UserError(ExitCode::usage, "the model names no 'outputs', and has no loss that would say what it predicts",
                    "choose a node: --output NODE");
  const frontend::Reference& read = model.train.losses[0].in[0];
  model.outputs = {{read.name, read}};
}

}  // namespace heddle::driver
