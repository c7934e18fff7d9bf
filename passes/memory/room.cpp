#include "passes/memory/room.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/op_def.h"
#include "ir/storage/storage.h"

namespace heddle::passes {
using namespace ir;

namespace {

int64_t limit(const Options& options) {
  return options.memory_bytes > 0 ? options.memory_bytes : options.target.memory_bytes;
}

[[noreturn]] void refuse(const std::string& what, int64_t bytes, const Options& options, const Location& where,
                         const std::string& help = {}) {
  std::string text =
      fmt::format("{} {} bytes, and a program for {} may take {}", what, bytes, options.target.name, limit(options));
  std::string remedy = help + (help.empty() ? "" : "; ") + "--memory-limit allows more";
  throw UserError({{Severity::error, where, std::move(text), {}, std::move(remedy)}}, ExitCode::limit);
}

// The location of the node that computes the value, or else of one that reads it.
Location place_of(const Graph& g, ValueId v) {
  if (const Node* n = g.def(v); n != nullptr) return n->loc;
  for (const NodeId use : g[v].uses)
    if (g[use].loc.valid()) return g[use].loc;
  return {};
}

void require_room_for(const Graph& g, ValueId v, const Options& options) {
  if (g[v].type.bytes() > limit(options))
    refuse(fmt::format("%{}: {} takes", g[v].name, to_string(g[v].type)), g[v].type.bytes(), options, place_of(g, v));
}

// Calls f(graph, value) for each value, except states, that lies in memory whatever the passes do.
template <class F>
void for_each_tensor(const Module& m, F f) {
  for (const Graph* graph : m.all_graphs()) {
    const Graph& g = *graph;
    for (const NodeId n : g.order)
      if (std::holds_alternative<Contraction>(g[n].op->kind) || std::holds_alternative<Scan>(g[n].op->kind))
        for (const ValueId r : g[n].results) f(g, r);
    for (const ValueId v : g.inputs)
      if (!is_state(g[v])) f(g, v);
  }
}

struct States {
  int64_t bytes = 0, largest = 0;
  std::string name;
  Location where;  // location of the largest state
};

// The states of all graphs, each counted once.
States all_states(const Module& m) {
  States all;
  std::set<std::string> known;
  for (const Graph& g : m.graphs)
    for (const ValueId v : g.inputs) {
      if (!is_named_state(g[v])) continue;
      const int64_t bytes = g[v].type.bytes();
      const bool is_new = known.insert(g[v].name).second;
      if (is_new) all.bytes += bytes;
      const Location where = place_of(g, v);
      if (bytes > all.largest || (bytes == all.largest && !all.where.valid() && where.valid())) {
        all.largest = bytes;
        all.name = g[v].name;
        all.where = where;
      }
    }
  return all;
}

}  // namespace

void require_room_for_tensors(const Module& m, const Options& options) {
  for_each_tensor(m, [&](const Graph& g, ValueId v) { require_room_for(g, v, options); });
  const States states = all_states(m);
  // A decoding step has caches for each row, but no moments.
  const bool trains = std::ranges::none_of(m.graphs, [](const Graph& g) { return g.name == "decode"; });
  if (states.bytes > limit(options))
    refuse(fmt::format("parameters and {}, %{} the largest, take",
                       trains ? "their moments" : "what is kept of each text", states.name),
           states.bytes, options, states.where, trains ? "" : "a smaller batch, or fewer beams, takes less");
}

void require_room_for_plan(const Module& m, const Options& options) {
  const int64_t states = all_states(m).bytes;
  for (const Graph& g : m.graphs)
    if (states + g.arena_bytes > limit(options))
      refuse(fmt::format("states of {} bytes and the arena of @{} take", states, g.name), states + g.arena_bytes,
             options, {}, "a smaller batch takes less");
}

int64_t largest_tensor(const Module& m) {
  int64_t most = all_states(m).bytes;
  for_each_tensor(m, [&](const Graph& g, ValueId v) { most = std::max(most, g[v].type.bytes()); });
  return most;
}

int64_t planned_bytes(const Module& m) {
  int64_t arena = 0;
  for (const Graph& g : m.graphs) arena = std::max(arena, g.arena_bytes);
  return all_states(m).bytes + arena;
}

}  // namespace heddle::passes
