#include "tools/api/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "runtime/train/steps.h"
#include "runtime/train/trainer.h"
#include "runtime/weights/program_weights.h"
#include "runtime/weights/quantize.h"
#include "tools/api/guarded.h"
#include "tools/driver/adapters.h"
#include "tools/driver/fit_weights.h"

namespace heddle::api {
namespace {

std::map<std::string, double> numbers(const runtime::MetricValues& values) {
  std::map<std::string, double> out;
  for (const runtime::MetricValue& v : values)
    if (v.dims.empty()) out.emplace(v.name, v.value);
  return out;
}

// Applies the maps that act on single elements to the elements of a row.
class ElementMaps {
 public:
  ElementMaps(const frontend::PlannedInput& input, const std::vector<ir::DataMap>& maps)
      : row_{.dtype = input.row.dtype, .dims = input.stored, .channels_first = input.channels_first} {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const ir::DataMap& map : maps)
      if (map.def->evaluate) maps_.push_back(&map);
    if (!maps_.empty()) finite_.assign(static_cast<size_t>(row_.channels()), {kInfinity, -kInfinity});
  }

  // Returns the mapped value where it is not finite. The maps are affine: a value between two values with finite
  // results has a finite result too, so few values must be tried.
  std::optional<double> not_finite(double x, size_t element, double (*round)(double)) {
    if (!std::isfinite(x)) return x;
    if (maps_.empty()) return std::nullopt;
    const auto plane = static_cast<size_t>(row_.channels_first ? row_.height() * row_.width() : 1);
    const size_t channel = element / plane % finite_.size();
    auto& [low, high] = finite_[channel];
    if (low <= x && x <= high) return std::nullopt;
    double value = x;
    for (const ir::DataMap* map : maps_) value = map->def->evaluate(*map, channel, value, round);
    if (!std::isfinite(value)) return value;
    low = std::min(low, x), high = std::max(high, x);
    return std::nullopt;
  }

 private:
  ir::MapRow row_;  // as it is given
  std::vector<const ir::DataMap*> maps_;
  std::vector<std::pair<double, double>> finite_;  // by channel: the least and the greatest value that was tried
};

// Throws before the step, because a step with such a row would make the parameters nan or infinite. It checks the
// values after the maps, which the step reads. Maps that move elements draw the positions, so every element is checked.
void require_finite(const runtime::data::Column& column, int64_t rows, const frontend::PlannedInput& input,
                    const std::vector<ir::DataMap>& maps) {
  ElementMaps behind(input, maps);
  const auto look = [&]<class T>(T) {
    const size_t elements = column.bytes.size() / sizeof(T), of_row = elements / static_cast<size_t>(rows);
    for (size_t i = 0; i < elements; ++i) {
      T value;
      std::memcpy(&value, column.bytes.data() + i * sizeof(T), sizeof(T));
      const auto rounded = [](double x) { return static_cast<double>(static_cast<T>(x)); };
      const std::optional<double> fault = behind.not_finite(static_cast<double>(value), i % of_row, rounded);
      if (!fault) continue;
      throw UserError(ExitCode::failed,
                      fmt::format("train_step: row {}, counted from 0: input '{}' holds {}", i / of_row, column.input,
                                  std::isnan(*fault) ? "nan" : "inf"),
                      "correct or remove that row; the step was not made");
    }
  };
  if (column.type == runtime::data::ElementType::f32) look(float{});
  if (column.type == runtime::data::ElementType::f64) look(double{});
}

// Throws where a fit is asked for and the model has no data.
void require_data(const frontend::Model& model) {
  if (!model.data.train)
    throw UserError(model.train.where, "the model has no data to train on",
                    "add \"data\": {\"train\": {...}}, or give rows to train_step");
}

}  // namespace

Training::Training(const frontend::Model& model, const driver::CompileOptions& options, runtime::Device& device)
    : session_(driver::open_session(model, {.compile = options})) {
  driver::load(session_, device);
}

Training::Training(const frontend::Model& model, const driver::CompileOptions& options, runtime::Device& device,
                   const std::filesystem::path& folder, const runtime::WeightsFile* weights,
                   const tools::OpenDevice& open_device)
    : session_(driver::open_session(model, {.folder = folder,
                                            .weights = weights,
                                            .planned = [&](const auto&) { require_data(model); },
                                            .compile = options})) {
  driver::load(session_, device);
  if (!open_device || !tools::GeneratedMetrics::needed(model)) return;
  open_generated_ = [this, &model, options, open_device] {
    const auto weights = runtime::weights_of(*session_.executable, session_.metadata);
    return std::make_unique<tools::GeneratedMetrics>(model, weights, options, open_device);
  };
}

void Training::start(std::optional<runtime::WeightsFile> weights) {
  if (weights) {  // before the parameters change
    runtime::require_for_training(*weights);
    note_ = driver::require_weights(*weights, session_.plan, session_.program, /*begins=*/true);
  }
  driver::initialise(session_);
  if (!weights) return;
  runtime::load_weights(*session_.executable, *weights);
  for (const auto& [key, value] : weights->metadata)
    if (key.starts_with("heddle.")) session_.metadata.emplace(key, value);
}

