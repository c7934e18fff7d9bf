// The training loop on a device that only counts: which rows it feeds, when it evaluates, when it stops.
#include "runtime/train/trainer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <set>
#include <span>
#include <utility>

#include "ir/diagnostic.h"
#include "runtime/data/bucket_order.h"
#include "runtime/data/shuffle.h"
#include "tests/support/memory_device.h"

namespace heddle::runtime {
namespace {

using codegen::Buffer;
using codegen::Segment;

// Every fed entry takes x: f32[batch], records its mean and adds to totals; "metrics" returns their
// ratio. What is submitted is executed at once, or as late as it may be.
class CountingDevice final : public MemoryDevice {
 public:
  void load(const codegen::Program& program, const Segments& segments) override {
    program_ = &program, segments_ = segments;
  }
  uint64_t submit(size_t index, int64_t repeats) override {
    waiting_.push_back({index, repeats});
    submitted.push_back(repeats);
    if (!late) execute_all();
    return ++submissions_;
  }
  uint64_t poll() override { return submissions_ - waiting_.size(); }
  void wait(uint64_t submission) override {
    while (poll() < submission) execute_first();
  }
  // In order with what was submitted.
  void write(void* to, const void* from, int64_t bytes) override {
    execute_all();
    MemoryDevice::write(to, from, bytes);
  }
  struct Call {
    std::string entry;
    std::vector<float> rows;
  };
  std::vector<Call> runs;
  std::vector<int64_t> submitted;  // repeats
  float loss_override = 0;
  int64_t override_from = 0;  // this step
  bool late = false;

 private:
  char* at(Segment s) const { return static_cast<char*>(segments_[static_cast<size_t>(s)]); }
  void execute_all() {
    while (!waiting_.empty()) execute_first();
  }
  void execute_first() {
    const auto [index, repeats] = waiting_.front();
    waiting_.erase(waiting_.begin());
    for (int64_t i = 0; i < repeats; ++i) execute(program_->entries[index]);
  }
  void execute(const codegen::Entry& entry) {
    if (entry.name == "reset") total_ = count_ = 0;
    if (entry.name == "metrics") {
      const double mean = total_ / count_;
      std::memcpy(at(Segment::arena) + 256, &mean, sizeof mean);
    }
    if (entry.fed_rows > 0) run_rows(entry);
  }
  void run_rows(const codegen::Entry& entry) {
    auto* cursor = reinterpret_cast<uint64_t*>(at(Segment::state) + program_->feeding.cursor.offset);
    const auto* order = reinterpret_cast<const uint32_t*>(cursor[codegen::kCursorOrder]);
    const auto* column = reinterpret_cast<const float*>(cursor[codegen::kCursorColumns]);
    std::vector<float> x;
    uint64_t fault = codegen::kNoFault;
    for (int64_t r = 0; r < entry.fed_rows; ++r) {
      const uint64_t place = cursor[codegen::kCursorPosition] + static_cast<uint64_t>(r);
      x.push_back(column[order != nullptr ? order[place] : place]);
      if (std::isnan(x.back())) fault = std::min(fault, static_cast<uint64_t>(r) << 2);
    }
    float sum = 0;
    for (float v : x) sum += v;
    runs.push_back({entry.name, x});
    const bool overridden = loss_override != 0 && std::ssize(runs) > override_from;
    record(cursor, overridden ? loss_override : sum / static_cast<float>(x.size()), fault, entry.fed_rows);
    total_ += static_cast<double>(sum), count_ += static_cast<double>(x.size());
  }
  void record(uint64_t* cursor, double loss, uint64_t fault, int64_t rows) {
    const uint64_t step = cursor[codegen::kCursorStep]++;
    auto* to = reinterpret_cast<uint64_t*>(at(Segment::ring)) +
               step % static_cast<uint64_t>(program_->feeding.records) * codegen::kRecordWords;
    to[codegen::kRecordStep] = step;
    to[codegen::kRecordLoss] = std::bit_cast<uint64_t>(loss);
    to[codegen::kRecordCount] = std::bit_cast<uint64_t>(static_cast<double>(rows));
    to[codegen::kRecordFault] = fault;
    to[codegen::kRecordOutside] = codegen::kNoFault;
    cursor[codegen::kCursorPosition] += static_cast<uint64_t>(rows);
  }

