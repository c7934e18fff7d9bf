// heddle evaluate: a model with saved weights on its data set.
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "ir/diagnostic.h"
#include "runtime/json_text.h"
#include "runtime/train/trainer.h"
#include "tools/command/check_finite.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/evaluate_graphs.h"
#include "tools/command/open_run.h"
#include "tools/command/output.h"

namespace heddle::tools {
namespace {

int eval(const RunArguments& a) {
  Run run;
  open_run(a, driver::Purpose::evaluation, run);
  announce(a, run);
  load_weights(run);
  open_generated(a, run);
  driver::Session& s = run.session;
  runtime::JsonObject metrics;
  const auto evaluate = [&](const std::string& name, const std::optional<runtime::Split>& split) {
    if (!split) return;
    runtime::Watcher watcher;
    watcher.note = note;
    if (a.check_finite) watcher.origin = [&](const runtime::FaultyStep& step) { return check_finite(a, run, step); };
    runtime::MetricValues values = driver::evaluate(s, *split, watcher);
    std::ranges::move(generated_metrics(run, *split, {}), std::back_inserter(values));
    report_metrics(name, values);
    metrics.raw(name, runtime::metrics_json(values));
  };
  evaluate("validation", s.splits.validation);
  evaluate("test", s.splits.test);
  runtime::JsonObject out;
  out.text("model", s.plan.name).raw("metrics", metrics.str()).integer("steps", 0).number("seconds", process_seconds());
  add_common(out, run);
  if (a.json) print_result("{}\n", out.str());
  return 0;
}

}  // namespace

void add_eval(CommandLine& line) {
  Command command = line.add_subcommand(
      "evaluate", "evaluate saved weights on the validation and test splits; a .hir file: run its graphs on tensors",
      "eval");
  const auto a = std::make_shared<RunArguments>();
  const std::shared_ptr<EvaluateArguments> graphs = add_graph_arguments(command);
  add_run_arguments(command, *a);
  add_weights_arguments(command, *a, "the weights (safetensors)");
  command.add_flag("--check-finite", a->check_finite,
                   "name the operator, line and row that made the first nan or infinity of a loss");
  const auto precision = std::make_shared<std::string>();
  command.add_option("--precision", *precision, "compute in f32, not as train.precision and int8 weights say")
      .one_of({"f32"});
  command.run([a, graphs, precision] {
    if (!precision->empty()) compute_in_f32(a->model);
    if (takes_graphs(*graphs, a->model.model)) return evaluate_graphs(*graphs, a->model.model), 0;
    if (a->weights.empty())
      throw UserError(ExitCode::usage, "--weights is required", "heddle evaluate MODEL --weights FILE.safetensors");
    return eval(*a);
  });
}

}  // namespace heddle::tools
