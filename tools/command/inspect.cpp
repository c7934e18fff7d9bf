// heddle inspect: what a model or a weights file holds.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>

#include "runtime/files/foreign_file.h"
#include "runtime/json_text.h"
#include "runtime/weights/dequantize.h"
#include "runtime/weights/quantize.h"
#include "runtime/weights/read_weights.h"
#include "runtime/weights/safetensors.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/inspect_memory.h"
#include "tools/command/model_arguments.h"
#include "tools/command/output.h"
#include "tools/command/report.h"
#include "tools/driver/packaged_model.h"

namespace heddle::tools {
namespace {

struct InspectArguments {
  ModelArguments model;
  InspectMemory memory;
  bool json = false, of_memory = false;
};

struct Row {
  std::string name, role, dtype;
  std::vector<int64_t> dims;
  int64_t elements() const {
    int64_t n = 1;
    for (int64_t d : dims) n *= d;
    return n;
  }
};

std::string rows_json(const std::vector<Row>& rows) {
  std::vector<std::string> items;
  for (const Row& r : rows) {
    runtime::JsonObject o;
    o.text("name", r.name)
        .text("role", r.role)
        .text("dtype", r.dtype)
        .raw("shape", fmt::format("[{}]", fmt::join(r.dims, ",")));
    items.push_back(o.integer("elements", r.elements()).str());
  }
  return runtime::json_list(items);
}

void print_rows(const std::vector<Row>& rows) {
  std::map<std::string, int64_t> numbers;  // by role
  for (const Row& r : rows) {
    print_result("{:<8} {:<32} {:<6} {:<20} {:>12}\n", r.role, r.name, r.dtype,
                 fmt::format("[{}]", fmt::join(r.dims, ",")), r.elements());
    numbers[r.role] += r.elements();
  }
  if (numbers["state"] == 0) print_result("{} parameters\n", numbers["param"]);
  for (const char* role : {"buffer", "state"})
    if (numbers[role] > 0) print_result("{} numbers in {}s\n", numbers[role], role);
}

// What heddle quantize wrote into the metadata: {"type": "int8", "model": "digits_cnn", "after": "{...}", ...}.
std::map<std::string, std::string> quantization_facts(const runtime::WeightsFile& file) {
  std::map<std::string, std::string> facts;
  if (!runtime::is_quantized(file)) return facts;
  const std::string mark = runtime::kQuantizedMark;
  for (const auto& [key, value] : file.metadata)
    if (key == mark || key.starts_with(mark + ".")) facts[key == mark ? "type" : key.substr(mark.size() + 1)] = value;
  return facts;
}

void inspect_weights(const InspectArguments& a) {
  const runtime::WeightsFile file = runtime::read_safetensors(a.model.model);
  std::vector<Row> rows;
  const std::vector<std::string> names = runtime::buffer_names(file);  // the tensors of other programs are all alike
  const std::set<std::string> buffers(names.begin(), names.end());
  const bool checkpoint = file.metadata.contains(runtime::kCheckpointMark);  // with the moments and counters, too
  for (const runtime::LogicalTensor& t : runtime::logical_tensors(file))
    rows.push_back({t.name, checkpoint ? "state" : buffers.contains(t.name) ? "buffer" : "param", t.type, t.dims});
  const std::map<std::string, std::string> facts = quantization_facts(file);
  if (a.json) {
    runtime::JsonObject out;
    out.raw("tensors", rows_json(rows));
    if (!facts.empty()) {
      runtime::JsonObject quantized;
      for (const auto& [key, value] : facts) quantized.text(key, value);
      out.raw("quantized", quantized.str());
    }
    return print_result("{}\n", out.str());
  }
  print_rows(rows);
  for (const auto& [key, value] : facts) {
    std::string line = fmt::format("quantized {}: {}", key, value);
    std::ranges::replace_if(
        line, [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
    print_result("{}\n", line);
  }
}

std::string list_of(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

void inspect_package(const InspectArguments& a) {
  driver::ReadModel model;
  const driver::Package package = driver::read_packaged_model(model, a.model.model, read_options(a.model));
  if (a.json) return print_result("{}\n", driver::print_manifest(package));
  print_result("package of {}, made by Heddle {}\n", package.model_name, package.heddle);
  for (const driver::PackedTarget& t : package.targets) {
    print_result("\n{} ({}), code by {}\n", t.name, t.arch, t.maker);
    if (!t.gpu()) print_result("  needs      {}: {}\n", t.machine, list_of(t.instructions));
    if (t.gpu()) print_result("  needs      a card of {}, or a later one, which compiles PTX for {}\n", t.arch, t.ptx);
    if (t.gpu())
      print_result("  planned    for {} multiprocessors; fewer launch kernels one by one\n", t.target().sm_count);
    if (!t.onednn.empty()) print_result("  needs      oneDNN {}\n", t.onednn);
    for (const driver::PackedProgram& p : t.programs) {
      print_result("  {:<10} {}\n", p.purpose, p.entries);
      print_result("             {} kernels; bytes: state {}, arena {}, ring {}\n", p.kernels, p.state_bytes,
                   p.arena_bytes, p.ring_bytes);
    }
  }
  print_result("\n");
  for (const runtime::SavedTensor& t : package.content.tensors) print_result("{:>10}  {}\n", t.end - t.begin, t.name);
}

void inspect_model(const InspectArguments& a) {
  driver::ReadModel read_model;
  read(a.model, read_model);
  driver::CompileOptions options = compile_options(a.model);
  options.folder = read_model.folder({});
  const codegen::Program program = driver::compile(read_model.model, options).program;
  std::vector<Row> rows;
  for (const codegen::Buffer& b : program.states)
    if (codegen::is_saved(b)) rows.push_back({b.name, to_string(b.role), b.dtype, b.dims});
  if (a.json) {
    const std::string report = report_json(program, "", {});
    print_result(
        "{}\n",
        runtime::JsonObject().raw("tensors", rows_json(rows)).raw("report", report.substr(0, report.size() - 1)).str());
    return;
  }
  print_rows(rows);
  print_result("\n{}", report_table(program, "", {}));
}

// Decides by the file's content. A file named as weights that is neither weights nor a model's text is treated as
// weights, so that the error says what is wrong.
bool is_weights(const std::string& path) {
  if (runtime::is_weights_file(path)) return true;
  if (!path.ends_with(".safetensors")) return false;
  std::error_code ec;
  if (!std::filesystem::is_regular_file(path, ec)) return true;
  std::ifstream in(path, std::ios::binary);
  in >> std::ws;
  const int first = in.peek();
  return first != '{' && first != '/';
}

void of_memory(const InspectArguments& a) {
  if (driver::is_package(a.model.model) || is_weights(a.model.model))
    throw UserError(ExitCode::usage,
                    fmt::format("{}: --memory plans the training of a model, and this is none", a.model.model),
                    "give the model's file");
  inspect_memory(a.model, a.memory, a.json);
}

// Throws at options that only --memory uses.
void require_memory(const InspectArguments& a) {
  for (const auto& [option, value] :
       {std::pair("--device", &a.memory.device.device), {"--target", &a.memory.target}, {"--data", &a.memory.data}})
    if (!value->empty()) throw UserError(ExitCode::usage, fmt::format("{} needs --memory", option));
}

}  // namespace

void add_inspect(CommandLine& line) {
  Command command =
      line.add_subcommand("inspect", "parameters, memory and kernels of a model; what a package or weights file holds");
  const auto a = std::make_shared<InspectArguments>();
  add_model_arguments(command, a->model);
  command.add_flag(
      "--memory", a->of_memory,
      "what takes a training's memory, what limits of it cost, and the largest batch within --memory-limit");
  command
      .add_option("--device", a->memory.device.device,
                  "of --memory: auto (default: a GPU if there is one, else the host), host, cuda or cuda:N")
      .may_be({"auto", "host", "cuda"});
  command.add_option("--target", a->memory.target, "of --memory: plan for host or for a GPU that need not be here")
      .one_of(ir::target_names());
  command
      .add_option("--data", a->memory.data, "of --memory: the folder that holds the data files; default: the model's")
      .takes(Takes::folder);
  command.add_flag("--json", a->json, "print one JSON object on standard output");
  command.run([a] {
    if (a->of_memory) return of_memory(*a);
    require_memory(*a);
    if (driver::is_package(a->model.model)) return inspect_package(*a);
    is_weights(a->model.model) ? inspect_weights(*a) : inspect_model(*a);
  });
}

}  // namespace heddle::tools
