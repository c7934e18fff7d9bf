// heddle summary: the layers of a model with their shapes, parameters, memory and flops, and what a run takes.
#include "tools/command/summary.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>

#include "frontend/training/accumulate.h"
#include "runtime/host/onednn.h"
#include "runtime/process/terminal.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/counted_data.h"
#include "tools/command/model_arguments.h"
#include "tools/command/output.h"
#include "tools/driver/entries.h"
#include "tools/driver/packaged_model.h"

namespace heddle::tools {
namespace {

struct SummaryArguments {
  ModelArguments model;
  std::string data, target = "host";
  bool json = false;
};

// Upper limits of the memory that a training process takes besides the program's, measured on the models of models/.
constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kProcess = 28 * kMiB;          // code, libraries but oneDNN, threads, readers
constexpr int64_t kOfNode = int64_t{4} << 10;    // the compiler's, of a node of the graphs before the passes
constexpr int64_t kOfCall = int64_t{128} << 10;  // a library call's primitives: their code and packed weights

// Each state belongs to the node whose parameter's path begins its name, the longest such path.
std::vector<int64_t> state_bytes(const frontend::ModelSummary& model, const codegen::Program& program) {
  std::map<std::string, size_t> owner;
  for (size_t i = 0; i < model.nodes.size(); ++i)
    for (const int64_t p : model.nodes[i].parameters) owner[model.parameters[static_cast<size_t>(p)].path] = i;
  std::vector<int64_t> bytes(model.nodes.size(), 0);
  for (const codegen::Buffer& state : program.states)
    for (std::string head = state.name;;) {
      if (const auto found = owner.find(head); found != owner.end()) {
        bytes[found->second] += state.bytes;
        break;
      }
      const size_t dot = head.rfind('.');
      if (dot == std::string::npos) break;
      head.resize(dot);
    }
  return bytes;
}

double flops_of(const codegen::Program& program, const codegen::Entry* entry) {
  double flops = 0;
  if (entry == nullptr) return 0;
  codegen::for_each_step(entry->steps, [&](const codegen::Step& step, int64_t times) {
    if (const auto* launch = std::get_if<codegen::Launch>(&step.what))
      flops += static_cast<double>(times) * program.kernels[static_cast<size_t>(launch->kernel)].flops;
    else if (const auto* call = std::get_if<codegen::Library>(&step.what))
      flops += static_cast<double>(times) * call->flops;
  });
  return flops;
}

// What the arena holds.
std::string values_of_step(const frontend::Model& model) {
  if (!frontend::accumulates(model)) return "values of a step";
  const int64_t rows = frontend::rows_of_micro_batch(model);
  return fmt::format("values of a step, which trains {} micro-batches of {} {}",
                     model.train.sizes.at(model.batch_dimension) / rows, rows, rows == 1 ? "row" : "rows");
}

RunMemory memory_of(const codegen::Program& program, const frontend::Model& model, int64_t nodes, bool host) {
  RunMemory memory;
  memory.parts = {{"state", program.state_bytes, "parameters and what a training keeps beside them"},
                  {"arena", program.arena_bytes, values_of_step(model)},
                  {"ring", program.feeding.ring_bytes(), "records of steps"}};
  if (!host) return memory;
  int64_t calls = 0;
  for (const codegen::Entry& e : program.entries)
    codegen::for_each_step(e.steps, [&](const codegen::Step& step, int64_t) {
      calls += std::holds_alternative<codegen::Library>(step.what) ? 1 : 0;  // one object, however often it runs
    });
  memory.constants = {
      {"process", kProcess, "code, libraries, threads, reading"},
      {"oneDNN", runtime::onednn_code_bytes(), fmt::format("code of oneDNN {}", runtime::onednn_version())},
      {"compiler", nodes * kOfNode, fmt::format("{} bytes for each of {} nodes", kOfNode, nodes)},
      {"library", calls * kOfCall, fmt::format("{} bytes for each of {} library calls", kOfCall, calls)}};
  return memory;
}

void summary(const SummaryArguments& a) {
  driver::ReadModel model;
  driver::CompileOptions options;
  if (driver::is_package(a.model.model)) {
    driver::require_as_packaged(a.model.libraries, a.model.choices);
    const driver::Package package = driver::read_packaged_model(model, a.model.model, read_options(a.model));
    options = compile_options(a.model);
    options.choices = driver::packaged_choices(package, a.target);
  } else {
    read(a.model, model);
    options = compile_options(a.model);
  }
  driver::Planned planned(model.model);
  SummaryFacts facts;
  facts.name = model.model.name;
  facts.target = a.target;
  facts.model = frontend::summarize(planned.instances);
  const CountedData data = count_data(planned.plan, model.folder(a.data));
  facts.data_note = data.note;
  options.target = ir::target_by_name(a.target);
  options.folder = model.folder({});
  if (data.header) driver::compile_as_trained(planned, *data.header, options);
  const driver::Compiled compiled = driver::compile(planned, options);
  const codegen::Program& program = compiled.program;
  facts.memory = memory_of(program, model.model, compiled.nodes, !options.target.gpu);
  if (data.header)
    facts.memory.parts.push_back(
        {"data", data_bytes(compiled.plan, *data.header), "rows as they are stored, and their order"});
  facts.state_bytes = state_bytes(facts.model, program);
  facts.step_flops = flops_of(program, program.find_entry(ir::Phase::train));
  write_result(a.json ? summary_json(facts) : summary_text(facts, runtime::terminal_columns(stdout)));
}

int64_t sum(const std::vector<NamedBytes>& parts) {
  return std::accumulate(parts.begin(), parts.end(), int64_t{0},
                         [](int64_t total, const NamedBytes& part) { return total + part.bytes; });
}

}  // namespace

int64_t RunMemory::parts_bytes() const { return sum(parts); }
int64_t RunMemory::constants_bytes() const { return sum(constants); }

void add_summary(CommandLine& line) {
  Command command = line.add_subcommand("summary", "the layers of a model, their parameters, and the memory of a run");
  const auto a = std::make_shared<SummaryArguments>();
  add_model_arguments(command, a->model);
  command.add_option("--data", a->data, "the folder that holds the data files; default: the model's")
      .takes(Takes::folder);
  command.add_option("--target", a->target, "host (default), or a GPU").one_of(ir::target_names());
  command.add_flag("--json", a->json, "print one JSON object on standard output");
  command.run([a] { summary(*a); });
}

}  // namespace heddle::tools
