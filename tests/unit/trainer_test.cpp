// The training loop on a device that only counts: which rows it feeds, when it evaluates, when it stops.
#include "runtime/train/trainer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "ir/diagnostic.h"
#include "tests/support/memory_device.h"

namespace heddle::runtime {
namespace {

using codegen::Buffer;
using codegen::Segment;

// Every entry with rows takes x: f32[batch], returns its mean as "loss" and adds to totals; "metrics" returns their ratio.
class CountingDevice final : public MemoryDevice {
 public:
  void load(const codegen::Program& program, void*, void* arena) override {
    program_ = &program, arena_ = static_cast<char*>(arena);
  }
  void run(size_t index) override {
    const codegen::Entry& entry = program_->entries[index];
    if (entry.name == "reset") total_ = count_ = 0;
    if (entry.name == "metrics") {
      const double mean = total_ / count_;
      std::memcpy(arena_ + 256, &mean, sizeof mean);
    }
    if (!entry.inputs.empty()) run_rows(entry);
  }
  struct Call {
    std::string entry;
    std::vector<float> rows;
  };
  std::vector<Call> runs;
  float loss_override = 0;

 private:
  void run_rows(const codegen::Entry& entry) {
    const auto batch = static_cast<size_t>(entry.inputs[0].dims[0]);
    std::vector<float> x(batch);
    std::memcpy(x.data(), arena_, batch * sizeof(float));
    float sum = 0;
    for (float v : x) sum += v;
    runs.push_back({entry.name, x});
    const float loss = loss_override != 0 ? loss_override : sum / static_cast<float>(batch);
    std::memcpy(arena_ + 256, &loss, sizeof loss);
    total_ += static_cast<double>(sum), count_ += static_cast<double>(batch);
  }

