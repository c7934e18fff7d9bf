// heddle merge: weights and the adapters of train.lora in one file of weights, for the model without train.lora.
#include <fmt/format.h>

#include <memory>

#include "ir/diagnostic.h"
#include "runtime/weights/program_weights.h"
#include "runtime/weights/read_weights.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/model_arguments.h"
#include "tools/command/output.h"
#include "tools/command/weights_sources.h"
#include "tools/driver/adapters.h"
#include "tools/driver/compile.h"
#include "tools/driver/fit_weights.h"
#include "tools/driver/foreign_weights.h"

namespace heddle::tools {
namespace {

struct MergeArguments {
  ModelArguments model;
  std::vector<std::string> weights;
  std::string prefix, out;
  bool quiet = false;
};

void merge(const MergeArguments& a) {
  require_no_source("-o", a.out, a.weights);
  runtime::require_weights_path(a.out);
  driver::ReadModel model;
  read(a.model, model);
  if (!model.model.train.lora)
    throw UserError(ExitCode::failed, "the model has no 'train.lora', whose adapters could be merged",
                    "for example \"lora\": {\"rank\": 8, \"alpha\": 16, \"match\": [\"*\"]}");
  runtime::ReadWeights weights = runtime::read_weights(a.weights, a.prefix, model.model.train.stored.has_value());
  driver::CompileOptions options = compile_options(a.model);
  options.entries.emplace();  // names and shapes are those of the states
  const driver::Compiled compiled = driver::compile(model.model, options);
  const std::string told = driver::require_weights(weights.file, compiled.plan, compiled.program, /*begins=*/false);
  for (const std::string& line : {weights.note, told})
    if (!line.empty()) print_note("note: {}\n", line);
  runtime::WeightsFile merged = driver::merged(weights.file, *compiled.plan.adapters);
  if (compiled.plan.weights) merged.metadata[driver::kOwnNames] = "true";
  runtime::write_safetensors(a.out, runtime::with_types_of(merged, compiled.program));
  const size_t count = compiled.plan.adapters->paths.size();
  if (!a.quiet)
    print_note("{}: {} adapter{} merged; it goes with the model and --set train.lora=null\n", a.out, count,
               count == 1 ? "" : "s");
}

}  // namespace

void add_merge(CommandLine& line) {
  Command command = line.add_subcommand("merge", "weights and the adapters of train.lora as one file of weights");
  const auto a = std::make_shared<MergeArguments>();
  add_model_arguments(command, a->model, ShortForms::none);
  command.add_option("--weights", a->weights, "the base (safetensors); again: its adapters")
      .takes(Takes::file)
      .required();
  command.add_option("--weights-prefix", a->prefix,
                     "remove this from the names of the first file's tensors: \"module.\", \"_orig_mod.\"");
  command.add_option("-o,--out", a->out, "the merged weights (safetensors)").takes(Takes::file).required();
  command.add_flag("--quiet", a->quiet, "print only warnings, notes and errors");
  command.run([a] { merge(*a); });
}

}  // namespace heddle::tools
