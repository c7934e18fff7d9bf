// heddle ops: the operator reference, from the registry itself.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>

#include "frontend/reference.h"
#include "ir/keys/key_text.h"
#include "ir/mixed_precision.h"
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
  std::vector<std::string> names, kinds;
  bool json = false;
  bool tables = false;
};

std::string kind_text(const OpDef& op) {
  return ir::visit_kind(
      op, [](const ir::Source&) { return "source"; }, [](const ir::Elementwise&) { return "elementwise"; },
      [](const ir::Movement&) { return "movement"; }, [](const ir::Lookup&) { return "lookup"; },
      [](const ir::Reduction&) { return "reduction"; }, [](const ir::Contraction&) { return "contraction"; },
      [](const ir::Primitive&) { return "primitive"; }, [](const ir::Composite&) { return "composite"; },
      [](const ir::Gradient&) { return "gradient"; }, [](const ir::Call&) { return "call"; },
      [](const ir::Scan&) { return "scan"; });
}

// How differentiation treats it: its own rule, through its decomposition, or the reason why not.
std::string gradient_text(const OpDef& op) {
  if (op.grad) return "own rule";
  if (op.decomposition) return "through its decomposition";
  if (std::holds_alternative<ir::Scan>(op.kind)) return "a scan of its own";
  return op.no_gradient.empty() ? "none" : "none: " + op.no_gradient;
}

// In which type it computes in a mixed training.
std::string mixed_text(const OpDef& op) {
  const ir::MixedPrecision& mixed = ir::mixed_precision(op);
  return ir::to_string(mixed.rule) + (mixed.departs.empty() ? "" : " (PyTorch's autocast: " + mixed.departs + ")");
}

std::string op_json(const OpDef& op) {
  std::vector<std::string> attrs;
  std::vector<std::string> dtypes;
  for (const ir::Key& a : op.attrs) {
    JsonObject attr;
    attr.text("name", a.name).text("type", ir::attribute_type(a)).text("doc", a.doc).flag("required", a.required);
    if (a.fallback) attr.text("default", ir::to_string(*a.fallback));
    attrs.push_back(attr.str());
  }
  for (ir::DType d : op.dtypes) dtypes.push_back(ir::to_string(d));
  JsonObject out;
  out.text("name", op.name).text("kind", kind_text(op)).text("doc", op.doc);
  out.raw("operands", runtime::json_texts(op.operands))
      .flag("variadic", op.variadic)
      .raw("results", runtime::json_texts(op.results));
  out.raw("attrs", runtime::json_list(attrs)).raw("dtypes", runtime::json_texts(dtypes));
  return out.text("gradient", gradient_text(op)).text("mixed", mixed_text(op)).str();
}

std::string op_text(const OpDef& op) {
  std::vector<std::string> dtypes;
  for (ir::DType d : op.dtypes) dtypes.push_back(ir::to_string(d));
  std::string text = fmt::format("{}({}{}) -> {}\n  {}: {}\n", op.name, fmt::join(op.operands, ", "),
                                 op.variadic ? "..." : "", fmt::join(op.results, ", "), kind_text(op), op.doc);
  for (const ir::Key& a : op.attrs)
    text += fmt::format("  {}: {}{}  {}\n", a.name, ir::attribute_type(a),
                        a.fallback ? " = " + ir::to_string(*a.fallback) : ", required", a.doc);
  text += fmt::format("  types: {}\n  gradient: {}\n  mixed: {}\n",
                      dtypes.empty() ? "all" : fmt::format("{}", fmt::join(dtypes, " ")), gradient_text(op),
                      mixed_text(op));
  return text;
}

// Which operators no gradient passes, by the reason.
std::string gradients_table() {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const OpDef* op : ir::all_ops())
    if (!op->grad && !op->decomposition && !std::holds_alternative<ir::Scan>(op->kind))
      by_reason[op->no_gradient].push_back("`" + op->name + "`");
  std::string text = "| operators | why |\n|---|---|\n";
  for (const auto& [reason, names] : by_reason) text += fmt::format("| {} | {} |\n", fmt::join(names, " "), reason);
  return text;
}

// What docs/model-format.md has between its comments.
void print_tables() {
  for (const std::string& name : frontend::reference_tables())
    print_result("<!-- {} -->\n{}\n", name, frontend::reference_table(name));
  print_result("<!-- gradients -->\n{}\n", gradients_table());
}

using frontend::ReferenceEntry;
using ir::Key;

// What an object consists of follows, a level further in.
std::string setting_text(const Key& key, const std::string& indent = "  ") {
  const std::string fallback = ir::default_text(key), doc = ir::doc_text(key);
  std::string text = fmt::format("{}{}: {}{}{}\n", indent, key.name, ir::type_text(key),
                                 key.required       ? ", required"
                                 : fallback.empty() ? ""
                                                    : " = " + fallback,
                                 doc.empty() ? "" : "  " + doc);
  if (key.keys != nullptr)
    for (const Key& inner : key.keys()) text += setting_text(inner, indent + "  ");
  return text;
}

