#include "tools/driver/session.h"

#include "ir/check.h"
#include "ir/diagnostic.h"
#include "runtime/weights/quantize.h"
#include "tools/driver/entries.h"
#include "tools/driver/foreign_weights.h"
#include "tools/driver/statistics.h"
#include "tools/driver/token_maps.h"

namespace heddle::driver {
namespace {

Session begin(Compiled compiled) {
  Session s;
  static_cast<Compiled&>(s) = std::move(compiled);
  return s;
}

// A step of rows that are given, of the inputs' own types.
Session open_for_rows(Planned& planned, const SessionOptions& options) {
  if (waits_for_statistics(planned.plan))
    throw UserError(planned.plan.data.where,
                    "normalize needs the mean and deviation of training rows, and a step has none",
                    "give 'mean' and 'std'");
  if (waits_for_tokens(planned.plan))
    throw UserError(planned.plan.data.where, "mask_tokens names a token of a text, and a step has none",
                    "give its id, with \"vocab\" and \"special\"");
  CompileOptions compile_options = options.compile;
  compile_options.entries = {.train = planned.plan.batch, .shorter = false, .total_steps = {}};
  return begin(compile(planned, compile_options));
}

void require_data(const Planned& planned, bool training) {
  if (training) require_trainable(planned.model());
  if (waits_for_statistics(planned.plan) && !planned.plan.data.train)
    throw UserError(planned.plan.data.where,
                    "normalize needs the mean and deviation of training rows, and there are none",
                    "give 'mean' and 'std', or weights that keep them");
}

void require_rows(const frontend::TrainingPlan& plan, const RowCounts& rows, bool training) {
  if (training) runtime::epoch_length(rows.train, plan.batch, plan.drop_last);  // throws where there is none
  if (!training && rows.validation == 0 && rows.test == 0)
    throw UserError(plan.data.where, "the model has no data to evaluate on",
                    "add a \"test\" or \"validation\" split to \"data\"");
}

// Without a policy: at the same time where the system gives a thread, else in get().
std::future<Splits> begin_loading(const frontend::TrainingPlan& plan, DataRequest request, DataHeader header) {
  return std::async([plan, request = std::move(request), header = std::move(header)]() mutable {
    request.plan = &plan;
    return load_splits(request, header);
  });
}

Session open_for_data(Planned& planned, const SessionOptions& options) {
  const frontend::TrainingPlan as_read = planned.plan;
  if (options.weights != nullptr) take_statistics(planned.plan, *options.weights);
  if (options.planned) options.planned(planned.plan);
  const bool training = options.purpose == Purpose::training, fits = waits_for_statistics(planned.plan);
  const DataRequest request{
      .plan = &planned.plan,
      .root = *options.folder,
      .train = training || fits || options.train_rows,
      .class_names = options.weights != nullptr ? class_names(planned.plan, *options.weights) : ClassNames(),
      .tokenizers = options.weights != nullptr ? tokenizers(planned.plan, *options.weights) : Tokenizers(),
      .fills = options.weights != nullptr ? fills(planned.plan, *options.weights) : Fills()};
  require_data(planned, training);
  const DataHeader header = read_headers(request);
  take_tokens(planned.plan, header.tokenizers);
  std::map<std::string, std::string> metadata = class_metadata(planned.plan, header.class_names);
  require_rows(planned.plan, header.rows, training);
  std::future<Splits> loading = begin_loading(planned.plan, request, header);
  std::optional<Splits> read;
  if (fits) {  // the kernels hold the numbers, so the rows come first
    read = loading.get();
    fit_statistics(planned.plan, read->train->table);
  }
  metadata.merge(fill_metadata(planned.plan, header.fills));
  metadata.merge(tokenizer_metadata(planned.plan, header.tokenizers));
  metadata.merge(statistics_metadata(as_read, planned.plan));
  CompileOptions compile_options = options.compile;
  compile_options.stored = header.stored;
  compile_options.entries = entry_batches(planned.plan, header.rows, training);
  Session s = begin(compile(planned, compile_options));
  s.metadata = std::move(metadata);
  s.loading = std::move(loading);
  if (read) s.splits = std::move(*read);
  return s;
}

}  // namespace

Session open_session(const frontend::Model& model, const SessionOptions& options) {
  if (options.purpose == Purpose::training && options.weights != nullptr)
    runtime::require_for_training(*options.weights);
  Planned planned(model);
  Session s = options.folder ? open_for_data(planned, options) : open_for_rows(planned, options);
  if (model.weights) s.metadata[kOwnNames] = "true";
  return s;
}

void load(Session& s, runtime::Device& device) {
  s.executable = std::make_unique<runtime::Executable>(s.program, device);
  if (s.loading.valid()) s.splits = s.loading.get();
}

void initialise(Session& s) {
  const codegen::Entry* init = s.program.find_entry(ir::Phase::init);
  HEDDLE_CHECK(init != nullptr, "a program that trains has an entry 'init'");
  s.executable->run(*init);
}

namespace {

std::map<int64_t, std::vector<CheckedIndices>> shorter_indices(const frontend::TrainingPlan& plan) {
  std::map<int64_t, std::vector<CheckedIndices>> by_length;
  for (const frontend::PlannedBucket& bucket : plan.buckets) by_length[bucket.length] = bucket.indices;
  return by_length;
}

}  // namespace

runtime::TrainOptions train_options(const Session& s) {
  return {.epochs = s.plan.epochs,
          .steps = s.plan.steps,
          .seed = static_cast<uint64_t>(s.plan.seed),
          .drop_last = s.plan.drop_last,
          .in_order = s.plan.in_order,
          .steps_options = {.indices = s.plan.indices, .shorter_indices = shorter_indices(s.plan)},
          .best = s.plan.early_stop ? std::optional(best_rule(s.plan)) : std::nullopt,
          .clips = s.plan.clips,
          .gradient_norm = s.plan.gradient_norm};
}

runtime::TrainResult train(Session& s, const runtime::TrainOptions& options, const runtime::Watcher& watcher) {
  const runtime::Split* validation = s.splits.validation ? &*s.splits.validation : nullptr;
  return runtime::train(*s.executable, options, *s.splits.train, validation, watcher);
}

runtime::MetricValues evaluate(Session& s, const runtime::Split& split, const runtime::Watcher& watcher) {
  return runtime::evaluate(*s.executable, split, watcher,
                           {.indices = s.plan.indices, .shorter_indices = shorter_indices(s.plan)});
}

runtime::BestRule best_rule(const frontend::TrainingPlan& plan) {
  if (!plan.early_stop) return {};
  const frontend::EarlyStop& stop = *plan.early_stop;
  return {.metric = stop.on, .higher = stop.mode == "max", .min_delta = stop.min_delta, .patience = stop.patience};
}

bool ends_with_best(const frontend::TrainingPlan& plan, const runtime::TrainResult& result) {
  return plan.early_stop && plan.early_stop->restore_best && result.interrupted == 0 && result.best;
}

}  // namespace heddle::driver
