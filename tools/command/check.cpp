// heddle check: reads a model and compiles its training; tells every fault, and all that train would refuse before its first step.
#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>

#include "ir/diagnostic.h"
#include "runtime/data/path.h"
#include "runtime/json_text.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/compile_model.h"
#include "tools/command/load_data.h"
#include "tools/command/output.h"
#include "tools/command/statistics.h"

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

// What is no fault of the model, and keeps a command from its work.
Diagnostic note_of(const UserError& error, const std::string& before) {
  Diagnostic d = error.diagnostics().front();
  d.severity = Severity::note;
  d.message = before + d.message;
  return d;
}

std::filesystem::path root_of(const CheckArguments& a, const ReadModel& model) {
  return a.data.empty() ? std::filesystem::path(model.path).parent_path() : std::filesystem::path(a.data);
}

// A model that only predicts is as good as one that trains.
bool is_trained(const frontend::Model& model, std::vector<Diagnostic>& notes) {
  try {
    require_trainable(model);
    return true;
  } catch (const UserError& error) {
    notes.push_back(note_of(error, "heddle train refuses it: "));
    return false;
  }
}

// What the headers of the files say, where these are at hand.
std::optional<DataHeader> read_data(const CheckArguments& a, const ReadModel& model, const frontend::TrainingPlan& plan,
                                    std::vector<Diagnostic>& notes) {
  try {
    DataHeader header = read_headers({.plan = &plan, .root = root_of(a, model), .train = true, .class_names = {}});
    runtime::epoch_length(header.rows.train, plan.batch, plan.drop_last);
    return header;
  } catch (const runtime::data::AbsentFile& error) {
    notes.push_back(note_of(error, "the data are not looked at: "));
    return std::nullopt;
  }
}

// Compiles what a training would. Passes find what no single layer can: a gradient that does not exist, a plan that no memory holds.
void compile_training(const CheckArguments& a, const ReadModel& model, frontend::TrainingPlan plan,
                      const std::optional<DataHeader>& header, const frontend::BuildOptions& otherwise) {
  CompileOptions options = compile_options(a.model);
  options.target = ir::target_by_name(a.target);
  if (header) assume_statistics(plan);
  options.fed = header ? fed_entries(plan, header->stored) : fed_entries(model.model);
  compile_model(model.model, header ? entry_batches(plan, header->rows, true) : otherwise, options);
}

struct Checked {
  size_t graphs = 0, nodes = 0;
  std::vector<Diagnostic> notes;  // warnings come before them
};

Checked check_parts(const CheckArguments& a, const ReadModel& model) {
  const frontend::TrainingPlan plan = frontend::plan_training(model.model);
  Checked checked{.notes = plan.warnings};
  std::optional<DataHeader> header;
  std::vector<Diagnostic> faults;  // of the data; those of the model follow
  if (is_trained(model.model, checked.notes)) {
    try {
      header = read_data(a, model, plan, checked.notes);
    } catch (const UserError& error) {
      faults = error.diagnostics();
    }
  }
  for (const Diagnostic& note : checked.notes) write_note(render(note));
  try {
    const frontend::BuildOptions entries = all_entries(model.model, root_of(a, model));
    const ir::Module m = frontend::build_module(model.model, entries);
    checked.graphs = m.graphs.size();
    for (const ir::Graph& g : m.graphs) checked.nodes += g.order.size();
    compile_training(a, model, plan, header, entries);
  } catch (const UserError& error) {
    if (faults.empty()) throw;
    std::ranges::copy(error.diagnostics(), std::back_inserter(faults));
  }
  if (!faults.empty()) throw UserError(std::move(faults));
  return checked;
}

void check_model(const CheckArguments& a) {
  ReadModel model;
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