std::string entry_text(const ReferenceEntry& e) {
  std::vector<std::string> inputs = e.inputs;
  for (const std::string& name : e.optional) inputs.push_back("[" + name + "]");
  std::string text = fmt::format("{} {}({})\n  {}\n", e.kind, e.name, fmt::join(inputs, ", "), e.doc);
  for (const Key& key : e.settings) text += setting_text(key);
  return text + (e.parameters.empty() ? "" : fmt::format("  parameters: {}\n", e.parameters));
}

std::string entry_json(const ReferenceEntry& e) {
  std::vector<std::string> settings;
  for (const Key& key : e.settings) {
    JsonObject setting;
    setting.text("name", key.name).text("doc", ir::doc_text(key)).flag("required", key.required);
    setting.text("type", ir::type_text(key));
    if (const std::string fallback = ir::default_text(key); !fallback.empty()) setting.text("default", fallback);
    settings.push_back(setting.str());
  }
  JsonObject out;
  out.text("kind", e.kind).text("name", e.name).text("doc", e.doc).raw("inputs", runtime::json_texts(e.inputs));
  out.raw("optional", runtime::json_texts(e.optional));
  return out.raw("settings", runtime::json_list(settings)).text("parameters", e.parameters).str();
}

const std::vector<std::string> kKinds = {"operator",    "layer",       "loss",       "metric", "optimizer", "schedule",
                                         "initializer", "regularizer", "constraint", "reader", "map"};

std::vector<std::string> known_names(const std::vector<ReferenceEntry>& entries) {
  std::vector<std::string> known = ir::op_names();
  for (const ReferenceEntry& e : entries) known.push_back(e.name);
  return known;
}

std::string name_remedy(const std::string& near) {
  return near.empty() ? "heddle ops lists the operators, heddle ops --kind layer the layers" : near;
}

void require_known(const std::vector<std::string>& names, const std::vector<ReferenceEntry>& entries) {
  const std::vector<std::string> known = known_names(entries);
  for (const std::string& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw UserError(ExitCode::usage, fmt::format("no operator '{}', nor a layer, loss or the like", name),
                      name_remedy(did_you_mean(name, known)));
}

// By name whatever is called so; by kind all of it; without both the operators.
void ops(const OpsArguments& a) {
  if (a.tables) return print_tables();
  const std::vector<ReferenceEntry> entries = frontend::reference_entries();
  require_known(a.names, entries);
  const auto wanted = [&](const std::string& kind, const std::string& name) {
    const auto in = [](const std::vector<std::string>& list, const std::string& word) {
      return std::find(list.begin(), list.end(), word) != list.end();
    };
    const bool by_default = a.names.empty() && kind == "operator";
    return (a.names.empty() || in(a.names, name)) &&
           (a.kinds.empty() ? by_default || !a.names.empty() : in(a.kinds, kind));
  };
  std::vector<std::string> operators, others;
  for (const OpDef* op : ir::all_ops())
    if (wanted("operator", op->name)) operators.push_back(a.json ? op_json(*op) : op_text(*op));
  for (const ReferenceEntry& e : entries)
    if (wanted(e.kind, e.name)) others.push_back(a.json ? entry_json(e) : entry_text(e));
  if (operators.empty() && others.empty())
    throw UserError(
        ExitCode::usage,
        fmt::format("nothing of --kind {} is called {}", fmt::join(a.kinds, ", "), fmt::join(a.names, ", ")),
        "leave --kind out");
  if (a.json) {
    JsonObject out;
    out.raw("ops", runtime::json_list(operators)).raw("others", runtime::json_list(others));
    return print_result("{}\n", out.str());
  }
  operators.insert(operators.end(), others.begin(), others.end());
  print_result("{}", fmt::join(operators, "\n"));
}

}  // namespace

void add_ops(CommandLine& line) {
  Command command =
      line.add_subcommand("ops", "the reference of operators, layers, losses, metrics, optimizers, readers, data maps");
  const auto a = std::make_shared<OpsArguments>();
  command.add_option("name", a->names, "the name of an operator, layer, loss, optimizer ...").may_be([] {
    return known_names(frontend::reference_entries());
  });
  command.add_option("--kind", a->kinds, "all of this kind (default: operator); may be repeated").one_of(kKinds);
  command.add_flag("--json", a->json, "print one JSON object on standard output");
  command.add_flag("--tables", a->tables, "print the tables of layers, losses and so on, in Markdown");
  command.run([a] { ops(*a); });
}

}  // namespace heddle::tools
