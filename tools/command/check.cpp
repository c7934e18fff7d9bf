// heddle check: reads a model and builds its step; tells every fault found.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "ir/diagnostic.h"
#include "runtime/json_text.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/compile_model.h"
#include "tools/command/load_data.h"
#include "tools/command/output.h"

namespace heddle::tools {
namespace {

struct CheckArguments {
  ModelArguments model;
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

void check_model(const CheckArguments& a) {
  ReadModel model;
  try {
    read(a.model, model);
    const frontend::TrainingPlan plan = frontend::plan_training(model.model);
    print_warnings(plan);
    const ir::Module m =
        frontend::build_module(model.model, all_entries(model.model, std::filesystem::path(model.path).parent_path()));
    if (a.json) return print_json(true, plan.warnings);
    size_t nodes = 0;
    for (const ir::Graph& g : m.graphs) nodes += g.order.size();
    print_result("{}: {} graphs, {} nodes, no fault found\n", model.path, m.graphs.size(), nodes);
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
  command.add_flag("--json", a->json, "print the diagnostics as one JSON object on standard output");
  command.run([a] { check_model(*a); });
}

}  // namespace heddle::tools