  struct Waiting {
    size_t index;
    int64_t repeats;
  };
  std::vector<Waiting> waiting_;
  double total_ = 0, count_ = 0;
  const codegen::Program* program_ = nullptr;
  Segments segments_{};
};

codegen::Entry entry(const std::string& name, int64_t batch) {
  codegen::Entry e;
  e.name = name;
  e.fed_rows = batch;
  e.inputs = {{"x", "f32", {batch}, batch * 4, {Segment::arena, 0}, codegen::BufferRole::input}};
  e.outputs = {{"loss", "f32", {}, 4, {Segment::arena, 256}, codegen::BufferRole::loss}};
  return e;
}

// The given entries, and those of metrics.
std::vector<codegen::Entry> with_metrics(std::vector<codegen::Entry> entries) {
  codegen::Entry reset, metrics;
  reset.name = "reset";
  metrics.name = "metrics";
  metrics.outputs = {{"mean", "f64", {}, 8, {Segment::arena, 256}, codegen::BufferRole::result}};
  entries.push_back(reset);
  entries.push_back(metrics);
  return entries;
}

// A program of these entries with parameters in the first 64 bytes of its states.
codegen::Program program_of(std::vector<codegen::Entry> entries) {
  codegen::Program p;
  p.arena_bytes = 512, p.state_bytes = 128;
  p.feeding = {.columns = {{"x", "f32"}}, .cursor = {Segment::state, 64}, .records = 4};
  p.entries = with_metrics(std::move(entries));
  return p;
}

Split split_of(const std::vector<float>& values) {
  data::Column c{.input = "x", .type = data::ElementType::f32, .dims = {}, .bytes = {}};
  c.bytes.resize(values.size() * sizeof(float));
  std::memcpy(c.bytes.data(), values.data(), c.bytes.size());
  return {"training", data::Table{.rows = std::ssize(values), .columns = {c}}};
}

// Rows 1 ... n.
Split rows(int n) {
  std::vector<float> values;
  for (int i = 1; i <= n; ++i) values.push_back(static_cast<float>(i));
  return split_of(values);
}

class Trainer : public testing::Test {
 protected:
  Trainer() { executable_.emplace(program_, device_); }
  codegen::Program program_ =
      program_of({entry("train", 4), entry("train_last", 2), entry("eval", 4), entry("eval_last", 1)});
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

// Whatever a submission holds, the same batches run in the same order and the same records are told of; so they do on a
// device that is late, and where the data are streamed in chunks of two batches.
TEST_F(Trainer, AnyNumberOfStepsASubmissionIsTheSame) {
  options_.epochs = 3;
  std::vector<std::vector<float>> batches;
  std::vector<double> losses;
  for (const bool late : {false, true})
    for (const int64_t repeats : {1, 2, 64})
      for (const int64_t resident : {1, 256, 1 << 20}) {
        CountingDevice device;
        device.late = late;
        Executable executable(program_, device);
        options_.steps_options = {.most_repeats = repeats, .feed = {.resident_bytes = resident}};
        std::vector<double> told;
        Watcher watcher;
        watcher.step = [&](const StepEvent& e) {
          told.push_back(e.loss);
          EXPECT_EQ(e.total_step, std::ssize(told));
        };
        const TrainResult result = train(executable, options_, rows(70), nullptr, watcher);
        EXPECT_EQ(result.steps, 54);  // 3 * (17 of four rows, 1 of two)
        std::vector<std::vector<float>> ran;
        for (const CountingDevice::Call& call : device.runs) ran.push_back(call.rows);
        if (batches.empty()) batches = ran, losses = told;
        EXPECT_EQ(ran, batches) << late << repeats << resident;
        EXPECT_EQ(told, losses) << late << repeats << resident;
        // Of the ring's four records two submissions have two each; a chunk is a batch where little may be resident.
        EXPECT_EQ(*std::ranges::max_element(device.submitted), repeats == 1 || resident == 1 ? 1 : 2);
      }
}

// Batches of short rows run through their entries, in the order of bucket_order; the rest through that of the remainder.
// Neither submissions nor a break in the epoch change anything.
TEST_F(Trainer, RowsInBucketsGoThroughTheirEntries) {
  const codegen::Program program =
      program_of({entry("train.16", 4), entry("train.8", 4), entry("train", 4), entry("train_last", 2),
                  entry("eval.8", 4), entry("eval.16", 4), entry("eval", 4), entry("eval_last", 2)});
  Split split = rows(70);
  for (int i = 0; i < 70; ++i) split.bucket.push_back(static_cast<uint8_t>(i * 7 % 5 % 3));
  const auto call_of = [](const CountingDevice::Call& call) { return std::pair(call.entry, call.rows); };
  const auto expected = [&](const std::string& phase, const std::vector<uint32_t>& order) {
    const data::BucketOrder made = data::bucket_order(order, split.bucket, 2, 4);
    std::vector<std::pair<std::string, std::vector<float>>> calls;
    for (size_t i = 0; i < made.rows.size(); ++i) {
      const size_t batch = i / 4;
      constexpr const char* kLengths[] = {".8", ".16", ""};
      if (i % 4 == 0)
        calls.emplace_back(phase + (batch < made.batches.size() ? kLengths[made.batches[batch]] : "_last"),
                           std::vector<float>());
      calls.back().second.push_back(static_cast<float>(made.rows[i]) + 1);
    }
    return calls;
  };
  auto wanted = expected("train", data::shuffled(70, 5, 0));
  std::ranges::copy(expected("train", data::shuffled(70, 5, 1)), std::back_inserter(wanted));
  std::set<std::string> entries;
  for (const auto& [name, values] : wanted) entries.insert(name);
  EXPECT_EQ(entries, (std::set<std::string>{"train", "train.16", "train.8", "train_last"}));
  options_.seed = 5, options_.epochs = 2;
  RunState from;
  from.steps = 25, from.epochs = 1, from.step_of_epoch = 7;
  for (const bool late : {false, true})
    for (const int64_t repeats : {1, 2})
      for (const int64_t resident : {1, 1 << 20})
        for (const bool resumed : {false, true}) {
          CountingDevice device;
          device.late = late;
          Executable executable(program, device);
          options_.steps_options = {.most_repeats = repeats, .feed = {.resident_bytes = resident}};
          options_.from = resumed ? &from : nullptr;
          EXPECT_EQ(train(executable, options_, split, nullptr, {}).steps, 36);
          std::vector<std::pair<std::string, std::vector<float>>> ran;
          std::ranges::transform(device.runs, std::back_inserter(ran), call_of);
          EXPECT_TRUE(std::ranges::equal(ran, std::span(wanted).subspan(resumed ? 25 : 0))) << late << repeats;
        }
  Executable executable(program, device_);
  EXPECT_DOUBLE_EQ(evaluate(executable, split)[0].value, 35.5);
  std::vector<std::pair<std::string, std::vector<float>>> ran;
  std::ranges::transform(device_.runs, std::back_inserter(ran), call_of);
  EXPECT_EQ(ran, expected("eval", data::in_order(70)));
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
  options_.epochs = 5, options_.steps_options.most_repeats = 1;
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

// The rule says when a run is saved; at the end of an epoch that is after the validation.
TEST_F(Trainer, IsSavedWhereTheRuleSaysAndAtTheEnd) {
  const auto saved = [&](const SaveRule& rule) {
    std::string at;
    Watcher watcher;
    watcher.save = [&](const RunState& s) { at += fmt::format("{}:{}+{} ", s.steps, s.epochs, s.step_of_epoch); };
    options_.epochs = 3, options_.save = rule;
    train(*executable_, options_, rows(10), nullptr, watcher);
    return at;
  };
  EXPECT_EQ(saved({}), "9:3+0 ");
  EXPECT_EQ(saved({.steps = 2}), "2:0+2 4:1+1 6:2+0 8:2+2 9:3+0 ");
  EXPECT_EQ(saved({.epochs = 1}), "3:1+0 6:2+0 9:3+0 ");
  EXPECT_EQ(saved({.epochs = 2}), "6:2+0 9:3+0 ");
  options_.steps = 5;  // the last epoch lacks a step: it is saved before it is measured
  EXPECT_EQ(saved({.steps = 3}), "3:1+0 5:1+2 ");
}

// From each state in which a run was saved another one goes on with the batches that were left.
TEST_F(Trainer, GoesOnFromAnyState) {
  options_.epochs = 3, options_.save.steps = 1;
  std::vector<RunState> states;
  Watcher watcher;
  watcher.save = [&](const RunState& s) { states.push_back(s); };
  const TrainResult whole = train(*executable_, options_, rows(10), nullptr, watcher);
  const std::vector<CountingDevice::Call> runs = device_.runs;
  ASSERT_EQ(states.size(), 9U);
  for (const RunState& state : states) {
    device_.runs.clear();
    options_.from = &state;
    const TrainResult rest = train(*executable_, options_, rows(10), nullptr, {});
    EXPECT_EQ(rest.steps, 9);
    EXPECT_EQ(rest.epochs, 3);
    ASSERT_EQ(std::ssize(device_.runs), 9 - state.steps);
    for (size_t i = 0; i < device_.runs.size(); ++i)
      EXPECT_EQ(device_.runs[i].rows, runs[i + static_cast<size_t>(state.steps)].rows);
  }
  RunState wrong;
  wrong.steps = 4, wrong.epochs = 1, wrong.step_of_epoch = 2;
  options_.from = &wrong;
  EXPECT_THROW(train(*executable_, options_, rows(10), nullptr, {}), UserError);
}

// A validation that a signal ended is done again, and the measures of the epoch's steps are not lost.
TEST_F(Trainer, DoesAnInterruptedValidationAgain) {
  options_.epochs = 1;
  const Split validation = rows(12);
  std::optional<RunState> saved;
  Watcher watcher;
  watcher.interrupted = [&] { return device_.runs.size() >= 3 ? 1 : 0; };
  watcher.save = [&](const RunState& s) { saved = s; };
  train(*executable_, options_, rows(8), &validation, watcher);
  ASSERT_TRUE(saved.has_value());
  EXPECT_EQ(saved->step_of_epoch, 2);
  device_.runs.clear();
  options_.from = &*saved;
  const TrainResult result = train(*executable_, options_, rows(8), &validation, {});
  EXPECT_EQ(device_.runs.size(), 3U);  // of the validation
  EXPECT_EQ(result.epochs, 1);
  EXPECT_DOUBLE_EQ(result.train[0].value, 4.5);
  EXPECT_DOUBLE_EQ((*result.validation)[0].value, 6.5);
}

// The rows are the same in each epoch, and so is their mean: no epoch is better than the first.
TEST_F(Trainer, StopsAfterEpochsThatAreNoBetter) {
  options_.epochs = 10;
  options_.best = BestRule{.metric = "mean", .patience = 3};
  int better = 0;
  Watcher watcher;
  watcher.better = [&](const Best& best) { better += best.epoch == 1 ? 1 : 100; };
  TrainResult result = train(*executable_, options_, rows(10), nullptr, watcher);
  EXPECT_EQ(result.stopped, Stopped::early_stop);
  EXPECT_EQ(result.epochs, 4);
  EXPECT_EQ(result.best->epoch, 1);
  EXPECT_EQ(better, 1);
  options_.best->patience = 0;
  result = train(*executable_, options_, rows(10), nullptr, {});
  EXPECT_EQ(result.stopped, Stopped::no);
  EXPECT_EQ(result.epochs, 10);
}

// What the best epoch came to by another measure says nothing of this one, nor do the epochs that were no better.
TEST_F(Trainer, LooksForTheBestEpochAnewWhereTheMeasureIsAnother) {
  RunState saved;
  std::vector<std::string> notes;
  Watcher watcher;
  watcher.save = [&](const RunState& state) { saved = state; };
  watcher.note = [&](const std::string& note) { notes.push_back(note); };
  options_.epochs = 3, options_.best = BestRule{.metric = "mean", .patience = 3};
  train(*executable_, options_, rows(10), nullptr, watcher);
  EXPECT_EQ(saved.best.value().epoch, 1);
  EXPECT_EQ(saved.epochs_without_better, 2);
  options_.from = &saved, options_.epochs = 5, watcher.save = {};
  TrainResult result = train(*executable_, options_, rows(10), nullptr, watcher);
  EXPECT_EQ(result.stopped, Stopped::early_stop);
  EXPECT_EQ(result.best.value().epoch, 1);
  EXPECT_TRUE(notes.empty());
  saved.best->value = 1e9, options_.best->higher = true;
  result = train(*executable_, options_, rows(10), nullptr, watcher);
  EXPECT_EQ(result.stopped, Stopped::no);
  EXPECT_EQ(result.best.value().epoch, 4);
  EXPECT_EQ(notes, std::vector<std::string>{"the best epoch, 1, was that of the least 'mean': from here on it is "
                                            "looked for anew, by the largest 'mean'"});
}

TEST_F(Trainer, TimeAndMemoryEndARun) {
  options_.steps = 1'000'000, options_.steps_options.most_repeats = 1;
  options_.max_resident_bytes = 1;
  EXPECT_EQ(train(*executable_, options_, rows(10), nullptr, {}).stopped, Stopped::memory);
  options_.max_resident_bytes = 0, options_.max_seconds = 1e-9;
  const TrainResult result = train(*executable_, options_, rows(10), nullptr, {});
  EXPECT_EQ(result.stopped, Stopped::max_time);
  EXPECT_LT(result.steps, 1'000'000);
}

// What is under way is finished and counted: the weights are those after it.
TEST_F(Trainer, CountsWhatWasUnderWayWhenInterrupted) {
  device_.late = true;
  options_.epochs = 5;
  Watcher watcher;
  watcher.interrupted = [&] { return device_.runs.size() >= 3 ? 15 : 0; };
  const TrainResult result = train(*executable_, options_, rows(40), nullptr, watcher);
  EXPECT_EQ(result.interrupted, 15);
  EXPECT_EQ(result.steps, std::ssize(device_.runs));
  EXPECT_LE(result.steps, 3 + 2 + 2);
}

// Steps after it have run by the time it is found, and do not change what is said.
TEST_F(Trainer, NamesTheFirstStepOfManyWhoseLossIsNotFinite) {
  device_.late = true;
  device_.loss_override = std::numeric_limits<float>::infinity(), device_.override_from = 6;
  options_.epochs = 1;
  try {
    train(*executable_, options_, rows(40), nullptr, {});
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_EQ(error.diagnostics().at(0).message, "the loss is inf at step 7 (epoch 1)");
  }
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
  std::vector<float> values;
  for (int i = 0; i < n; ++i)
    values.push_back(i == at ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(i));
  return split_of(values);
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
    codegen::Program program = program_of({entry("train", 4)});
    const int64_t size = dtype[0] == 'b' || dtype[1] == '1' ? 2 : dtype[1] == '3' ? 4 : 8;
    program.states = {{"w", dtype, {2}, 2 * size, {Segment::state, 0}, codegen::BufferRole::param}};
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
    codegen::Program program = program_of({entry("train", 4)});
    program.states = {
        {"w", dtype, {1}, static_cast<int64_t>(infinity.size()), {Segment::state, 0}, codegen::BufferRole::param}};
    Executable executable(program, device);
    executable.write(program.states[0], infinity.data());
    TrainOptions options;
    options.epochs = 1;
    EXPECT_THROW(train(executable, options, rows(4), nullptr, {}), UserError) << dtype;
  }
}

}  // namespace
}  // namespace heddle::runtime
