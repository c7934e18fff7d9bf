#include "passes/fuse/cast_for_calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/builder.h"
#include "ir/check.h"
#include "passes/rewrite.h"

namespace heddle::passes {
using namespace ir;

namespace {

bool is_call(const Node& n) { return std::holds_alternative<Call>(n.op->kind); }

// f32 of a state of 16 bits.
bool widens_state(const Graph& g, const Node& n) {
  if (!n.op->traits.converts || g.def(n.operands[0]) != nullptr) return false;
  const Value &from = g[n.operands[0]], &to = g[n.results[0]];
  const bool narrow = is_floating(from.type.dtype) && bits(from.type.dtype) == 16;
  return narrow && to.type.dtype == DType::f32 && (from.role == Role::param || from.role == Role::fixed);
}

// What else the call reads and a node has made, behind which its cast comes; invalid: nothing.
ValueId other_operand(const Graph& g, const Node& call, ValueId wide) {
  ValueId last;
  for (const ValueId v : call.operands)
    if (v != wide && g.def(v) != nullptr && !widens_state(g, *g.def(v))) last = v;
  return last;
}

}  // namespace

bool cast_for_calls(Graph& g, const Options& options) {
  bool changed = false;
  for (const NodeId id : std::vector<NodeId>(g.order)) {
    if (g[id].erased || !widens_state(g, g[id])) continue;
    const ValueId wide = g[id].results[0], state = g[id].operands[0];
    std::vector<NodeId> calls;
    const std::vector<NodeId> uses = g[wide].uses;
    std::ranges::copy_if(uses, std::back_inserter(calls), [&](NodeId use) { return is_call(g[use]); });
    const std::vector<int> places = g.positions();
    std::ranges::sort(calls, {}, [&](NodeId n) { return places[index_of(n)]; });
    calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
    if (calls.empty() || std::ranges::all_of(uses, [&](NodeId use) { return use == calls[0]; })) continue;
    for (const NodeId call : calls) {
      Builder b(g);
      b.loc = g[id].loc;
      b.insert_at = place_of(g, call);
      const ValueId earlier = other_operand(g, g[call], wide);
      const ValueId from = earlier.valid() ? b("ordered_after", {state, earlier}, {}, g[state].name + ".again") : state;
      const ValueId own = b("cast", {from}, g[id].attrs, g[wide].name);
      options.note("fuse", g, "%" + g[own].name, "a copy for one call of a library, which reads no 16 bits");
      for (size_t i = 0; i < g[call].operands.size(); ++i)
        if (g[call].operands[i] == wide) g.set_operand(call, i, own);
      changed = true;
    }
    if (g.unused(wide)) g.erase(id);
  }
  return changed;
}

}  // namespace heddle::passes
