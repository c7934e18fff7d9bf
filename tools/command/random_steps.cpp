#include "tools/command/random_steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "runtime/train/trainer.h"
#include "runtime/weights/program_weights.h"
#include "runtime/weights/read_weights.h"
#include "tools/command/command_line.h"
#include "tools/command/device_arguments.h"
#include "tools/command/output.h"
#include "tools/driver/fit_weights.h"
#include "tools/driver/plan_batch.h"
#include "tools/driver/prepare_weights.h"

namespace heddle::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kAnySteps = 1000;  // of the training, for schedules that end

double seconds_of(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// As few graphs as the entry takes.
frontend::BuildOptions entries_for(ir::EntryKind entry, const frontend::Model& model) {
  const frontend::BuildOptions all = frontend::default_build_options(model);
  frontend::BuildOptions build{.shorter = entry.length > 0, .total_steps = kAnySteps};
  if (entry.phase == ir::Phase::predict) {
    build.predict = all.predict;
  } else if (entry.phase == ir::Phase::eval || all.train == 0) {
    build.eval = all.eval;
  } else {
    build.train = all.train;  // init writes the states of a training
  }
  return build;
}

// An entry of shorter rows gets a table of such rows here; a training would read the beginnings of longer rows.
void take_length(frontend::TrainingPlan& plan, int64_t length) {
  for (frontend::PlannedBucket& bucket : plan.buckets)
    if (bucket.length == length) plan.inputs = std::move(bucket.inputs);
  plan.buckets.clear();
}

// What 'predict' would return: what the first loss reads first, else the last node's result.
[[noreturn]] void refuse_prediction(const frontend::Model& model) {
  std::string name = model.nodes.empty() || model.nodes.back().name.empty() ? "NODE" : model.nodes.back().name;
  if (!model.train.losses.empty() && !model.train.losses[0].in.empty()) name = model.train.losses[0].in[0].name;
  throw UserError(ExitCode::failed, "the model has no \"outputs\": there is nothing to predict",
                  fmt::format("--set 'outputs={{\"{0}\": \"{0}\"}}' makes a node's result an output", name));
}

// With the entries that the model has.
[[noreturn]] void refuse_entry(const std::string& entry, const frontend::Model& model, ExitCode code) {
  frontend::BuildOptions entries = frontend::default_build_options(model);
  entries.total_steps = kAnySteps;
  const driver::CompileOptions options{.entries = entries, .to = "", .keep_module = true};
  std::vector<std::string> names;
  for (const ir::Graph& g : driver::compile(model, options).module.graphs) names.push_back(g.name);
  throw UserError(code, fmt::format("the model has no entry '{}'", entry),
                  fmt::format("it has {}; train needs a loss and an optimizer, eval a loss, predict an output",
                              fmt::join(names, ", ")));
}

// At once, as `heddle predict` plans them.
int64_t predicted_rows(driver::Planned& planned, driver::CompileOptions options) {
  options.tell = {};
  return driver::plan_batch(planned, {}, options).rows;
}

driver::Compiled compile(const StepsRequest& request, driver::ReadModel& model, const ir::Target& target) {
  read(request.model, model);
  // With a useful learning rate, a model memorises random labels. Its gradients then become denormal numbers, which
  // real runs do not have. So the rate is tiny.
  if (model.model.train.optimizer) read(request.model, model, {"train.optimizer.lr=1e-6"});
  const ir::EntryKind kind = ir::entry_kind(request.entry);
  if (kind.phase == ir::Phase::other) refuse_entry(request.entry, model.model, ExitCode::usage);
  const bool predicts = kind.phase == ir::Phase::predict;
  if (predicts && model.model.outputs.empty()) refuse_prediction(model.model);
  if (request.model.fold_norms && !predicts)
    throw UserError(ExitCode::usage, "--fold-norms means nothing for the entry " + request.entry,
                    "--entry predict folds");
  driver::Planned planned(model.model);
  take_length(planned.plan, kind.length);
  planned.plan.data.maps.clear();  // random inputs are as large as mapped ones are
  for (frontend::PlannedInput& input : planned.plan.inputs) input.one_hot = 0;
  driver::CompileOptions options = compile_options(request.model);
  options.entries = entries_for(kind, model.model);
  options.target = target;
  options.prepare = predicts;
  options.predict = options.keep_module = request.explain;
  if (request.choices) options.choices = *request.choices;
  options.one_kernel = request.one_kernel;
  if (request.as_predict && request.model.batch.empty() && kind == ir::EntryKind{.phase = ir::Phase::predict})
    options.entries->predict = predicted_rows(planned, options);
  options.decided = request.decided;
  return driver::compile(planned, options);
}

void load_weights(const std::vector<std::string>& paths, runtime::Executable& executable,
                  const frontend::TrainingPlan& plan) {
  const bool stores_bf16 = std::ranges::any_of(
      executable.program().states, [](const codegen::Buffer& b) { return codegen::is_saved(b) && b.dtype == "bf16"; });
  runtime::ReadWeights weights = runtime::read_weights(paths, {}, stores_bf16);
  const std::string note = driver::require_weights(weights.file, plan, executable.program(), /*begins=*/false);
  for (const std::string& line : {weights.note, note})
    if (!line.empty()) print_note("note: {}\n", line);
  runtime::load_weights(executable, weights.file);
}

}  // namespace

