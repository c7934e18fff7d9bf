#include "runtime/train/checkpoint.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <set>
#include <string_view>

#include "ir/check.h"
#include "ir/diagnostic.h"
#include "runtime/weights/program_weights.h"
#include "runtime/weights/read_weights.h"
#include "runtime/weights/sealed.h"

namespace heddle::runtime {
namespace {

const std::string kFormat = kCheckpointMark, kSteps = "heddle.step", kEpochs = "heddle.epoch",
                  kStepOfEpoch = "heddle.step_of_epoch", kSeconds = "heddle.seconds",
                  kWithoutBetter = "heddle.epochs_without_better", kBestValue = "heddle.best.value",
                  kBestEpoch = "heddle.best.epoch", kBestStep = "heddle.best.step", kBestBy = "heddle.best.by",
                  kSkipped = "heddle.skipped", kSkippedInRow = "heddle.skipped_in_row";
const std::string kBest = "heddle/best/", kTrain = "heddle/train/", kValidation = "heddle/validation/";

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw UserError(ExitCode::failed, fmt::format("{}: {}", path, what));
}

void add_metrics(WeightsFile& file, const std::string& prefix, const MetricValues& values) {
  for (const MetricValue& v : values) {
    const std::vector<double> numbers = v.dims.empty() ? std::vector<double>{v.value} : v.values;
    const auto bytes = std::ssize(numbers) * static_cast<int64_t>(sizeof(double));
    std::memcpy(file.add(prefix + v.name, "f64", v.dims, bytes).data(), numbers.data(), static_cast<size_t>(bytes));
  }
}

void add_best(WeightsFile& file, const Best& best) {
  file.metadata[kBestValue] = fmt::format("{}", best.value);
  file.metadata[kBestEpoch] = std::to_string(best.epoch);
  file.metadata[kBestStep] = std::to_string(best.step);
  file.metadata[kBestBy] = best.by;
  for (const SavedTensor& t : best.weights.tensors) {
    const std::span<const std::byte> bytes = best.weights.bytes(t);
    std::memcpy(file.add(kBest + t.name, t.dtype, t.dims, std::ssize(bytes)).data(), bytes.data(), bytes.size());
  }
}

const std::string& text_of(const WeightsFile& file, const std::string& key) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) fail(file.name, fmt::format("no checkpoint: it does not say '{}'", key));
  return found->second;
}

template <class Number>
Number number_of(const WeightsFile& file, const std::string& key) {
  const std::string& text = text_of(file, key);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    fail(file.name, fmt::format("no checkpoint: '{}' is no number", key));
  return value;
}

int64_t count_of(const WeightsFile& file, const std::string& key) {
  const auto value = number_of<int64_t>(file, key);
  if (value < 0) fail(file.name, fmt::format("no checkpoint: '{}' is negative", key));
  return value;
}

MetricValues metrics_of(const WeightsFile& file, const std::string& prefix) {
  MetricValues values;
  for (const SavedTensor& t : file.tensors) {
    if (!t.name.starts_with(prefix)) continue;
    if (t.dtype != "f64") fail(file.name, fmt::format("no checkpoint: '{}' is no f64", t.name));
    const std::span<const std::byte> bytes = file.bytes(t);
    std::vector<double> numbers(bytes.size() / sizeof(double));
    if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
    MetricValue& v = values.emplace_back(MetricValue{t.name.substr(prefix.size()), 0, t.dims, {}});
    if (t.dims.empty()) {
      v.value = numbers.at(0);
    } else {
      v.values = std::move(numbers);
    }
  }
  return values;
}

std::optional<Best> best_of(const WeightsFile& file) {
  if (!file.metadata.contains(kBestValue)) return std::nullopt;
  Best best{.value = number_of<double>(file, kBestValue),
            .epoch = count_of(file, kBestEpoch),
            .step = count_of(file, kBestStep),
            .weights = {.name = file.name, .tensors = {}, .metadata = {}, .data = {}}};
  if (file.metadata.contains(kBestBy)) best.by = text_of(file, kBestBy);
  for (const SavedTensor& t : file.tensors) {
    if (!t.name.starts_with(kBest)) continue;
    const std::span<const std::byte> bytes = file.bytes(t);
    const auto to = best.weights.add(t.name.substr(kBest.size()), t.dtype, t.dims, std::ssize(bytes));
    if (!bytes.empty()) std::memcpy(to.data(), bytes.data(), bytes.size());
  }
  return best;
}

}  // namespace

