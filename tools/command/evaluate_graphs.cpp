// heddle evaluate FILE.hir: runs every graph of a .hir file on given tensors and writes what it
// returns, by the operators' oracles or compiled for the host. The conformance suites run through
// this.
#include "tools/command/evaluate_graphs.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "codegen/lower_memory.h"
#include "ir/evaluate/evaluate.h"
#include "ir/evaluate/tensor_bytes.h"
#include "ir/text/parse.h"
#include "ir/verify/verify.h"
#include "runtime/executable.h"
#include "runtime/host/host_device.h"
#include "runtime/weights/file_order.h"
#include "runtime/weights/safetensors.h"
#include "tools/command/command_line.h"
#include "tools/command/device_arguments.h"
#include "tools/command/output.h"
#include "tools/command/read_file.h"
#include "tools/driver/compile.h"

namespace heddle::tools {

struct EvaluateArguments {
  std::string inputs, outputs, on = "oracle";
  bool exact = false;
};

namespace {

// The bytes of GRAPH/VALUE, as they lie in memory.
std::vector<std::byte> bytes_of(const runtime::WeightsFile& file, const std::string& graph, const codegen::Buffer& b) {
  const std::string name = graph + "/" + b.name;
  const runtime::SavedTensor* saved = file.find(name);
  if (saved == nullptr) throw UserError(ExitCode::failed, fmt::format("{}: no tensor is called '{}'", file.name, name));
  if (saved->dtype != b.dtype || saved->dims != b.dims)
    throw UserError(ExitCode::failed, fmt::format("{}: '{}' is {}{}, not {}{}", file.name, name, saved->dtype,
                                                  ir::to_string(saved->dims), b.dtype, ir::to_string(b.dims)));
  std::vector<std::byte> bytes(file.bytes(*saved).begin(), file.bytes(*saved).end());
  runtime::to_memory_order(b, bytes);
  return bytes;
}

void append(runtime::WeightsFile& file, const std::string& name, const std::string& dtype, const ir::Dims& dims,
            const std::vector<std::byte>& bytes) {
  std::ranges::copy(bytes, file.add(name, dtype, dims, std::ssize(bytes)).begin());
}

// What the outside sees of a value: as in a weights file.
codegen::Buffer outside(const ir::Value& v) { return codegen::buffer(v, codegen::BufferRole::input, {}); }

ir::Module read_module(const SourceFile& file) {
  ir::Module m = ir::parse(file);
  std::string text;
  for (const std::string& problem : ir::verify(m)) text += "\n  " + problem;
  if (!text.empty()) throw UserError(ExitCode::failed, file.name + " is not well formed:" + text);
  return m;
}

runtime::WeightsFile by_oracle(const ir::Module& m, const runtime::WeightsFile& inputs, ir::Precision precision) {
  runtime::WeightsFile outputs;
  for (const ir::Graph& g : m.graphs) {
    ir::NamedTensors named;
    for (const ir::ValueId v : g.inputs) {
      named[g[v].name] = ir::from_bytes(g[v].type, bytes_of(inputs, g.name, outside(g[v])));
    }
    const ir::Evaluation result = ir::evaluate(m, g, named, {.precision = precision, .through_arena = false});
    const auto add = [&](const std::string& name, const ir::Value& v, const ir::Tensor& tensor) {
      const codegen::Buffer b = outside(v);
      std::vector<std::byte> bytes = to_bytes(tensor);
      runtime::to_file_order(b, bytes);
      append(outputs, g.name + "/" + name, b.dtype, b.dims, bytes);
    };
    for (size_t i = 0; i < result.outputs.size(); ++i) add(fmt::format("{}", i), g[g.outputs[i]], result.outputs[i]);
    for (const auto& [name, tensor] : result.updated) add(name, g[g.find(name)], tensor);
  }
  return outputs;
}

// The whole compiler: every pass, kernel text, the system compiler, oneDNN.
runtime::WeightsFile on_host(ir::Module m, const runtime::WeightsFile& inputs) {
  driver::run_passes(m, {});
  const codegen::Program program = driver::lower(m, "evaluate", {});
  if (!program.states.empty()) throw UserError(ExitCode::failed, "graphs with params or states run on the oracle only");
  warn_without_kernel_cache();
  runtime::HostDevice device;
  runtime::Executable executable(program, device);
  runtime::WeightsFile outputs;
  for (const codegen::Entry& entry : program.entries) {
    for (const codegen::Buffer& b : entry.inputs) executable.write(b, bytes_of(inputs, entry.name, b).data());
    executable.run(entry);
    for (size_t i = 0; i < entry.outputs.size(); ++i) {
      const codegen::Buffer& b = entry.outputs[i];
      std::vector<std::byte> bytes(static_cast<size_t>(b.bytes));
      executable.read(b, bytes.data());
      append(outputs, fmt::format("{}/{}", entry.name, i), b.dtype, b.dims, bytes);
    }
  }
  return outputs;
}

}  // namespace

void evaluate_graphs(const EvaluateArguments& a, const std::string& path) {
  if (path.ends_with(".json"))
    throw UserError(ExitCode::usage, "--inputs and --outputs are of .hir files, and this is a model",
                    "heddle evaluate MODEL --weights FILE.safetensors");
  for (const auto& [option, value] : {std::pair("--inputs", a.inputs), std::pair("--outputs", a.outputs)})
    if (value.empty())
      throw UserError(ExitCode::usage, fmt::format("{} is required", option),
                      "heddle evaluate FILE.hir --inputs FILE.safetensors --outputs FILE.safetensors");
  require_different("--outputs", a.outputs, "--inputs", a.inputs);
  runtime::require_weights_path(a.outputs);
  const SourceFile file = read_file(path);
  const ir::Module m = read_module(file);
  const runtime::WeightsFile inputs = runtime::read_safetensors(a.inputs);
  const auto precision = a.exact ? ir::Precision::exact : ir::Precision::rounded;
  runtime::write_safetensors(a.outputs, a.on == "host" ? on_host(m, inputs) : by_oracle(m, inputs, precision));
}

std::shared_ptr<EvaluateArguments> add_graph_arguments(Command& command) {
  auto a = std::make_shared<EvaluateArguments>();
  command
      .add_option("--inputs", a->inputs,
                  "of a .hir file: safetensors file, GRAPH/VALUE for every input, param and state")
      .takes(Takes::file);
  command
      .add_option("--outputs", a->outputs,
                  "of a .hir file: safetensors file to write: GRAPH/0, GRAPH/1, ... as returned, GRAPH/STATE for "
                  "updated states")
      .takes(Takes::file);
  command
      .add_option("--on", a->on,
                  "of a .hir file: oracle (default): the operators' double precision; host: compiled kernels")
      .one_of({"oracle", "host"});
  command.add_flag("--exact", a->exact,
                   "of a .hir file: keep doubles between operators instead of rounding to each dtype");
  return a;
}

bool takes_graphs(const EvaluateArguments& a, const std::string& file) {
  return file.ends_with(".hir") || !a.inputs.empty() || !a.outputs.empty();
}

}  // namespace heddle::tools
