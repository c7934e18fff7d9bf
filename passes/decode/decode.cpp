#include "passes/decode/decode.h"

#include <utility>

#include "passes/dead_code.h"
#include "passes/decode/needs.h"
#include "passes/decode/shifted_text.h"
#include "passes/decode/state_graphs.h"
#include "passes/decode/step_graph.h"

namespace heddle::passes {

namespace {

// Removes the outputs, and the nodes and parameters that only they need.
ir::Graph without_result(ir::Graph g) {
  g.outputs.clear();
  remove_dead_nodes(g);
  ir::Values unused;
  for (const ir::ValueId v : g.inputs)
    if (g.unused(v) && g[v].role != ir::Role::input && g[v].role != ir::Role::state) unused.push_back(v);
  g.remove_inputs(unused);
  return g;
}

}  // namespace

Decoded decode(const ir::Module& m, const ir::Graph& forward, size_t result, ir::ValueId text, int64_t chunk) {
  ir::Graph read = forward;
  const std::optional<FirstToken> first = take_shifted_text(read, text);
  const Needs needs = find_needs(m, std::move(read), result, first ? first->text : text);
  StepGraph step = step_graph(needs, 1);
  Decoded done;
  if (first) done.first = first->token;
  if (!step.states.empty()) done.reorder = reorder_graph(step, needs.sizes.rows);
  if (!needs.kept.empty()) done.encode = encode_graph(needs);
  if (needs.limited) done.context = needs.sizes.tokens;
  if (chunk > 1 && !step.states.empty()) {
    StepGraph some = step_graph(needs, chunk);
    done.bodies = std::move(some.bodies);
    done.prefill = without_result(std::move(some.graph));
  }
  done.graph = std::move(step.graph);
  return done;
}

}  // namespace heddle::passes
