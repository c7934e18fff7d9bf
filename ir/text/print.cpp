#include "ir/text/print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/op_def.h"

namespace heddle::ir {
namespace {

std::string attrs_text(const Attrs& attrs) {
  std::vector<std::string> items;
  for (const auto& [name, value] : attrs) items.push_back(fmt::format("{} = {}", name, to_string(value)));
  return fmt::format("{{{}}}", fmt::join(items, ", "));
}

std::string layout_text(const Layout& layout) { return layout.empty() ? "" : " layout " + to_string(layout); }

class Printer {
 public:
  Printer(const Graph& g, const PrintOptions& options) : g_(g), options_(options) {}

  std::string text() {
    std::vector<std::string> params;
    for (const ValueId v : g_.inputs) {
      const std::string role = to_string(g_[v].role);
      params.push_back((role.empty() ? "" : role + " ") + declaration(v));
    }
    for (const Scalar& s : g_.scalars) params.push_back(fmt::format("${}: {}", s.name, to_string(s.dtype)));
    std::string out = fmt::format("{} @{}({}) ",
                                  g_.schedule ? "kernel"
                                  : g_.body   ? "body"
                                              : "graph",
                                  g_.name, fmt::join(params, ", "));
    Attrs header = g_.schedule ? to_attrs(*g_.schedule) : Attrs{};
    if (g_.arena_bytes >= 0) header["arena"] = g_.arena_bytes;
    if (!header.empty()) out += attrs_text(header) + " ";
    out += "{\n";
    for (const NodeId n : g_.order) out += "  " + node(g_[n]) + "\n";
    for (const Update& u : g_.updates) out += fmt::format("  update {} <- {}\n", name(u.state), name(u.next));
    return out + fmt::format("  return{}{}\n}}\n", g_.outputs.empty() ? "" : " ", list(g_.outputs));
  }

 private:
  std::string name(ValueId v) const { return "%" + g_[v].name; }

  std::string list(const std::vector<ValueId>& values) const {
    std::vector<std::string> names;
    names.reserve(values.size());
    for (const ValueId v : values) names.push_back(name(v));
    return fmt::format("{}", fmt::join(names, ", "));
  }

  std::string declaration(ValueId v) const {
    std::string out = fmt::format("{}: {}{}", name(v), to_string(g_[v].type), layout_text(g_[v].layout));
    const Place& p = g_[v].place;
    if (!p.placed()) return out;
    if (!p.base.valid()) return out + fmt::format(" at {}", p.offset);
    return out + fmt::format(" at {}", name(p.base)) + (p.offset == 0 ? "" : fmt::format(" + {}", p.offset));
  }

  std::string node(const Node& n) const {
    std::vector<std::string> results;
    for (const ValueId r : n.results) results.push_back(declaration(r));
    const std::string what = n.callee.empty() ? n.op->name : n.op->name + " @" + n.callee;
    std::string out = fmt::format("{} = {}({})", fmt::join(results, ", "), what, list(n.operands));
    if (!n.attrs.empty()) out += " " + attrs_text(n.attrs);
    if (options_.locs && n.loc.valid()) out += "  // " + to_string(n.loc);
    return out;
  }

  const Graph& g_;
  const PrintOptions& options_;
};

std::string group_text(const StateGroup& group) {
  std::string out = fmt::format("group @{} {{\n", group.name);
  for (const StateMember& m : group.members)
    out += fmt::format("  {} %{}: {}{} at {}\n", to_string(m.role), m.name, to_string(m.type), layout_text(m.layout),
                       m.offset);
  return out + "}\n";
}

}  // namespace

std::string print(const Graph& g, const PrintOptions& options) { return Printer(g, options).text(); }

std::string print(const Module& m, const PrintOptions& options) {
  std::string out;
  const auto add = [&](const std::string& text) { out += (out.empty() ? "" : "\n") + text; };
  for (const StateGroup& group : m.groups) add(group_text(group));
  for (const Graph& k : m.kernels) add(print(k, options));
  for (const Graph* g : m.all_graphs()) add(print(*g, options));
  return out;
}

}  // namespace heddle::ir