WeightsFile make_checkpoint(Executable& executable, const RunState& state,
                            const std::map<std::string, std::string>& metadata) {
  WeightsFile file{.name = "checkpoint", .tensors = {}, .metadata = metadata, .data = {}};
  file.metadata[kFormat] = std::to_string(kCheckpointFormat);
  file.metadata[kSteps] = std::to_string(state.steps);
  file.metadata[kEpochs] = std::to_string(state.epochs);
  file.metadata[kStepOfEpoch] = std::to_string(state.step_of_epoch);
  file.metadata[kSeconds] = fmt::format("{}", state.seconds);
  file.metadata[kWithoutBetter] = std::to_string(state.epochs_without_better);
  if (state.skipped > 0) {
    file.metadata[kSkipped] = std::to_string(state.skipped);
    file.metadata[kSkippedInRow] = std::to_string(state.skipped_in_row);
  }
  for (const codegen::Buffer& b : executable.program().states)
    read_in_file_order(executable, b, file.add(b.name, b.dtype, b.dims, b.bytes));
  add_metrics(file, kTrain, state.train);
  if (state.validation) add_metrics(file, kValidation, *state.validation);
  if (state.best) add_best(file, *state.best);
  return file;
}

Checkpoint read_checkpoint(const std::string& path) {
  Checkpoint c{.file = read_sealed(path), .state = {}};
  const auto format = number_of<int64_t>(c.file, kFormat);
  if (format != kCheckpointFormat)
    fail(path, fmt::format("a checkpoint of format {}, which {} Heddle wrote; this one reads format {}", format,
                           format > kCheckpointFormat ? "a newer" : "another", kCheckpointFormat));
  RunState& s = c.state;
  s.steps = count_of(c.file, kSteps), s.epochs = count_of(c.file, kEpochs);
  s.step_of_epoch = count_of(c.file, kStepOfEpoch);
  s.epochs_without_better = count_of(c.file, kWithoutBetter);
  if (c.file.metadata.contains(kSkipped))
    s.skipped = count_of(c.file, kSkipped), s.skipped_in_row = count_of(c.file, kSkippedInRow);
  if (s.skipped > s.steps || s.skipped_in_row > s.skipped)
    fail(path,
         fmt::format("no checkpoint: {} of {} steps were skipped, {} in a row", s.skipped, s.steps, s.skipped_in_row));
  s.seconds = number_of<double>(c.file, kSeconds);
  if (!(s.seconds >= 0 && std::isfinite(s.seconds)))
    fail(path, fmt::format("no checkpoint: '{}' is {}", kSeconds, s.seconds));
  s.train = metrics_of(c.file, kTrain);
  MetricValues validation = metrics_of(c.file, kValidation);
  if (!validation.empty()) s.validation = std::move(validation);
  s.best = best_of(c.file);
  return c;
}

void require_states(const Checkpoint& checkpoint, const codegen::Program& program) {
  const WeightsFile& file = checkpoint.file;
  std::set<std::string_view> names;
  for (const codegen::Buffer& b : program.states) {
    names.insert(b.name);
    const SavedTensor* t = file.find(b.name);
    if (t == nullptr) fail(file.name, fmt::format("of another model: it has no '{}'", b.name));
    if (t->dtype != b.dtype || t->dims != b.dims)
      fail(file.name, fmt::format("of another model: '{}' is {}, the model has {}", b.name,
                                  type_text(t->dtype, t->dims), type_text(b.dtype, b.dims)));
  }
  for (const SavedTensor& t : file.tensors)
    if (!t.name.starts_with("heddle/") && !names.contains(t.name))
      fail(file.name, fmt::format("of another model, which has a state '{}'", t.name));
  if (checkpoint.state.best) require_match(checkpoint.state.best->weights, program);
}

void restore_states(Executable& executable, const Checkpoint& checkpoint) {
  for (const codegen::Buffer& b : executable.program().states) {
    const SavedTensor* t = checkpoint.file.find(b.name);
    HEDDLE_CHECK(t != nullptr, "the checkpoint has every state");
    write_from_file_order(executable, b, checkpoint.file.bytes(*t));
  }
}

}  // namespace heddle::runtime
