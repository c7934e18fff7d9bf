#include "tools/driver/entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>

#include "frontend/training/train_step.h"
#include "ir/diagnostic.h"
#include "tools/driver/statistics.h"
#include "tools/driver/token_maps.h"

namespace heddle::driver {
namespace {

constexpr int64_t kAssumedSteps = 1'000'000;  // of a training whose data are not counted, for schedules

// With strands, each row of a batch continues the same row of the batch before. So a batch must have one row of each
// strand.
void require_one_row_of_each(const frontend::TrainingPlan& plan, const RowCounts& rows) {
  if (!plan.in_order || !plan.data.train) return;
  const runtime::data::ReaderSetting* strands = runtime::data::find_setting(plan.data.train->settings, "strands");
  if (strands == nullptr) return;
  if (const int64_t given = std::get<int64_t>(strands->value); given != plan.batch)
    throw UserError(strands->where,
                    fmt::format("{} strands do not make batches of {}: a batch has one row of each", given, plan.batch),
                    fmt::format("write \"strands\": {}, or another train.batch", plan.batch));
  if (const int64_t rest = rows.train % plan.batch; rest > 0 && !plan.drop_last)
    throw UserError(plan.data.where,
                    fmt::format("{} training rows are {} more than whole batches of {}, and each row of a batch goes "
                                "on in the next one",
                                rows.train, rest, plan.batch),
                    "give the splits texts or ranges of their own, or set \"drop_last\": true");
}

}  // namespace

bool takes_rows(const frontend::BuildOptions& entries) {
  return entries.train > 0 || entries.train_last > 0 || entries.eval > 0 || entries.eval_last > 0;
}

std::vector<ir::FedColumn> fed_columns(const frontend::TrainingPlan& plan, const std::vector<ir::DType>& stored) {
  std::vector<ir::FedColumn> fed;
  if (plan.metrics.empty()) return fed;  // no loss
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    ir::FedColumn column{.input = plan.inputs[i].name,
                         .stored = stored.empty() ? own_type(plan.inputs[i]) : stored[i],
                         .maps = {},
                         .classes = plan.inputs[i].one_hot};
    if (const auto maps = plan.data.maps.find(column.input); maps != plan.data.maps.end())
      std::ranges::copy_if(maps->second, std::back_inserter(column.maps),
                           [](const ir::DataMap& map) { return !map.def->first; });
    column.channels_first = plan.inputs[i].channels_first;
    // Shorter entries take the first elements of rows that lie whole.
    const auto cut = [&](const frontend::PlannedBucket& bucket) {
      return bucket.inputs[i].row.dims != plan.inputs[i].row.dims;
    };
    if (std::ranges::any_of(plan.buckets, cut))
      column.stride =
          std::accumulate(plan.inputs[i].stored.begin(), plan.inputs[i].stored.end(), int64_t{1}, std::multiplies<>());
    fed.push_back(std::move(column));
  }
  return fed;
}

frontend::BuildOptions entry_batches(const frontend::TrainingPlan& plan, const RowCounts& rows, bool training) {
  frontend::BuildOptions build;
  if (training) {
    require_one_row_of_each(plan, rows);
    build.train = plan.batch;
    build.train_last = plan.drop_last ? 0 : rows.train % plan.batch;
    const int64_t steps_per_epoch = rows.train / plan.batch + (build.train_last > 0 ? 1 : 0);
    if (steps_per_epoch > 0) build.total_steps = runtime::run_length(plan.epochs, plan.steps, steps_per_epoch);
  }
  if (!training && plan.epochs && !plan.steps) build.total_steps = kAssumedSteps;  // nothing is trained: any will do
  const bool evaluated = rows.validation > 0 || rows.test > 0 || !training;
  if (evaluated) build.eval = plan.batch;
  // The same in a training and in an evaluation, so that both round alike: training rows are not evaluated.
  for (const int64_t count : {rows.validation, rows.test})
    build.eval_last = std::gcd(build.eval_last, count % plan.batch);
  return build;
}

frontend::BuildOptions all_entries(const frontend::Model& model, const frontend::TrainingPlan& plan,
                                   const std::filesystem::path& folder, const Tell& tell) {
  frontend::BuildOptions build = frontend::default_build_options(model);
  if (!model.train.epochs || !frontend::needs_length(model)) return build;
  try {
    const DataHeader header = read_headers({.plan = &plan, .root = folder, .train = true});
    build.total_steps = entry_batches(plan, header.rows, true).total_steps;
    if (build.total_steps) return build;
  } catch (const UserError&) {  // what is wrong with the data is said where they are read
  }
  build.total_steps = model.train.steps.value_or(kAssumedSteps);
  if (tell)
    tell(
        fmt::format("the schedule is made for {} steps: how many the data give is not known here", *build.total_steps));
  return build;
}

void compile_as_trained(Planned& planned, const DataHeader& header, CompileOptions& options) {
  assume_statistics(planned.plan, options.tell);
  take_tokens(planned.plan, header.tokenizers);
  options.stored = header.stored;
  options.entries = entry_batches(planned.plan, header.rows, true);
}

}  // namespace heddle::driver
