#include "passes/fuse/remarks.h"

#include <fmt/format.h>

namespace heddle::passes {
using namespace ir;

FusionRemarks::FusionRemarks(const Graph& g, Groups& groups, const Refusals& refused, const Options& options)
    : g_(g), groups_(groups), refused_(refused), options_(options) {
  if (!options.remark) return;
  for (int i = 0; i < groups.count(); ++i)
    for (const int reader : groups.readers(i))
      if (!groups[i].fixed && !groups[reader].fixed) edges_.emplace_back(groups[i].owned[0], groups[reader].owned[0]);
}

void FusionRemarks::groups_made() {
  if (!options_.remark) return;
  for (const NodeId n : groups_.roles().apart)
    options_.note("fuse", g_, name_of(n),
                  "its parts have kernels of their own: one kernel would compute each of them for every element");
  for (const auto& [from, to] : edges_) {
    const int a = groups_.of(from), b = groups_.of(to);
    if (a != b) notes_.push_back({a, b, edge_name(from, to), reason_between(from, to)});
  }
  find_left_in_memory();
}

// Names of copied nodes' results that others need in memory: whoever comes later reads them there instead of a copy.
void FusionRemarks::find_left_in_memory() {
  for (const NodeId n : g_.order)
    if (groups_.roles()(n) == FusionRole::copied && groups_.roles().roots_group(n))
      for (const ValueId v : g_[n].results) left_in_memory_.insert(g_[v].name);
}

void FusionRemarks::split(int group, const std::string& reason) {
  for (const auto& [from, to] : edges_)
    if (groups_.of(from) == group && groups_.of(to) == group)
      options_.note("fuse", g_, edge_name(from, to),
                    "not fused: beside what another kernel leaves in memory they have no schedule: " + reason);
}

void FusionRemarks::outlined(const std::vector<NodeId>& owned, const Sketch& s) {
  for (const ValueId v : s.operands)
    if (left_in_memory_.count(g_[v].name) != 0)
      options_.note("fuse", g_, fmt::format("%{} -> {}", g_[v].name, name_of(owned.front())),
                    "not fused: another kernel leaves it in memory, where it is needed anyway");
}

void FusionRemarks::tell_edges() {
  for (const EdgeNote& note : notes_)
    options_.note("fuse", g_, note.edge, "not fused: " + note.reason + kernels_of(note));
}

std::string FusionRemarks::name_of(NodeId n) const { return "%" + g_[g_[n].results[0]].name; }

std::string FusionRemarks::edge_name(NodeId from, NodeId to) const { return name_of(from) + " -> " + name_of(to); }

std::string FusionRemarks::kernels_of(const EdgeNote& note) const {
  const auto from = kernels_.find(note.from), to = kernels_.find(note.to);
  if (from == kernels_.end() || to == kernels_.end()) return {};
  return fmt::format(" (@{} and @{})", from->second, to->second);
}

std::string FusionRemarks::reason_between(NodeId from, NodeId to) {
  const int a = groups_.of(from), b = groups_.of(to);
  const std::map<int, std::string>& refused = refused_[static_cast<size_t>(a)];
  if (const auto reason = refused.find(b); reason != refused.end()) return reason->second;
  switch (groups_.separation(a, b).answer) {
    case GroupOrder::Separation::Answer::apart: break;
    case GroupOrder::Separation::Answer::path: return between(from, to);
    case GroupOrder::Separation::Answer::unknown: return "another kernel may lie between";
  }
  return fmt::format("their iteration spaces differ: {} and {} points", groups_[a].points, groups_[b].points);
}

// Names a group on a path from one node to the other. Like the search of GroupOrder, it gives up after a number of
// groups.
std::string FusionRemarks::between(NodeId from, NodeId to) const {
  const int b = groups_.of(to);
  for (const int next : groups_.readers(groups_.of(from)))
    if (next != b && reaches(next, b))
      return fmt::format("{0} lies between: it needs {1}, and {2} needs it", name_of(groups_[next].owned[0]),
                         name_of(from), name_of(to));
  return "another kernel lies between";
}

bool FusionRemarks::reaches(int from, int to) const {
  constexpr size_t kMostSearched = 1024;
  std::set<int> seen{from};
  for (std::vector<int> waiting{from}; !waiting.empty() && seen.size() < kMostSearched;) {
    const int group = waiting.back();
    waiting.pop_back();
    for (const int next : groups_.readers(group)) {
      if (next == to) return true;
      if (seen.insert(next).second) waiting.push_back(next);
    }
  }
  return false;
}

void note_primitive(const Graph& g, const Node& n, const Options& options) {
  if (!options.remark) return;
  const auto name = [&](const Node& node) { return "%" + g[node.results[0]].name; };
  const auto note = [&](const Node& from, const Node& to) {
    options.note("fuse", g, fmt::format("{} -> {}", name(from), name(to)),
                 fmt::format("not fused: {} is a kernel of its own", n.op->name));
  };
  for (const ValueId v : n.operands)
    if (const Node* def = g.def(v); def != nullptr) note(*def, n);
  for (const ValueId r : n.results)
    for (const NodeId use : g[r].uses) note(n, g[use]);
}

}  // namespace heddle::passes