  double total_ = 0, count_ = 0;
  const codegen::Program* program_ = nullptr;
  char* arena_ = nullptr;
};

codegen::Entry entry(const std::string& name, int64_t batch) {
  codegen::Entry e;
  e.name = name;
  e.inputs = {{"x", "f32", {batch}, batch * 4, {Segment::arena, 0}, "input"}};
  e.outputs = {{"loss", "f32", {}, 4, {Segment::arena, 256}, "output"}};
  return e;
}

// The given entries, and those of metrics.
std::vector<codegen::Entry> with_metrics(std::vector<codegen::Entry> entries) {
  codegen::Entry reset, metrics;
  reset.name = "reset";
  metrics.name = "metrics";
  metrics.outputs = {{"mean", "f64", {}, 8, {Segment::arena, 256}, "output"}};
  entries.push_back(reset);
  entries.push_back(metrics);
  return entries;
}

// Rows 1 ... n.
Split rows(int n) {
  data::Column c{.input = "x", .type = data::ElementType::u8, .dims = {}, .bytes = {}};
  for (int i = 1; i <= n; ++i) c.bytes.push_back(static_cast<std::byte>(i));
  return {"training", data::Table{.rows = n, .columns = {c}}, {{"x", "f32", {}, {}}}};
}

class Trainer : public testing::Test {
 protected:
  Trainer() {
    program_.arena_bytes = 512;
    program_.entries =
        with_metrics({entry("train", 4), entry("train_last", 2), entry("eval", 4), entry("eval_last", 1)});
    executable_.emplace(program_, device_);
  }
  codegen::Program program_;
  CountingDevice device_;
  std::optional<Executable> executable_;
  TrainOptions options_;
};

TEST_F(Trainer, FeedsEveryRowOnceAnEpochInAnotherOrderEachTime) {
  options_.epochs = 2;
  const TrainResult result = train(*executable_, options_, rows(10), nullptr, {});
  EXPECT_EQ(result.steps, 6);
  EXPECT_EQ(result.epochs, 2);
  ASSERT_EQ(device_.runs.size(), 6U);
  EXPECT_EQ(device_.runs[2].entry, "train_last");
  std::vector<float> first, second;
  for (size_t i = 0; i < 6; ++i) {
    std::vector<float>& to = i < 3 ? first : second;
    to.insert(to.end(), device_.runs[i].rows.begin(), device_.runs[i].rows.end());
  }
  EXPECT_NE(first, second);
  EXPECT_EQ(std::set<float>(first.begin(), first.end()).size(), 10U);
  EXPECT_EQ(std::set<float>(second.begin(), second.end()).size(), 10U);
  EXPECT_DOUBLE_EQ(result.train[0].value, 5.5);  // (1 + ... + 10) / 10, not the mean of batch means
}

TEST_F(Trainer, LeavesTheRestOutWhereAskedTo) {
  options_.epochs = 1, options_.drop_last = true;
  EXPECT_EQ(train(*executable_, options_, rows(10), nullptr, {}).steps, 2);
}

TEST_F(Trainer, StopsAtTheGivenStepWithinAnEpoch) {
  options_.steps = 4;
  const TrainResult result = train(*executable_, options_, rows(10), nullptr, {});
  EXPECT_EQ(result.steps, 4);
  EXPECT_EQ(device_.runs.back().entry, "train");
}

// Whichever ends first: the steps of the epochs, or the steps.
TEST_F(Trainer, EpochsAndStepsBothEndTheRun) {
  EXPECT_EQ(run_length(2, 9, 4), 8);
  EXPECT_EQ(run_length(3, 9, 4), 9);
  EXPECT_EQ(run_length(2, 8, 4), 8);
  EXPECT_EQ(run_length(2, {}, 4), 8);
  EXPECT_EQ(run_length({}, 9, 4), 9);
  EXPECT_EQ(run_length({}, {}, 4), std::nullopt);
  constexpr int64_t kLong = int64_t{1} << 40;
  EXPECT_EQ(run_length(kLong, {}, kLong), std::numeric_limits<int64_t>::max());  // the product does not fit
  options_.epochs = 2, options_.steps = 7;
  EXPECT_EQ(train(*executable_, options_, rows(10), nullptr, {}).steps, 6);
}

// A split's totals are its own: neither those of an earlier one nor those of the epoch before.
TEST_F(Trainer, EachEpochAndSplitIsMeasuredAlone) {
  EXPECT_DOUBLE_EQ(evaluate(*executable_, rows(4))[0].value, 2.5);
  EXPECT_DOUBLE_EQ(evaluate(*executable_, rows(5))[0].value, 3);
  options_.epochs = 2;
  const Split validation = rows(4);
  std::vector<double> train_values;
  Watcher watcher;
  watcher.epoch = [&](const EpochEvent& e) { train_values.push_back(e.train[0].value); };
  train(*executable_, options_, rows(10), &validation, watcher);
  EXPECT_EQ(train_values, (std::vector<double>{5.5, 5.5}));
}

TEST_F(Trainer, NothingCountedIsNan) {
  Metrics metrics(*executable_);
  metrics.reset();
  EXPECT_TRUE(std::isnan(metrics.values()[0].value));
  EXPECT_FALSE(std::signbit(metrics.values()[0].value));
}

TEST_F(Trainer, EvaluatesTheRestInPiecesOfTheLastEntry) {
  const MetricValues values = evaluate(*executable_, rows(7));
  EXPECT_DOUBLE_EQ(values[0].value, 4);  // (1 + ... + 7) / 7
  ASSERT_EQ(device_.runs.size(), 4U);    // 4 rows, then 1 + 1 + 1
  EXPECT_EQ(device_.runs[3].entry, "eval_last");
  EXPECT_EQ(device_.runs[3].rows, std::vector<float>{7});
}

TEST_F(Trainer, ValidatesAfterEachEpochAndTells) {
  options_.epochs = 2;
  int told = 0;
  const Split validation = rows(4);
  Watcher watcher;
  watcher.epoch = [&](const EpochEvent& e) {
    ++told;
    ASSERT_TRUE(e.validation.has_value());
    EXPECT_DOUBLE_EQ((*e.validation)[0].value, 2.5);
  };
  train(*executable_, options_, rows(8), &validation, watcher);
  EXPECT_EQ(told, 2);
}

TEST_F(Trainer, StopsAfterTheStepWhenInterrupted) {
  options_.epochs = 5;
  Watcher watcher;
  watcher.interrupted = [&] { return device_.runs.size() == 2 ? 15 : 0; };
  const TrainResult result = train(*executable_, options_, rows(8), nullptr, watcher);
  EXPECT_EQ(result.interrupted, 15);
  EXPECT_EQ(result.steps, 2);
}

// A signal before the first step leaves the weights as they are.
TEST_F(Trainer, TakesNoStepWhenInterruptedBefore) {
  options_.epochs = 5;
  Watcher watcher;
  watcher.interrupted = [] { return 2; };
  const TrainResult result = train(*executable_, options_, rows(8), nullptr, watcher);
  EXPECT_EQ(result.interrupted, 2);
  EXPECT_EQ(result.steps, 0);
}

// Interrupted in the validation after the last step: the run is not taken for a whole one, half a validation for none.
TEST_F(Trainer, NoticesASignalInTheLastValidation) {
  options_.epochs = 1;
  const Split validation = rows(12);
  bool told = false;
  Watcher watcher;
  watcher.interrupted = [&] { return device_.runs.size() >= 3 ? 1 : 0; };  // two steps, then one of three batches
  watcher.epoch = [&](const EpochEvent&) { told = true; };
  const TrainResult result = train(*executable_, options_, rows(8), &validation, watcher);
  EXPECT_EQ(result.interrupted, 1);
  EXPECT_EQ(device_.runs.size(), 3U);
  EXPECT_FALSE(result.validation.has_value());
  EXPECT_FALSE(told);
}

TEST_F(Trainer, RefusesALossThatIsNotFinite) {
  options_.epochs = 1;
  device_.loss_override = std::numeric_limits<float>::quiet_NaN();
  try {
    train(*executable_, options_, rows(8), nullptr, {});
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_EQ(error.diagnostics().at(0).message, "the loss is nan at step 1 (epoch 1)");
    EXPECT_EQ(error.code(), ExitCode::failed);
  }
}

// Rows 0, 1, ... of which one is nan.
Split rows_with_nan(int n, int at) {
  data::Column c{.input = "x", .type = data::ElementType::f32, .dims = {}, .bytes = {}};
  for (int i = 0; i < n; ++i) {
    const float value = i == at ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(i);
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    c.bytes.insert(c.bytes.end(), bytes, bytes + sizeof value);
  }
  return {"training", data::Table{.rows = n, .columns = {c}}, {{"x", "f32", {}, {}}}};
}

TEST_F(Trainer, NamesTheRowOfTheDataThatIsNotFinite) {
  options_.epochs = 1;
  try {
    train(*executable_, options_, rows_with_nan(40, 17), nullptr, {});
    FAIL() << "no error";
  } catch (const UserError& error) {
    const std::string& message = error.diagnostics().at(0).message;
    EXPECT_NE(message.find("(epoch 1): input 'x' holds nan in training row 17"), std::string::npos) << message;
  }
}

TEST_F(Trainer, NamesTheRowThatMakesAnEvaluationNotFinite) {
  for (int at : {0, 5, 8}) {  // of two batches of four, then one of one
    try {
      evaluate(*executable_, rows_with_nan(9, at));
      FAIL() << "no error";
    } catch (const UserError& error) {
      EXPECT_EQ(error.diagnostics().at(0).message,
                fmt::format("'mean' is nan: input 'x' holds nan in training row {}, counted from 0", at));
    }
  }
  options_.epochs = 1;
  const Split validation = rows_with_nan(4, 2);
  EXPECT_THROW(train(*executable_, options_, rows(8), &validation, {}), UserError);
}

// The loss is that of the weights before the step: only the weights tell what the last step did.
TEST(TrainerParameters, RefusesWeightsThatAreNotFiniteAtTheEnd) {
  for (const char* dtype : {"f32", "f64", "f16", "bf16"}) {
    CountingDevice device;
    codegen::Program program;
    program.arena_bytes = 512, program.state_bytes = 64;
    program.entries = with_metrics({entry("train", 4)});
    const int64_t size = dtype[0] == 'b' || dtype[1] == '1' ? 2 : dtype[1] == '3' ? 4 : 8;
    program.states = {{"w", dtype, {2}, 2 * size, {Segment::state, 0}, "param"}};
    Executable executable(program, device);
    TrainOptions options;
    options.epochs = 1;
    EXPECT_NO_THROW(train(executable, options, rows(4), nullptr, {})) << dtype;
    const std::vector<uint8_t> ones(static_cast<size_t>(2 * size), 0xff);  // nan in every format
    executable.write(program.states[0], ones.data());
    try {
      train(executable, options, rows(4), nullptr, {});
      FAIL() << dtype << ": no error";
    } catch (const UserError& error) {
      EXPECT_EQ(error.diagnostics().at(0).message.substr(0, 20), "parameter 'w' holds ") << dtype;
      EXPECT_NE(error.diagnostics().at(0).message.find("nan after step 1: nothing is saved"), std::string::npos);
    }
  }
}

// Infinities as well as nan, wherever the format has its exponent.
TEST(TrainerParameters, RefusesInfinities) {
  const std::vector<std::pair<std::string, std::vector<uint8_t>>> infinities = {
      {"f16", {0, 0x7c}}, {"bf16", {0x80, 0x7f}}, {"f32", {0, 0, 0x80, 0x7f}}, {"f64", {0, 0, 0, 0, 0, 0, 0xf0, 0x7f}}};
  for (const auto& [dtype, infinity] : infinities) {
    CountingDevice device;
    codegen::Program program;
    program.arena_bytes = 512, program.state_bytes = 64;
    program.entries = with_metrics({entry("train", 4)});
    program.states = {{"w", dtype, {1}, static_cast<int64_t>(infinity.size()), {Segment::state, 0}, "param"}};
    Executable executable(program, device);
    executable.write(program.states[0], infinity.data());
    TrainOptions options;
    options.epochs = 1;
    EXPECT_THROW(train(executable, options, rows(4), nullptr, {}), UserError) << dtype;
  }
}

}  // namespace
}  // namespace heddle::runtime
