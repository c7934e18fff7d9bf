#include "passes/flatten/flat_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace heddle::passes {
using namespace ir;

namespace {

bool is_taken(const Module& m, const std::vector<FlatGroup>& groups, const std::string& name) {
  const auto in_graph = [&](const Graph& g) { return g.find(name).valid(); };
  if (std::any_of(m.graphs.begin(), m.graphs.end(), in_graph)) return true;
  for (const FlatGroup& group : groups)
    for (const StateGroup& slot : group.slots)
      if (slot.name == name) return true;
  return std::any_of(m.groups.begin(), m.groups.end(), [&](const StateGroup& g) { return g.name == name; });
}

// Names for the flat states of a group: "params", or "params.1" if that is taken. An optimizer's states are named after
// those of the members: "params.m" for "fc1.weight.m".
std::vector<std::string> slot_names(const Module& m, const std::vector<FlatGroup>& groups, const Graph& g,
                                    const UpdateBundle& first) {
  const auto param =
      std::find_if(first.states.begin(), first.states.end(), [&](ValueId s) { return g[s].role == Role::param; });
  const std::string stem = g[*param].name;
  for (int suffix = 0;; ++suffix) {
    const std::string base = suffix == 0 ? "params" : fmt::format("params.{}", suffix);
    std::vector<std::string> names;
    for (size_t k = 0; k < first.states.size(); ++k) {
      const std::string& name = g[first.states[k]].name;
      if (first.states[k] == *param)
        names.push_back(base);
      else
        names.push_back(name.starts_with(stem + ".") ? base + name.substr(stem.size())
                                                     : fmt::format("{}.s{}", base, k));
    }
    if (std::none_of(names.begin(), names.end(), [&](const std::string& n) { return is_taken(m, groups, n); }))
      return names;
  }
}

// The largest power of two that divides the bytes, at most 256.
int64_t alignment(const Type& type) { return std::min<int64_t>(256, type.bytes() & -type.bytes()); }

FlatGroup make_group(const Module& m, const std::vector<FlatGroup>& groups, const Graph& g,
                     std::vector<UpdateBundle> bundles) {
  std::stable_sort(bundles.begin(), bundles.end(), [&](const UpdateBundle& a, const UpdateBundle& b) {
    return alignment(g[a.states[0]].type) > alignment(g[b.states[0]].type);
  });
  FlatGroup group;
  for (const std::string& name : slot_names(m, groups, g, bundles[0])) group.slots.push_back({name, {}});
  int64_t offset = 0;
  for (const UpdateBundle& bundle : bundles) {
    std::vector<std::string> names;
    for (size_t k = 0; k < bundle.states.size(); ++k) {
      const Value& state = g[bundle.states[k]];
      group.slots[k].members.push_back({state.name, state.type, state.role, offset, state.layout});
      names.push_back(state.name);
    }
    offset += g[bundle.states[0]].type.elements();
    group.bundles.push_back(std::move(names));
  }
  return group;
}

}  // namespace

std::vector<FlatGroup> find_flat_groups(const Module& m, const std::vector<UpdatePatterns>& patterns,
                                        const Options& options) {
  std::vector<FlatGroup> groups;
  std::set<std::string> grouped;  // states
  for (size_t i = 0; i < m.graphs.size(); ++i) {
    const Graph& g = m.graphs[i];
    for (const std::vector<UpdateBundle>& set : patterns[i].sets) {
      const auto known = [&](const UpdateBundle& b) { return grouped.count(g[b.states[0]].name) != 0; };
      if (std::any_of(set.begin(), set.end(), known)) continue;  // grouped by an earlier graph
      if (set.size() > 1) {
        groups.push_back(make_group(m, groups, g, set));
        for (const auto& names : groups.back().bundles) grouped.insert(names.begin(), names.end());
        options.note("flatten", g, "%" + groups.back().slots[0].name, fmt::format("holds {} states", set.size()));
      } else {
        options.note("flatten", g, "%" + g[set[0].states[0]].name, "stays alone: no other parameter is updated alike");
      }
    }
  }
  return groups;
}

}  // namespace heddle::passes
