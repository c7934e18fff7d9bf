// heddle ops: the operator reference, from the registry itself.
#include <fmt/format.h>

#include <memory>

#include "frontend/reference.h"
#include "ir/op_def.h"
#include "ir/visit.h"
#include "runtime/json_text.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/output.h"

namespace heddle::tools {
namespace {

using ir::OpDef;
using runtime::JsonObject;

struct OpsArguments {
  std::vector<std::string> names;
  bool json = false;
  bool tables = false;
};

std::string kind_text(const OpDef& op) {
  return ir::visit_kind(
      op, [](const ir::Source&) { return "source"; }, [](const ir::Elementwise&) { return "elementwise"; },
      [](const ir::Movement&) { return "movement"; }, [](const ir::Lookup&) { return "lookup"; },
      [](const ir::Reduction&) { return "reduction"; }, [](const ir::Contraction&) { return "contraction"; },
      [](const ir::Primitive&) { return "primitive"; }, [](const ir::Composite&) { return "composite"; },
      [](const ir::Gradient&) { return "gradient"; }, [](const ir::Call&) { return "call"; });
}

// How differentiation treats it: its own rule, through its expansion, or the reason why not.
std::string gradient_text(const OpDef& op) {
  if (op.grad) return "own rule";
  if (op.expansion) return "through its expansion";
  return op.no_gradient.empty() ? "none" : "none: " + op.no_gradient;
}

std::string quoted_list(const std::vector<std::string>& names) {
  std::vector<std::string> items;
  items.reserve(names.size());
  for (const std::string& n : names) items.push_back(runtime::json_quoted(n));
  return runtime::json_list(items);
}

std::string op_json(const OpDef& op) {
  std::vector<std::string> attrs;
  std::vector<std::string> dtypes;
  for (const ir::AttrDef& a : op.attrs) {
    JsonObject attr;
    attr.text("name", a.name).text("type", ir::to_string(a.type)).text("doc", a.doc).flag("required", !a.fallback);
    if (a.fallback) attr.text("default", ir::to_string(*a.fallback));
    attrs.push_back(attr.str());
  }
  for (ir::DType d : op.dtypes) dtypes.push_back(ir::to_string(d));
  JsonObject out;
  out.text("name", op.name).text("kind", kind_text(op)).text("doc", op.doc);
  out.raw("operands", quoted_list(op.operands)).flag("variadic", op.variadic).raw("results", quoted_list(op.results));
  out.raw("attrs", runtime::json_list(attrs)).raw("dtypes", quoted_list(dtypes));
  return out.text("gradient", gradient_text(op)).str();
}

std::string op_text(const OpDef& op) {
  std::vector<std::string> dtypes;
  for (ir::DType d : op.dtypes) dtypes.push_back(ir::to_string(d));
  std::string text = fmt::format("{}({}{}) -> {}\n  {}: {}\n", op.name, fmt::join(op.operands, ", "),
                                 op.variadic ? "..." : "", fmt::join(op.results, ", "), kind_text(op), op.doc);
  for (const ir::AttrDef& a : op.attrs)
    text += fmt::format("  {}: {}{}  {}\n", a.name, ir::to_string(a.type),
                        a.fallback ? " = " + ir::to_string(*a.fallback) : ", required", a.doc);
  text += fmt::format("  types: {}\n  gradient: {}\n",
                      dtypes.empty() ? "all" : fmt::format("{}", fmt::join(dtypes, " ")), gradient_text(op));
  return text;
}

// What docs/model-format.md has between its comments.
void print_tables() {
  for (const std::string& kind : frontend::reference_kinds())
    print_result("<!-- {} -->\n{}\n", kind, frontend::reference_table(kind));
}

void ops(const OpsArguments& a) {
  if (a.tables) return print_tables();
  std::vector<const OpDef*> selected = ir::all_ops();
  if (!a.names.empty()) {
    selected.clear();
    for (const std::string& name : a.names) {
      const OpDef* op = ir::find_op(name);
      if (!op)
        throw UserError(ExitCode::usage, fmt::format("no operator '{}'", name), did_you_mean(name, ir::op_names()));
      selected.push_back(op);
    }
  }
  std::vector<std::string> texts;
  texts.reserve(selected.size());
  for (const OpDef* op : selected) texts.push_back(a.json ? op_json(*op) : op_text(*op));
  if (a.json)
    print_result("{}\n", JsonObject().raw("ops", runtime::json_list(texts)).str());
  else
    print_result("{}", fmt::join(texts, "\n"));
}

}  // namespace

void add_ops(CommandLine& line) {
  Command command = line.add_subcommand("ops", "the reference of the IR's operators");
  const auto a = std::make_shared<OpsArguments>();
  command.add_option("name", a->names, "only these operators");
  command.add_flag("--json", a->json, "print one JSON object on standard output");
  command.add_flag("--tables", a->tables, "print the tables of layers, losses and so on, in Markdown");
  command.run([a] { ops(*a); });
}

}  // namespace heddle::tools
