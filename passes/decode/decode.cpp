#include "passes/decode/decode.h"

#include <utility>

#include "passes/decode/needs.h"
#include "passes/decode/step_graph.h"

namespace heddle::passes {

Decoded decode(const ir::Module& m, const ir::Graph& forward, size_t result, ir::ValueId text) {
  const Needs needs = find_needs(m, forward, result, text);
  StepGraph step = step_graph(needs);
  Decoded done;
  if (!step.states.empty()) done.reorder = reorder_graph(step, needs.sizes.rows);
  if (!needs.kept.empty()) done.encode = encode_graph(needs);
  if (needs.limited) done.context = needs.sizes.tokens;
  done.graph = std::move(step.graph);
  return done;
}

}  // namespace heddle::passes