void add_steps_arguments(Command& command, StepsRequest& request) {
  add_model_arguments(command, request.model);
  add_device_arguments(command, request.device);
  add_fold_argument(command, request.model);
  command
      .add_option("--entry", request.entry,
                  "train (default), eval, predict, init, or another that inspect lists: train.16")
      .may_be({"train", "eval", "predict", "init"});
}

RandomSteps::RandomSteps(const StepsRequest& request)
    : device_((warn_without_kernel_cache(), driver::open_device(request.device))),
      compiled_(compile(request, model_, device_.target)),
      entry_(compiled_.program.find_entry(ir::entry_kind(request.entry))),
      repeat_(request.repeat),
      most_under_way_(request.pipelined ? 2 : 1) {
  if (entry_ == nullptr) refuse_entry(request.entry, model_.model, ExitCode::failed);
  executable_ = std::make_unique<runtime::Executable>(program(), *device_.device);
  if (const codegen::Entry* init = program().find_entry(ir::Phase::init)) executable_->run(*init);
  if (!request.weights.empty()) load_weights(request.weights, *executable_, compiled_.plan);
  driver::prepare_weights(*executable_);
  if (entry_->fed_rows == 0) {
    ring_.emplace(*entry_, compiled_.plan);
  } else {
    table_ = random_table(*entry_, compiled_.plan);
    for (int64_t row = 0; row < table_.rows * passes(); ++row)
      order_.push_back(static_cast<uint32_t>(row % table_.rows));
    feed_.emplace(*executable_);
    begin();
  }
}

int64_t RandomSteps::batch() const { return entry_->inputs.empty() ? 1 : runtime::batch_of(*entry_); }

double RandomSteps::block(int64_t steps) {
  const Clock::time_point begin = Clock::now();
  for (int64_t left = steps; left > 0;) left -= feed_ ? run_fed(left) : run_written();
  finish(0);
  return seconds_of(begin);
}

// A GPU executes each step of the entry many times, the one that moves the cursor too: the order starts anew.
runtime::StepProfile RandomSteps::profile(int64_t steps, bool spans) {
  if (!feed_) {
    ring_->write_next(*executable_);
    return executable_->profile(*entry_, 1, spans);
  }
  begin();
  feed_->provide(steps * entry_->fed_rows);
  runtime::StepProfile profile = executable_->profile(*entry_, steps, spans);
  begin();
  return profile;
}

// Through the table, so that a large submission finds its batches, and the next one too.
int64_t RandomSteps::passes() const {
  constexpr int64_t kBatches = 1024;
  const int64_t batches = table_.rows / entry_->fed_rows;
  return (kBatches + batches - 1) / batches;
}

void RandomSteps::begin() {
  finish(0);
  feed_->begin(table_, order_);
  batches_left_ = static_cast<int64_t>(order_.size()) / entry_->fed_rows;
}

// Waits until no more than so many submissions are under way.
void RandomSteps::finish(size_t under_way) {
  for (; under_way_.size() > under_way; under_way_.pop_front()) {
    executable_->wait(under_way_.front().number);
    feed_->take(under_way_.front().steps);
  }
}

int64_t RandomSteps::run_fed(int64_t left) {
  if (batches_left_ == 0) begin();
  const int64_t k = std::min({left, batches_left_, repeat_});
  feed_->provide(k * entry_->fed_rows);
  under_way_.push_back({executable_->submit(*entry_, k), k});
  finish(most_under_way_ - 1);
  batches_left_ -= k;
  return k;
}

int64_t RandomSteps::run_written() {
  ring_->write_next(*executable_);
  executable_->run(*entry_);
  return 1;
}

}  // namespace heddle::tools
