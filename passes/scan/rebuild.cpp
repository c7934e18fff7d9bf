#include "passes/scan/rebuild.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/builder.h"
#include "ir/scan.h"
#include "passes/dead_code.h"
#include "passes/rewrite.h"

namespace heddle::passes {
using namespace ir;

namespace {

// The values that the results with readers depend on, over all turns. By ValueId index.
std::vector<char> needed_values(const Graph& body, const std::vector<char>& reads_result) {
  std::vector<char> needed(body.value_count(), 0);
  const std::vector<ValueId> carries = inputs_with(body, Role::carry);
  for (size_t i = 0; i < carries.size(); ++i)
    if (reads_result[i]) needed[index_of(next_of(body, carries[i]))] = 1;
  for (size_t i = 0; i < body.outputs.size(); ++i)
    if (reads_result[carries.size() + i]) needed[index_of(body.outputs[i])] = 1;
  for (bool again = true; again;) {
    again = false;
    for (size_t i = body.order.size(); i-- > 0;) {
      const Node& n = body[body.order[i]];
      if (std::ranges::any_of(n.results, [&](ValueId r) { return needed[index_of(r)] != 0; }))
        for (const ValueId v : n.operands) needed[index_of(v)] = 1;
    }
    for (const ValueId c : carries) {
      char& next = needed[index_of(next_of(body, c))];
      if (needed[index_of(c)] && !next) next = 1, again = true;
    }
  }
  return needed;
}

// Trims one body and its scans.
bool trim(Graph& body, const std::vector<ScanOf>& scans) {
  const std::vector<ValueId> carries = inputs_with(body, Role::carry), inputs = operand_inputs(body);
  const size_t results = carries.size() + body.outputs.size();
  std::vector<char> reads_result(results, 0);
  for (const ScanOf& s : scans)
    for (size_t i = 0; i < results; ++i) reads_result[i] |= !s.graph->unused((*s.graph)[s.node].results[i]);
  const std::vector<char> needed = needed_values(body, reads_result);
  std::vector<int> from;  // the results that remain
  std::vector<ValueId> outputs, lost;
  for (size_t i = 0; i < carries.size(); ++i)
    if (needed[index_of(carries[i])] || reads_result[i])
      from.push_back(static_cast<int>(i));
    else
      lost.push_back(carries[i]);
  for (size_t i = 0; i < body.outputs.size(); ++i)
    if (reads_result[carries.size() + i]) {
      from.push_back(static_cast<int>(carries.size() + i));
      outputs.push_back(body.outputs[i]);
    }
  if (from.empty()) return false;  // all results are unused: dead code elimination removes the scan
  body.outputs = outputs;
  body.updates.remove(lost);
  bool changed = remove_dead_nodes(body);
  const bool fewer = from.size() < results;
  const std::vector<ValueId> gone = unread_inputs(body);
  std::vector<char> stays(inputs.size(), 1);
  for (size_t i = 0; i < inputs.size(); ++i) stays[i] = std::ranges::find(gone, inputs[i]) == gone.end();
  if (!fewer && gone.empty()) return changed;
  body.remove_inputs(gone);
  for (const ScanOf& s : scans) {
    std::vector<ValueId> operands;
    const Node& n = (*s.graph)[s.node];
    for (size_t i = 0; i < inputs.size(); ++i)
      if (stays[i]) operands.push_back(n.operands[i]);
    replace_scan(*s.graph, s.node, body, operands, from);
  }
  return true;
}

// A carry that each turn passes on unchanged becomes a fixed input, and its operand replaces its result. If the result
// is an output of the graph or the next value of a state, the carry stays, because such a value keeps its name.
bool fix_unchanged(Graph& body, std::vector<ScanOf>& scans) {
  const std::vector<ValueId> carries = inputs_with(body, Role::carry), inputs = operand_inputs(body);
  const auto leaves = [&](size_t carry) {
    return std::ranges::any_of(scans, [&](const ScanOf& s) {
      const ValueId last = (*s.graph)[s.node].results[carry];
      return s.graph->is_output(last) || s.graph->is_next(last);
    });
  };
  std::vector<ValueId> fixed;
  std::vector<int> from;  // the results that remain
  for (size_t i = 0; i < carries.size(); ++i)
    if (next_of(body, carries[i]) == carries[i] && !leaves(i))
      fixed.push_back(carries[i]);
    else
      from.push_back(static_cast<int>(i));
  for (size_t i = 0; i < body.outputs.size(); ++i) from.push_back(static_cast<int>(carries.size() + i));
  if (fixed.empty() || from.empty()) return false;
  for (const ScanOf& s : scans)
    for (const ValueId c : fixed) {
      const Node& n = (*s.graph)[s.node];
      s.graph->replace_uses(n.results[number_in(carries, c)], n.operands[number_in(inputs, c)]);
    }
  body.updates.remove(fixed);
  for (const ValueId c : fixed) body[c].role = Role::fixed;
  for (ScanOf& s : scans) {
    const std::vector<ValueId> operands = (*s.graph)[s.node].operands;
    s.node = replace_scan(*s.graph, s.node, body, operands, from);
  }
  return true;
}

}  // namespace

ScansByBody::ScansByBody(Module& m) {
  for (Graph* g : m.all_graphs())
    for (const NodeId n : g->order)
      if (is_scan((*g)[n])) by_body_[(*g)[n].callee].push_back({g, n});
}

std::vector<ScanOf> ScansByBody::of(const std::string& body) const {
  const auto found = by_body_.find(body);
  if (found == by_body_.end()) return {};
  std::vector<ScanOf> there = found->second;
  std::erase_if(there, [&](const ScanOf& s) { return gone_.contains(s.graph) || (*s.graph)[s.node].erased; });
  return there;
}

std::vector<ValueId> unread_inputs(const Graph& body) {
  std::vector<ValueId> unread;
  for (const ValueId v : body.inputs)
    if (!body.updates.has_state(v) && body.unused(v)) unread.push_back(v);
  return unread;
}

std::string free_body_name(const Module& m, const std::string& wish) {
  std::string name = wish;
  for (int i = 1; m.find_body(name) != nullptr || m.find_graph(name) != nullptr || m.find_kernel(name) != nullptr; ++i)
    name = fmt::format("{}.{}", wish, i);
  return name;
}

NodeId replace_scan(Graph& g, NodeId old, const Graph& body, const std::vector<ValueId>& operands,
                    const std::vector<int>& from) {
  const Node& node = g[old];
  std::vector<std::string> names;
  for (size_t i = 0; i < from.size(); ++i)
    names.push_back(from[i] >= 0 ? g[node.results[static_cast<size_t>(from[i])]].name
                                 : g[node.results[0]].name + ".saved");
  const NodeId fresh = add_scan(g, body, operands, node.attrs, names, node.loc);
  take_place(g, old);
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] >= 0) g.replace_uses(node.results[static_cast<size_t>(from[i])], g[fresh].results[i]);
  unlink(g, old);
  g.order.pop_back();
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] >= 0) g.rename(g[fresh].results[i], names[i]);
  return fresh;
}

