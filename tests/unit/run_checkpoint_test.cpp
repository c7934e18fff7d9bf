// Checkpoints of a run: what is read back, and that whatever happens to the file is found out.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <random>

#include "ir/diagnostic.h"
#include "runtime/files/temporary.h"
#include "runtime/files/write_file.h"
#include "runtime/train/best.h"
#include "runtime/train/checkpoint.h"
#include "runtime/train/run_folder.h"
#include "runtime/weights/sealed.h"
#include "tests/support/memory_device.h"
#include "tests/support/text_files.h"

namespace heddle::runtime {
namespace {
using heddle::testing::read_text;
using heddle::testing::write_text;

// A parameter whose layout is turned, its moment and a counter.
struct Small {
  codegen::Program program;
  MemoryDevice device;
  std::optional<Executable> executable;
  explicit Small(uint8_t first, const std::vector<int64_t>& layout = {0, 2, 3, 1}) {
    program.state_bytes = 512;
    const std::vector<int64_t> dims = {2, 3, 1, 2};
    program.states = {{"w", "u16", dims, 24, {codegen::Segment::state, 0}, codegen::BufferRole::param, layout},
                      {"w.m", "f32", dims, 48, {codegen::Segment::state, 64}, codegen::BufferRole::state, layout},
                      {"step", "i64", {}, 8, {codegen::Segment::state, 256}, codegen::BufferRole::state}};
    executable.emplace(program, device);
    for (const codegen::Buffer& b : program.states) {
      std::vector<uint8_t> bytes(static_cast<size_t>(b.bytes));
      for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(first + i);
      executable->write(b, bytes.data());
    }
  }
  std::vector<uint8_t> bytes(size_t state) {
    std::vector<uint8_t> all(static_cast<size_t>(program.states[state].bytes));
    executable->read(program.states[state], all.data());
    return all;
  }
};

RunState some_state() {
  RunState state;
  state.steps = 40, state.epochs = 3, state.step_of_epoch = 4, state.epochs_without_better = 2;
  state.seconds = 0.1;
  state.train = {{"loss", 1.0 / 3}, {"f1", 0, {2}, {0.25, std::numeric_limits<double>::quiet_NaN()}}};
  state.validation = MetricValues{{"loss", 0.1}};
  state.best = Best{.value = 0.1 + 0.2, .epoch = 2, .step = 24, .weights = {}, .by = "the largest 'f1'"};
  state.best->weights.tensors = {{"w", "u16", {2, 3, 1, 2}, 0, 24}};
  state.best->weights.data.own().assign(24, std::byte{7});
  return state;
}

std::string error_of(const std::string& path) {
  try {
    read_checkpoint(path);
  } catch (const UserError& error) {
    EXPECT_EQ(error.diagnostics().size(), 1U);
    EXPECT_EQ(error.diagnostics()[0].message.find('\n'), std::string::npos);
    return error.diagnostics()[0].message.substr(path.size() + 2);
  }
  return "read";
}

class RunCheckpoint : public ::testing::Test {
 protected:
  void SetUp() override {
    write_sealed(path_, make_checkpoint(*small_.executable, some_state(), {{"heddle.model", "{\"a\": 1}"}}));
  }
  const TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/c";
  Small small_{1};
};

TEST_F(RunCheckpoint, HoldsAllThatARunGoesOnWith) {
  Small other(100);
  const Checkpoint c = read_checkpoint(path_);
  require_states(c, other.program);
  restore_states(*other.executable, c);
  for (size_t i = 0; i < small_.program.states.size(); ++i) EXPECT_EQ(other.bytes(i), small_.bytes(i));
  const RunState expected = some_state();
  EXPECT_EQ(c.state.steps, 40);
  EXPECT_EQ(c.state.epochs, 3);
  EXPECT_EQ(c.state.step_of_epoch, 4);
  EXPECT_EQ(c.state.epochs_without_better, 2);
  EXPECT_EQ(c.state.seconds, 0.1);
  EXPECT_EQ(c.state.train.at(0).value, 1.0 / 3);
  EXPECT_EQ(c.state.train.at(1).dims, std::vector<int64_t>{2});
  EXPECT_EQ(c.state.train.at(1).values.at(0), 0.25);
  EXPECT_TRUE(std::isnan(c.state.train.at(1).values.at(1)));
  EXPECT_EQ(c.state.validation->at(0).value, 0.1);
  EXPECT_EQ(c.state.best->value, 0.1 + 0.2);
  EXPECT_EQ(c.state.best->epoch, 2);
  EXPECT_EQ(c.state.best->step, 24);
  EXPECT_EQ(c.state.best->by, "the largest 'f1'");
  EXPECT_EQ(c.state.best->weights.bytes(c.state.best->weights.tensors.at(0))[23], std::byte{7});
  EXPECT_EQ(c.file.metadata.at("heddle.model"), "{\"a\": 1}");
}

// In files elements lie as the shape says, so that a device with another layout finds them.
TEST_F(RunCheckpoint, IsOfNoLayout) {
  Small plain(100, {});
  const Checkpoint c = read_checkpoint(path_);
  restore_states(*plain.executable, c);
  const std::string again = folder_.path() + "/again";
  write_sealed(again, make_checkpoint(*plain.executable, some_state(), {{"heddle.model", "{\"a\": 1}"}}));
  EXPECT_EQ(read_text(again), read_text(path_));
  EXPECT_NE(plain.bytes(0), small_.bytes(0));
}

TEST_F(RunCheckpoint, ACutIsFoundOut) {
  const std::string whole = read_text(path_);
  constexpr size_t kCuts = 64;
  for (size_t i = 0; i < kCuts; ++i) {
    const size_t bytes = whole.size() * i / kCuts;
    write_text(path_, whole.substr(0, bytes));
    const std::string error = error_of(path_);
    EXPECT_TRUE(error.starts_with("truncated: ") || error.starts_with("empty") ||
                error.starts_with("no checkpoint, or truncated"))
        << bytes << " bytes: " << error;
  }
  for (size_t bytes = whole.size() - 40; bytes < whole.size(); ++bytes) {
    write_text(path_, whole.substr(0, bytes));
    EXPECT_TRUE(error_of(path_).starts_with("truncated: ")) << bytes << " bytes: " << error_of(path_);
  }
  write_text(path_, whole);
  EXPECT_EQ(error_of(path_), "read");
  write_text(path_, whole + "x");
  EXPECT_EQ(error_of(path_), "damaged: its content does not have its checksum");
}

TEST_F(RunCheckpoint, EachBitCounts) {
  const std::string whole = read_text(path_);
  std::mt19937 random(1);
  for (size_t i = 0; i < 1000; ++i) {
    std::string flipped = whole;
    const size_t bit = random() % (whole.size() * 8);
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    write_text(path_, flipped);
    EXPECT_NE(error_of(path_), "read") << "bit " << bit;
  }
}

TEST_F(RunCheckpoint, OtherFilesAreNamed) {
  write_text(path_, "{\"format\": \"heddle-model/1\"}");
  EXPECT_EQ(error_of(path_), "no checkpoint: not a safetensors file");
  write_text(path_, std::string(4096, '\0'));
  EXPECT_EQ(error_of(path_), "no checkpoint: not a safetensors file");
  write_safetensors(path_, some_state().best->weights);
  EXPECT_EQ(error_of(path_), "no checkpoint: a safetensors file without a checksum");
  WeightsFile file = some_state().best->weights;
  write_sealed(path_, file);
  EXPECT_EQ(error_of(path_), "no checkpoint: it does not say 'heddle.checkpoint'");
  file.metadata["heddle.checkpoint"] = "2";
  write_sealed(path_, file);
  EXPECT_EQ(error_of(path_), "a checkpoint of format 2, which a newer Heddle wrote; this one reads format 1");
  file.metadata["heddle.checkpoint"] = "one";
  write_sealed(path_, file);
  EXPECT_EQ(error_of(path_), "no checkpoint: 'heddle.checkpoint' is no number");
  file.metadata["heddle.checkpoint"] = "1";
  file.metadata["heddle.step"] = "-1";
  write_sealed(path_, file);
  EXPECT_EQ(error_of(path_), "no checkpoint: 'heddle.step' is negative");
}

TEST_F(RunCheckpoint, StatesOfAnotherModelAreNamed) {
  const Checkpoint c = read_checkpoint(path_);
  const auto message = [&](const Small& other) -> std::string {
    try {
      require_states(c, other.program);
      return "fits";
    } catch (const UserError& error) {
      return error.diagnostics()[0].message.substr(path_.size() + 2);
    }
  };
  Small renamed(1), larger(1), fewer(1);
  renamed.program.states[1].name = "w.v";
  larger.program.states[0].dims = {2, 3, 2, 1};
  fewer.program.states.pop_back();
  EXPECT_EQ(message(Small(1)), "fits");
  EXPECT_EQ(message(renamed), "of another model: it has no 'w.v'");
  EXPECT_EQ(message(larger), "of another model: 'w' is u16[2,3,1,2], the model has u16[2,3,2,1]");
  EXPECT_EQ(message(fewer), "of another model, which has a state 'step'");
}

TEST(Best, IsBetterByMoreThanTheLeastDifference) {
  const BestRule higher{.metric = "accuracy", .higher = true, .min_delta = 0.25},
      lower{.metric = "loss", .min_delta = 0.25};
  EXPECT_FALSE(is_better(higher, 0.75, 0.5));
  EXPECT_TRUE(is_better(higher, 0.875, 0.5));
  EXPECT_FALSE(is_better(lower, 0.25, 0.5));
  EXPECT_TRUE(is_better(lower, 0.125, 0.5));
  EXPECT_FALSE(is_better(lower, std::nan(""), std::nullopt));
}

TEST(RunFolder, KeepsTheNewestAndTheBest) {
  const TemporaryFolder home;
  RunFolder folder(home.path() + "/run");
  const int64_t million = 1'000'000'000'000;  // a digit more than the others' names have
  for (const int64_t step : {int64_t{3}, int64_t{5}, million - 1, million}) write_file(folder.checkpoint(step), "");
  folder.keep_newest(2, million, {folder.checkpoint(3)});
  const std::vector<std::string> kept = {folder.checkpoint(million), folder.checkpoint(million - 1),
                                         folder.checkpoint(3)};
  EXPECT_EQ(folder.checkpoints(), kept);
}

// They could not be used where the run went on.
TEST(RunFolder, DoesNotCountLaterCheckpoints) {
  const TemporaryFolder home;
  RunFolder folder(home.path() + "/run");
  for (const int64_t step : {3, 5, 7, 900}) write_file(folder.checkpoint(step), "");
  folder.keep_newest(1, 7, {});
  const std::vector<std::string> kept = {folder.checkpoint(900), folder.checkpoint(7)};
  EXPECT_EQ(folder.checkpoints(), kept);
}

}  // namespace
}  // namespace heddle::runtime
