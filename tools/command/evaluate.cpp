// heddle evaluate: a model with saved weights on its data set.
#include <memory>
#include <optional>
#include <string>

#include "ir/diagnostic.h"
#include "runtime/json_text.h"
#include "runtime/train/trainer.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/evaluate_graphs.h"
#include "tools/command/open_session.h"
#include "tools/command/output.h"

namespace heddle::tools {
namespace {

int eval(const RunArguments& a) {
  Session s;
  open_session(a, false, s);
  announce(a, s);
  load_weights(s);
  runtime::JsonObject metrics;
  const auto run = [&](const std::string& name, const std::optional<runtime::Split>& split) {
    if (!split) return;
    runtime::Watcher watcher;
    watcher.note = note;
    const runtime::MetricValues values = runtime::evaluate(*s.executable, *split, watcher, {.indices = s.plan.indices});
    report_metrics(name, values);
    metrics.raw(name, runtime::metrics_json(values));
  };
  run("validation", s.splits.validation);
  run("test", s.splits.test);
  runtime::JsonObject out;
  out.text("model", s.plan.name).raw("metrics", metrics.str()).integer("steps", 0).number("seconds", process_seconds());
  add_common(out, s);
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
  command.run([a, graphs] {
    if (takes_graphs(*graphs, a->model.model)) return evaluate_graphs(*graphs, a->model.model), 0;
    if (a->weights.empty())
      throw UserError(ExitCode::usage, "--weights is required", "heddle evaluate MODEL --weights FILE.safetensors");
    return eval(*a);
  });
}

}  // namespace heddle::tools
