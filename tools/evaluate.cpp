// heddle evaluate: runs every graph of a .hir file on given tensors and writes what it returns. The conformance suites
// run through this.
#include "ir/evaluate.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "ir/parse.h"
#include "ir/verify.h"
#include "runtime/safetensors.h"
#include "tools/commands.h"
#include "tools/read_file.h"
#include "tools/tensor_bytes.h"

namespace heddle::tools {
namespace {

struct EvaluateArguments {
  std::string file, inputs, outputs;
  bool exact = false;
};

// Tensors are named graph/value.
ir::NamedTensors inputs_of(const ir::Graph& g, const runtime::WeightsFile& file) {
  ir::NamedTensors inputs;
  for (const ir::ValueId v : g.inputs) {
    const ir::Value& value = g[v];
    const std::string name = g.name + "/" + value.name;
    const runtime::SavedTensor* saved = file.find(name);
    if (saved == nullptr)
      throw UserError(ExitCode::failed, fmt::format("{}: no tensor is called '{}'", file.name, name));
    if (saved->dtype != ir::to_string(value.type.dtype) || saved->dims != value.type.dims)
      throw UserError(ExitCode::failed, fmt::format("{}: '{}' is {}{}, not {}", file.name, name, saved->dtype,
                                                    ir::to_string(saved->dims), ir::to_string(value.type)));
    inputs[value.name] = from_bytes(value.type, file.bytes(*saved));
  }
  return inputs;
}

void append(runtime::WeightsFile& file, const std::string& name, const ir::Tensor& tensor) {
  const std::vector<std::byte> bytes = to_bytes(tensor);
  const auto begin = static_cast<int64_t>(file.data.size());
  file.tensors.push_back({.name = name,
                          .dtype = ir::to_string(tensor.type.dtype),
                          .dims = tensor.type.dims,
                          .begin = begin,
                          .end = begin + static_cast<int64_t>(bytes.size())});
  file.data.insert(file.data.end(), bytes.begin(), bytes.end());
}

ir::Module read_module(const SourceFile& file) {
  ir::Module m = ir::parse(file);
  std::string text;
  for (const std::string& problem : ir::verify(m)) text += "\n  " + problem;
  if (!text.empty()) throw UserError(ExitCode::failed, file.name + " is not well formed:" + text);
  return m;
}

void evaluate(const EvaluateArguments& a) {
  const SourceFile file = read_file(a.file);
  const ir::Module m = read_module(file);
  const runtime::WeightsFile inputs = runtime::read_safetensors(a.inputs);
  runtime::WeightsFile outputs;
  ir::EvaluateOptions options;
  options.precision = a.exact ? ir::Precision::exact : ir::Precision::rounded;
  for (const ir::Graph& g : m.graphs) {
    const ir::Evaluation result = ir::evaluate(m, g, inputs_of(g, inputs), options);
    for (size_t i = 0; i < result.outputs.size(); ++i)
      append(outputs, fmt::format("{}/{}", g.name, i), result.outputs[i]);
    for (const auto& [name, tensor] : result.updated) append(outputs, g.name + "/" + name, tensor);
  }
  runtime::write_safetensors(a.outputs, outputs);
}

}  // namespace

void add_evaluate(CLI::App& app) {
  CLI::App* command = app.add_subcommand("evaluate", "run the graphs of IR text on given tensors");
  const auto a = std::make_shared<EvaluateArguments>();
  command->add_option("file", a->file, "a .hir file, or - for standard input")->required();
  command->add_option("--inputs", a->inputs, "safetensors file: GRAPH/VALUE for every input, param and state")
      ->required();
  command
      ->add_option("--outputs", a->outputs,
                   "safetensors file to write: GRAPH/0, GRAPH/1, ... as returned, GRAPH/STATE for updated states")
      ->required();
  command->add_flag("--exact", a->exact, "keep doubles between operators instead of rounding to each dtype");
  command->callback([a] { evaluate(*a); });
}

}  // namespace heddle::tools
