// The offers of later passes for a node that no library executes: fuse makes a kernel of generated text, decompose
// makes operators.
#include "ir/kernel/cost.h"
#include "ir/op_def.h"
#include "passes/fuse/choose_schedule.h"
#include "passes/select/forms.h"

namespace heddle::passes {
using namespace ir;

namespace {

// Planning a kernel is slow, so a lower bound is returned if it is enough to decide.
Figure figure_of_text(const Graph& kernel, const Target& target, double best) {
  Graph trial = kernel;
  trial.schedule.reset();
  const Figure bound{.seconds = least_seconds_of_loops(trial, moved_and_computed(trial), target), .at_least = true};
  if (!target.gpu && bound.seconds >= best) return bound;
  const FormChoice choice = choose_schedule(trial, target);
  return choice.reason.empty() ? Figure{choice.cost.seconds} : bound;
}

// A lower bound: at best, all parts run in one kernel.
Figure figure_of_parts(const Graph& kernel, const Target& target) {
  return {.seconds = least_seconds_of_loops(kernel, moved_and_computed(kernel), target), .at_least = true};
}

}  // namespace

std::vector<Offer> offers_of_later(const Asked& asked) {
  const Target& target = asked.options.target;
  Offer offer{.detail = asked.options.libraries.empty() ? "as there is no library" : ""};
  if (std::holds_alternative<Composite>(asked.graph[asked.node].op->kind)) {
    offer.name = kDecomposed;
    const OpDef& op = *asked.graph[asked.node].op;
    if (op.forms.empty())
      offer.figure = [&target](const Graph& kernel, double) { return figure_of_parts(kernel, target); };
    else {  // an estimate instead of a bound: a bound is never preferred to the figures of other forms
      offer.refusal = refusal_of_parts(asked.graph, asked.node);
      offer.figure = [&op, &options = asked.options](const Graph& kernel, double) {
        return figure_of_form(kernel, op.decomposition, options);
      };
    }
  } else {
    offer.name = kGeneratedText;
    offer.figure = [&target](const Graph& kernel, double best) { return figure_of_text(kernel, target, best); };
  }
  return {std::move(offer)};
}

}  // namespace heddle::passes
