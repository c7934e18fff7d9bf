#include "tools/command/print_dot.h"

#include <fmt/format.h>

#include "ir/op_def.h"
#include "runtime/process/terminal.h"

namespace heddle::tools {
namespace {

// What is inside of quotes; a line of a label ends with \n.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : runtime::visible(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string type_text(const ir::Value& v) { return escaped(ir::to_string(v.type)); }

class DotGraph {
 public:
  DotGraph(const ir::Graph& g, size_t number) : g_(g), number_(number) {}

  std::string text() {
    line(fmt::format("  subgraph \"cluster_{}\" {{", number_));
    line(fmt::format("    label=\"{}\";", escaped(g_.name)));
    for (const ir::ValueId v : g_.inputs) input(v);
    for (const ir::NodeId n : g_.order) node(n);
    if (!g_.outputs.empty()) line(fmt::format("    {} [label=\"return\", shape=doublecircle];", result_id()));
    line("  }");
    for (const ir::NodeId n : g_.order)
      for (const ir::ValueId v : g_[n].operands) edge(v, node_id(n), "");
    for (const ir::ValueId v : g_.outputs) edge(v, result_id(), "");
    for (const ir::Update& u : g_.updates) edge(u.next, input_id(u.state), ", style=dashed, constraint=false");
    return std::move(text_);
  }

 private:
  void line(const std::string& text) { text_ += text + "\n"; }
  std::string input_id(ir::ValueId v) const { return fmt::format("\"{}.v{}\"", number_, v.index); }
  std::string node_id(ir::NodeId n) const { return fmt::format("\"{}.n{}\"", number_, n.index); }
  std::string result_id() const { return fmt::format("\"{}.return\"", number_); }

  void input(ir::ValueId v) {
    const ir::Value& value = g_[v];
    const std::string role = value.role == ir::Role::none ? "" : to_string(value.role) + " ";
    line(fmt::format("    {} [label=\"{}\\n{}{}\", shape={}];", input_id(v), escaped(value.name), role,
                     type_text(value), value.role == ir::Role::input ? "ellipse" : "cylinder"));
  }

  void node(ir::NodeId id) {
    const ir::Node& n = g_[id];
    const std::string what = n.callee.empty() ? n.op->name : n.op->name + " @" + n.callee;
    const std::string name = n.results.empty() ? "" : g_[n.results[0]].name;
    line(fmt::format("    {} [label=\"{}\\n{}\", shape=box];", node_id(id), escaped(what), escaped(name)));
  }

  void edge(ir::ValueId v, const std::string& to, const std::string& style) {
    const ir::Value& value = g_[v];
    const std::string from = value.def.valid() ? node_id(value.def) : input_id(v);
    line(fmt::format("  {} -> {} [label=\"{}\"{}];", from, to, type_text(value), style));
  }

  const ir::Graph& g_;
  size_t number_;
  std::string text_;
};

}  // namespace

std::string dot_text(const std::string& title, const std::vector<const ir::Graph*>& graphs) {
  std::string text =
      fmt::format("digraph \"{}\" {{\n  rankdir=TB;\n  node [fontname=\"monospace\"];\n", escaped(title));
  for (size_t i = 0; i < graphs.size(); ++i) text += DotGraph(*graphs[i], i).text();
  return text + "}\n";
}

}  // namespace heddle::tools
