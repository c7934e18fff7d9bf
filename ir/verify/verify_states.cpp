#include "ir/verify/verify_states.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "ir/storage/storage.h"

namespace heddle::ir {
namespace {

bool inside(const StateMember& member, const Type& flat) {
  return member.offset >= 0 && member.offset <= flat.elements() &&
         member.type.elements() <= flat.elements() - member.offset;
}

using States = std::unordered_map<std::string_view, const Value*>;  // by name: the first graph's

void verify_group(const StateGroup& group, const States& states, std::unordered_set<std::string_view>& names,
                  std::vector<std::string>& problems) {
  const auto flat = states.find(group.name);
  if (flat == states.end()) {
    problems.push_back(fmt::format("group %{}: no graph has this state", group.name));
    return;
  }
  std::vector<const StateMember*> by_offset;
  for (const StateMember& member : group.members) {
    if (!names.insert(member.name).second) problems.push_back(fmt::format("state %{} is listed twice", member.name));
    if (member.type.dtype != flat->second->type.dtype)
      problems.push_back(fmt::format("%{} has another element type than %{}", member.name, group.name));
    if (!is_layout(member.layout, member.type.rank()))
      problems.push_back(fmt::format("%{} has a layout that is none of its own axes", member.name));
    if (!inside(member, flat->second->type))
      problems.push_back(fmt::format("%{} lies outside %{}", member.name, group.name));
    else
      by_offset.push_back(&member);
  }
  std::stable_sort(by_offset.begin(), by_offset.end(),
                   [](const StateMember* a, const StateMember* b) { return a->offset < b->offset; });
  int64_t end = 0;
  for (const StateMember* member : by_offset) {
    if (member->offset < end)
      problems.push_back(fmt::format("%{} overlaps another member of %{}", member->name, group.name));
    end = std::max(end, member->offset + member->type.elements());
  }
}

}  // namespace

std::vector<std::string> verify_states(const Module& m) {
  std::vector<std::string> problems;
  States states;
  for (const Graph& g : m.graphs)
    for (const ValueId v : g.inputs) {
      const std::string& name = g[v].name;
      if (!g[v].layout.empty() && !(is_state(g[v]) && is_layout(g[v].layout, g[v].type.rank())))
        problems.push_back(fmt::format("@{}: %{} has a layout that is none of its own axes", g.name, name));
      if (!is_state(g[v])) continue;
      const Value& known = *states.try_emplace(name, &g[v]).first->second;
      if (known.type != g[v].type)
        problems.push_back(fmt::format("@{}: state %{} has another type in another graph", g.name, name));
      if (known.role != g[v].role)
        problems.push_back(fmt::format("@{}: %{} is a param in one graph, a state in another", g.name, name));
      if (known.layout != g[v].layout)
        problems.push_back(fmt::format("@{}: state %{} has another layout in another graph", g.name, name));
    }
  std::unordered_set<std::string_view> names, flat;
  for (const StateGroup& group : m.groups) {
    if (!flat.insert(group.name).second) problems.push_back(fmt::format("group %{} is listed twice", group.name));
    verify_group(group, states, names, problems);
  }
  for (const StateGroup& group : m.groups)
    for (const StateMember& member : group.members)
      if (states.count(member.name))
        problems.push_back(fmt::format("%{} is a member of a flat state and a state of its own", member.name));
  return problems;
}

}  // namespace heddle::ir