void Training::go_on_from(Training& before) {
  start(std::nullopt);
  for (const codegen::Buffer& to : session_.program.states)
    for (const codegen::Buffer& from : before.session_.program.states) {
      if (from.name != to.name || from.dtype != to.dtype || from.dims != to.dims || from.layout != to.layout) continue;
      std::vector<std::byte> bytes(static_cast<size_t>(from.bytes));
      before.session_.executable->read(from, bytes.data());
      session_.executable->write(to, bytes.data());
    }
  steps_ = before.steps_;
  for (const auto& [key, value] : before.session_.metadata) session_.metadata.emplace(key, value);
}

double Training::step(const Inputs& rows) {
  static const std::vector<ir::DataMap> kNoMaps;
  const frontend::TrainingPlan& plan = session_.plan;
  runtime::data::Table table{.rows = plan.batch, .columns = {}};
  for (const frontend::PlannedInput& input : plan.inputs) {
    const auto given = rows.find(input.name);
    if (given == rows.end())
      throw UserError(ExitCode::usage, fmt::format("train_step: no rows for input '{}'", input.name),
                      "a step takes rows of every input of the model");
    if (given->second.rows() != plan.batch)
      throw UserError(ExitCode::usage,
                      fmt::format("train_step: {} rows for input '{}', the model's batch is {}", given->second.rows(),
                                  input.name, plan.batch),
                      "give as many, or set train.batch");
    const runtime::data::ColumnRequest request = driver::column_request(input, {});
    runtime::data::Column column = column_of(given->second, request, 0, plan.batch);
    runtime::data::convert(column, *runtime::data::element_type(ir::to_string(driver::own_type(input))));
    const auto maps = plan.data.maps.find(input.name);
    require_finite(column, plan.batch, input, maps == plan.data.maps.end() ? kNoMaps : maps->second);
    table.columns.push_back(std::move(column));
  }
  runtime::StepRecord record;
  runtime::Steps steps(*session_.executable);
  steps.run(table, {}, std::vector<runtime::Steps::Part>{{session_.program.find_entry(ir::Phase::train), 1}},
            {.record = [&](const runtime::Steps::Done& done) { record = done.record; }, .stop = [] { return false; }},
            {.seed = static_cast<uint64_t>(plan.seed), .epoch = static_cast<uint64_t>(steps_)});
  ++steps_;
  if (record.outside) {
    const CheckedIndices& checked = plan.indices.at(record.outside->check);
    throw index_error(
        checked, *record.outside,
        fmt::format("row {} of step {}", record.outside->place / std::max<int64_t>(checked.of_row, 1), steps_),
        plan.batch);
  }
  if (!std::isfinite(record.loss) && record.count != 0)
    throw UserError(ExitCode::failed, fmt::format("the loss is {} at step {}", std::abs(record.loss), steps_),
                    "a lower lr or a clip_norm may keep it finite; look for values of the rows that are not finite");
  return record.loss;
}

FitResult Training::fit(const std::function<bool(const Epoch&)>& each) {
  bool stopped = false;
  runtime::Watcher watcher;
  watcher.epoch = [&](const runtime::EpochEvent& e) {
    Epoch epoch{
        .number = e.epoch, .steps = e.total_step, .seconds = e.seconds, .train = numbers(e.train), .validation = {}};
    if (e.validation) epoch.validation = numbers(*e.validation);
    if (each && !called_back([&] { return each(epoch); })) stopped = true;
  };
  watcher.interrupted = [&] { return stopped ? 1 : 0; };
  std::unique_ptr<tools::GeneratedMetrics> generated;
  if (open_generated_ && session_.splits.validation) {
    generated = open_generated_();
    watcher.measure = [&](const runtime::Split& split) {
      return generated->measure(split, runtime::weights_of(*session_.executable, {}, /*averages=*/true),
                                watcher.interrupted);
    };
  }
  const runtime::TrainResult done = driver::train(session_, driver::train_options(session_), watcher);
  steps_ += done.steps;
  if (!stopped && driver::ends_with_best(session_.plan, done))
    runtime::load_weights(*session_.executable, done.best->weights, true);
  FitResult result{.epochs = done.epochs,
                   .steps = done.steps,
                   .seconds = done.seconds,
                   .stopped = stopped,
                   .stopped_early = done.stopped == runtime::Stopped::early_stop,
                   .best_epoch = done.best ? done.best->epoch : 0,
                   .train = numbers(done.train),
                   .validation = {}};
  if (done.validation) result.validation = numbers(*done.validation);
  return result;
}

runtime::WeightsFile Training::weights() { return runtime::weights_of(*session_.executable, session_.metadata); }

runtime::WeightsFile Training::saved() {
  return session_.plan.adapters ? driver::adapters_of(weights(), *session_.plan.adapters) : weights();
}

}  // namespace heddle::api
