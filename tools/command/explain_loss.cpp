#include "tools/command/explain_loss.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "ir/dependencies.h"
#include "ir/evaluate/evaluate_node.h"
#include "runtime/weights/program_weights.h"
#include "tools/command/step_again.h"
#include "tools/command/trace_finite.h"
#include "tools/driver/fit_weights.h"

namespace heddle::tools {
namespace {

using ir::Graph;
using ir::NamedTensors;
using ir::Tensor;
using ir::ValueId;

constexpr double kMostFlops = 1e9;  // of all steps that are done again: some seconds

// The states as a run begins with them.
NamedTensors first_states(const RunArguments& a, Run& run, const Graph& g) {
  driver::Session& s = run.session;
  driver::initialise(s);
  if (!a.weights.empty()) {
    runtime::WeightsFile weights = read_start(a, run.read.model);
    driver::require_weights(weights, s.plan, s.program, /*begins=*/true);
    runtime::load_weights(*s.executable, weights);
  }
  return read_states(s, g);
}

uint64_t seed_of(const Run& run) { return static_cast<uint64_t>(run.session.plan.seed); }

std::vector<uint32_t> order_of(const Run& run) {
  return runtime::epoch_order(*run.session.splits.train, run.session.plan.in_order, seed_of(run), 0);
}

// The first element that is not finite; 0 where all are.
double not_finite(const Tensor& t) {
  const auto at = std::ranges::find_if_not(t.real, [](double x) { return std::isfinite(x); });
  return at == t.real.end() ? 0 : *at;
}

struct Found {
  const ir::Node* node = nullptr;  // whose operands are finite, and a result is not
  std::string name;                // of the result
  double value = 0;                // the first that is not
  int64_t step = 0;
  std::vector<std::string> losses;  // of several, those that are not finite at the end
};

// One step: the states become those behind it.
class Step {
 public:
  Step(const StepAgain& again, NamedTensors& tensors) : again_(again), g_(again.step()), values_(g_.value_count()) {
    for (const ValueId v : g_.inputs) values_[index(v)] = ir::rounded(tensors.at(g_[v].name));
  }

  // The first of the loss's ancestors; where the loss is finite, of the next parameters' that are not among them.
  Found run(NamedTensors& tensors) {
    const std::vector<char> of_loss = ir::dependencies(g_, {g_.find("loss")}),
                            of_update = ir::dependencies(g_, next_parameters());
    Found in_loss, in_update;
    for (const ir::NodeId id : g_.order) {
      const ir::Node& n = g_[id];
      const bool finite = evaluate(n);
      for (const ValueId v : n.results) {
        Found& found = of_loss[index(v)] ? in_loss : in_update;
        const double value = not_finite(values_[index(v)]);
        if (found.node == nullptr && (of_loss[index(v)] || of_update[index(v)]) && finite && value != 0)
          found = {.node = &n, .name = g_[v].name, .value = value, .losses = {}};
      }
    }
    const bool loss_is_finite = std::isfinite(value_of("loss"));
    Found found = inside_loop(loss_is_finite ? in_update : in_loss, tensors,
                              loss_is_finite ? next_parameters() : ir::Values{g_.find("loss")});
    for (const ir::Update& u : g_.updates) tensors[g_[u.state].name] = values_[index(u.next)];
    return found;
  }

  double value_of(const std::string& name) const {
    const ValueId v = g_.find(name);
    return v.valid() && values_[index(v)].real.size() == 1 ? values_[index(v)].real[0] : 0;
  }

 private:
  static size_t index(ValueId v) { return static_cast<size_t>(v.index); }

  ir::Values next_parameters() const {
    ir::Values next;
    for (const ir::Update& u : g_.updates)
      if (g_[u.state].role == ir::Role::param) next.push_back(u.next);
    return next;
  }

