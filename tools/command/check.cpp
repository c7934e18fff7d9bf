// heddle check: reads a model and compiles its training; tells every fault, and all that train
// would refuse before its first step.
#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>

#include "frontend/metrics/generated.h"
#include "ir/diagnostic.h"
#include "runtime/data/path.h"
#include "runtime/json_text.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/model_arguments.h"
#include "tools/command/output.h"
#include "tools/driver/entries.h"
#include "tools/driver/generator.h"

namespace heddle::tools {
namespace {

struct CheckArguments {
  ModelArguments model;
  std::string data, target = "host";
  bool json = false;
};

std::string severity_text(Severity severity) {
  return severity == Severity::error ? "error" : severity == Severity::warning ? "warning" : "note";
}

runtime::JsonObject diagnostic_json(const Diagnostic& d) {
  runtime::JsonObject out;
  out.text("severity", severity_text(d.severity)).text("message", d.message);
  if (d.where.valid()) {
    const LineColumn at = line_column(d.where);
    out.text("file", d.where.file->name).integer("line", at.line).integer("column", at.column);
  }
  if (!d.help.empty()) out.text("help", d.help);
  if (!d.notes.empty()) {
    std::vector<std::string> notes;
    for (const Diagnostic& note : d.notes) notes.push_back(diagnostic_json(note).str());
    out.raw("notes", runtime::json_list(notes));
  }
  return out;
}

void print_json(bool ok, const std::vector<Diagnostic>& diagnostics) {
  std::vector<std::string> list;
  list.reserve(diagnostics.size());
  for (const Diagnostic& d : diagnostics) list.push_back(diagnostic_json(d).str());
  print_result("{}\n", runtime::JsonObject().flag("ok", ok).raw("diagnostics", runtime::json_list(list)).str());
}

// A note about an obstacle that is not an error of the model.
Diagnostic note_of(const UserError& error, const std::string& before) {
  Diagnostic d = error.diagnostics().front();
  d.severity = Severity::note;
  d.message = before + d.message;
  return d;
}

// A model that only predicts is as good as one that trains.
bool is_trained(const frontend::Model& model, std::vector<Diagnostic>& notes) {
  try {
    driver::require_trainable(model);
    return true;
  } catch (const UserError& error) {
    notes.push_back(note_of(error, "heddle train refuses it: "));
    return false;
  }
}

// What the headers of the files say, where these are at hand.
std::optional<driver::DataHeader> read_data(const frontend::TrainingPlan& plan, const std::filesystem::path& folder,
                                            std::vector<Diagnostic>& notes) {
  try {
    driver::DataHeader header = driver::read_headers({.plan = &plan, .root = folder, .train = true});
    for (const std::string& told : header.notes)
      notes.push_back({.severity = Severity::note, .where = {}, .message = told, .notes = {}, .help = {}});
    runtime::epoch_length(header.rows.train, plan.batch, plan.drop_last);
    return header;
  } catch (const runtime::data::AbsentFile& error) {
    notes.push_back(note_of(error, "the data are not looked at: "));
    return std::nullopt;
  }
}

// Compiles what a training would. Passes find errors that no single layer can find: a missing gradient, a plan that
// exceeds the memory.
void compile_training(const CheckArguments& a, driver::Planned& planned,
                      const std::optional<driver::DataHeader>& header, const frontend::BuildOptions& otherwise) {
  driver::CompileOptions options = compile_options(a.model);
  options.target = ir::target_by_name(a.target);
  options.entries = otherwise;
  if (!frontend::generated_metrics(planned.model()).empty()) {
    driver::CompileOptions writing = options;
    writing.entries.reset();
    driver::Generator::require_writes(planned.model(), writing);
  }
  if (header) driver::compile_as_trained(planned, *header, options);
  driver::compile(planned, options);
}

struct Checked {
  size_t graphs = 0, nodes = 0;
  std::vector<Diagnostic> notes;  // warnings come before them
};

Checked check_parts(const CheckArguments& a, const driver::ReadModel& read) {
  const std::filesystem::path folder = read.folder(a.data);
  driver::Planned planned(read.model);
  Checked checked{.notes = planned.plan.warnings};
  std::optional<driver::DataHeader> header;
  std::vector<Diagnostic> faults;  // of the data; those of the model follow
  if (is_trained(read.model, checked.notes)) {
    try {
      header = read_data(planned.plan, folder, checked.notes);
    } catch (const UserError& error) {
      faults = error.diagnostics();
    }
  }
  for (const Diagnostic& note : checked.notes) write_note(render(note));
  try {
    const frontend::BuildOptions entries =
        driver::all_entries(read.model, planned.plan, folder, compile_options(a.model).tell);
    const ir::Module m = frontend::build_module(planned.instances, entries);
    checked.graphs = m.graphs.size();
    for (const ir::Graph* g : m.all_graphs()) checked.nodes += g->order.size();
    compile_training(a, planned, header, entries);
  } catch (const UserError& error) {
    if (faults.empty()) throw;
    std::ranges::copy(error.diagnostics(), std::back_inserter(faults));
  }
  if (!faults.empty()) throw UserError(std::move(faults));
  return checked;
}

void check_model(const CheckArguments& a) {
  driver::ReadModel model;
  try {
    read(a.model, model);
    const Checked checked = check_parts(a, model);
    if (a.json) return print_json(true, checked.notes);
    print_result("{}: {} graphs, {} nodes, no fault found\n", model.path, checked.graphs, checked.nodes);
  } catch (const UserError& error) {
    if (a.json) print_json(false, error.diagnostics());
    throw;
  }
}

}  // namespace

void add_check(CommandLine& line) {
  Command command = line.add_subcommand("check", "read a model and report every fault");
  const auto a = std::make_shared<CheckArguments>();
  add_model_arguments(command, a->model);
  command.add_option("--data", a->data, "the folder that holds the data files; default: the model's")
      .takes(Takes::folder);
  command.add_option("--target", a->target, "host (default), or a GPU").one_of(ir::target_names());
  command.add_flag("--json", a->json, "print the diagnostics as one JSON object on standard output");
  command.run([a] { check_model(*a); });
}

}  // namespace heddle::tools