bool trim_scans(Module& m) {
  bool changed = false;
  ScansByBody by_body(m);
  std::vector<char> lost(m.bodies.size(), 0);
  // A body stands before the graphs that scan it. The loop runs backward, so the readers of a body are trimmed first.
  for (size_t i = m.bodies.size(); i-- > 0;) {
    Graph& body = m.bodies[i];
    std::vector<ScanOf> scans = by_body.of(body.name);
    if (scans.empty()) {
      lost[i] = 1;
      by_body.forget(body);
      changed = true;
    } else {
      changed |= fix_unchanged(body, scans);
      changed |= trim(body, scans);
    }
  }
  size_t i = 0;
  std::erase_if(m.bodies, [&](const Graph&) { return lost[i++] != 0; });
  return changed;
}

bool copy_returned_carries(Graph& body) {
  bool changed = false;
  const auto is_renewed = [&](ValueId v) {
    return !body[v].def.valid() && body[v].role == Role::carry && next_of(body, v) != v;
  };
  for (ValueId& v : body.outputs) {
    if (!is_renewed(v)) continue;
    const ValueId carry = v;
    Builder b(body);
    b.insert_at = 0;
    const ValueId copy = b("cast", {carry}, {{"dtype", to_string(body[carry].type.dtype)}}, body[carry].name + ".old");
    std::ranges::replace(body.outputs, carry, copy);
    changed = true;
  }
  return changed;
}

bool replace_indices(Module& m) {
  bool changed = false;
  const ScansByBody by_body(m);
  for (Graph& body : m.bodies) {
    const std::vector<ValueId> index = inputs_with(body, Role::index);
    if (index.empty()) continue;
    changed = true;
    body[index[0]].role = Role::slice;
    const std::vector<ValueId> inputs = operand_inputs(body);
    const auto at = static_cast<std::ptrdiff_t>(number_in(inputs, index[0]));
    const Type type = body[index[0]].type;
    for (const ScanOf& s : by_body.of(body.name)) {
      Graph& g = *s.graph;
      const Node node = g[s.node];
      Builder b(g);
      b.loc = node.loc;
      b.insert_at = place_of(g, s.node);
      const ValueId rows = b("iota", {}, {{"shape", Dims{turns(node)}}, {"dtype", to_string(type.dtype)}},
                             body.name + "." + body[index[0]].name);
      Values operands = node.operands;
      operands.insert(operands.begin() + at, rows);
      std::vector<int> from;
      for (size_t i = 0; i < node.results.size(); ++i) from.push_back(static_cast<int>(i));
      replace_scan(g, s.node, body, operands, from);
    }
  }
  return changed;
}

}  // namespace heddle::passes
