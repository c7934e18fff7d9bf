#include "passes/outline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/check.h"
#include "ir/copy_node.h"
#include "ir/op_def.h"
#include "ir/visit.h"
#include "passes/rewrite.h"

namespace heddle::passes {

using namespace ir;

std::string body_key(const Graph& k) {
  std::string key;
  for (const auto& [name, value] : to_attrs(*k.schedule)) key += name + "=" + to_string(value) + ";";
  for (ValueId v : k.inputs) key += to_string(k[v].type) + ",";
  std::vector<int> number(k.value_count(), -1);
  int next = 0;
  for (ValueId v : k.inputs) number[static_cast<size_t>(v.index)] = next++;
  auto id = [&](ValueId v) { return fmt::format(" {}", number[static_cast<size_t>(v.index)]); };
  for (NodeId n : k.order) {
    key += "\n" + k[n].op->name;
    for (ValueId v : k[n].operands) key += id(v);
    for (const auto& [name, value] : k[n].attrs) key += ";" + name + "=" + to_string(value);
    for (ValueId v : k[n].results) {
      number[static_cast<size_t>(v.index)] = next++;
      key += " " + to_string(k[v].type);
    }
  }
  key += "\nreturn";
  for (ValueId v : k.outputs) key += id(v);
  return key;
}

KernelTable::KernelTable(Module& m) : m_(m) {
  for (const Graph& k : m.kernels) {
    names_.emplace(body_key(k), k.name);
    taken_.insert(k.name);
  }
  for (const Graph& body : m.bodies) taken_.insert(body.name);
}

std::string KernelTable::add(Graph&& kernel) {
  const auto [known, is_new] = names_.emplace(body_key(kernel), "");
  if (!is_new) return known->second;
  const std::string base = kernel_name(kernel);
  kernel.name = base;
  for (int& suffix = next_suffix_[base]; !taken_.insert(kernel.name).second;)
    kernel.name = fmt::format("{}.{}", base, ++suffix);
  m_.kernels.push_back(std::move(kernel));
  return known->second = m_.kernels.back().name;
}

std::string kernel_name(const Graph& kernel) {
  constexpr size_t kLongest = 32;
  // All operators of a kernel of joined primitives are the same.
  if (kernel.schedule && std::holds_alternative<schedules::Primitive>(kernel.schedule->how))
    return kernel[kernel.order[0]].op->name;
  std::string all, computing;
  std::set<std::string> named;
  bool cut = false;
  for (NodeId id : kernel.order) {
    const OpDef& op = *kernel[id].op;
    all += (all.empty() ? "" : ".") + op.name;
    const bool computes = visit_kind(
        op, [](const OneOf<Source, Movement> auto&) { return false; },
        [](const OneOf<Elementwise, Lookup, Reduction, Contraction, Primitive, Composite, Gradient, Call, Scan> auto&) {
          return true;
        });
    if (!computes || !named.insert(op.name).second) continue;
    cut = cut || computing.size() + op.name.size() > kLongest;
    if (!cut) computing += op.name + ".";
  }
  return all.size() <= kLongest ? all : fmt::format("{}x{}", computing, kernel.order.size());
}

Extract extract(const Graph& g, const std::vector<NodeId>& nodes, const std::vector<ValueId>& results, Slots slots) {
  Extract e;
  std::map<ValueId, ValueId> inner;
  auto operand = [&](ValueId v) {
    if (auto found = inner.find(v); found != inner.end()) return found->second;
    ValueId in = e.kernel.add_input(g[v].name, g[v].type, Role::none);
    e.operands.push_back(v);
    if (slots == Slots::shared) inner[v] = in;
    return in;
  };
  for (NodeId id : nodes) {
    const Node& n = g[id];
    std::vector<ValueId> operands;
    for (ValueId v : n.operands) operands.push_back(operand(v));
    const NodeId copy = copy_node(e.kernel, g, n, std::move(operands));
    for (size_t i = 0; i < n.results.size(); ++i) inner[n.results[i]] = e.kernel[copy].results[i];
  }
  for (const ValueId r : results) e.kernel.outputs.push_back(inner.at(r));
  return e;
}

NodeId replace_by_call(Graph& g, const Members& members, const std::vector<ValueId>& operands,
                       const std::vector<ValueId>& results, const std::string& kernel) {
  std::vector<std::string> names;
  std::vector<Type> types;
  for (ValueId v : results) {
    names.push_back(g[v].name);
    types.push_back(g[v].type);
  }
  const NodeId call = g.add_node(op_def("call"), operands, {}, names, types, g[members.nodes.back()].loc);
  g[call].callee = kernel;
  for (size_t i = 0; i < results.size(); ++i) g.replace_uses(results[i], g[call].results[i]);
  for (auto it = members.nodes.rbegin(); it != members.nodes.rend(); ++it)
    if (!members.copied.count(*it) || g.unused(g[*it].results[0])) unlink(g, *it);
  for (size_t i = 0; i < names.size(); ++i) g.rename(g[call].results[i], names[i]);
  return call;
}

void sort_topologically(Graph& g) {
  drop_erased(g);
  std::vector<NodeId> sorted;
  std::vector<char> done(g.node_count(), 0), open(g.node_count(), 0);
  std::vector<NodeId> stack;
  for (NodeId root : g.order) {
    stack.push_back(root);
    while (!stack.empty()) {
      NodeId n = stack.back();
      if (done[static_cast<size_t>(n.index)]) {
        stack.pop_back();
        continue;
      }
      size_t waiting = stack.size();
      open[static_cast<size_t>(n.index)] = 1;
      for (ValueId v : g[n].operands)
        if (NodeId def = g[v].def; def.valid() && !done[static_cast<size_t>(def.index)]) {
          HEDDLE_CHECK(!open[static_cast<size_t>(def.index)], "%" + g[v].name + " is made of itself");
          stack.push_back(def);
        }
      if (stack.size() != waiting) continue;
      done[static_cast<size_t>(n.index)] = 1;
      sorted.push_back(n);
      stack.pop_back();
    }
  }
  g.order = std::move(sorted);
}

}  // namespace heddle::passes