  // Of a loop, the operator of its body that makes the number: a scan, or the micro-batches of a step.
  Found inside_loop(Found found, const NamedTensors& inputs, const ir::Values& targets) const {
    if (found.node == nullptr || found.node->callee.empty()) return found;
    const std::optional<Origin> origin = trace_not_finite(again_.module, g_, inputs, {targets});
    if (!origin || origin->node == nullptr) return found;
    return {.node = origin->node,
            .name = name_in(*origin->graph, origin->result),
            .value = origin->value,
            .losses = found.losses};
  }

  // Whether it reads something, all of which is finite.
  bool evaluate(const ir::Node& n) {
    ir::Operands operands;
    for (const ValueId v : n.operands) operands.push_back(&values_[index(v)]);
    const bool finite = std::ranges::all_of(operands, [](const Tensor* t) { return not_finite(*t) == 0; });
    std::vector<Tensor> results = ir::evaluate_node(again_.module, g_, n, operands, ir::Precision::rounded);
    for (size_t i = 0; i < results.size(); ++i) values_[index(n.results[i])] = std::move(results[i]);
    return finite && !operands.empty();
  }

  const StepAgain& again_;
  const Graph& g_;
  std::vector<Tensor> values_;
};

std::string help_of(const Found& found, bool gradient, bool optimizer, int64_t step) {
  const std::string later = step > 1 ? "; else a lower lr or a clip_norm may keep it finite" : "";
  if (optimizer) return "a lower lr or a clip_norm may keep it finite";
  if (gradient)
    return "a derivative is infinite there, as a square root's is at 0: add a small number to what it reads" + later;
  if (const std::optional<std::string> limits = own_limits(*found.node->op)) return *limits + later;
  return "its numbers grow too large: scale inputs to about -1 to 1, and look at the initial weights before it" + later;
}

UserError error_of(const StepAgain& again, const Run& run, const Found& found, int64_t step, const std::string& what) {
  const bool gradient = !again.forward.contains(found.name);
  const std::string title = title_at(run.read.model, *found.node);
  const bool optimizer = title.starts_with("optimizer ") || title.starts_with("constraint ");
  const double value = std::isnan(found.value) ? std::abs(found.value) : found.value;
  const std::string losses = found.losses.empty() ? "" : fmt::format(", of {}", fmt::join(found.losses, " and "));
  return {found.node->loc,
          fmt::format("{}{}: {}{} makes the first {}{}", what, losses, gradient && !optimizer ? "the gradient of " : "",
                      title, value, found.step < step ? fmt::format(", in step {}", found.step) : ""),
          help_of(found, gradient, optimizer, step)};
}

std::optional<UserError> explain(const RunArguments& a, Run& run, int64_t step, const std::string& what) {
  if (!run.session.plan.buckets.empty()) return std::nullopt;  // steps of several lengths are not done again
  const StepAgain again = build_again(a, run, "train");
  if (flops_of(again.step()) * static_cast<double>(step) > kMostFlops) return std::nullopt;
  NamedTensors tensors = first_states(a, run, again.step());
  const std::vector<uint32_t> order = order_of(run);
  BatchesAgain batches(a, run, again.step(), run.session.splits.train->table, order,
                       {.seed = seed_of(run), .epoch = 0, .training = true});
  Found first;
  for (int64_t i = 1; i <= step; ++i) {
    batches.next(again.step(), tensors);
    Step now(again, tensors);
    const Found found = now.run(tensors);
    if (first.node == nullptr) first = found, first.step = i;
    for (const frontend::Metric& loss : run.session.plan.metrics)
      if (i == step && (loss.name.starts_with("loss_") || loss.name.starts_with("penalty_")) &&
          !std::isfinite(now.value_of(loss.name)))
        first.losses.push_back(loss.name);
  }
  return first.node == nullptr ? std::nullopt : std::optional(error_of(again, run, first, step, what));
}

}  // namespace

std::optional<UserError> explain_loss(const RunArguments& a, Run& run, int64_t step, const std::string& what) {
  try {
    return explain(a, run, step, what);
  } catch (const UserError&) {  // an operator without an oracle, no room, no compiler: the error is told as it is
    return std::nullopt;
  }
}

}  // namespace heddle::tools
