// Persistent kernels in the interpreter: the bits of their launches, whatever the number of blocks
// and of steps in a launch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "codegen/lower.h"
#include "frontend/build_graph.h"
#include "frontend/read/read_model.h"
#include "passes/pipeline.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/data/keyed_random.h"
#include "runtime/train/trainer.h"
#include "tests/ptx/ptx_device.h"
#include "tests/support/source_dir.h"

namespace heddle::testing {
namespace {

struct Compiled {
  codegen::Program program;
  std::vector<codegen::Buffer> inputs;  // of "train"
  int64_t batch = 0;
};

// Every entry that can be is one kernel. Inputs are stored as they are computed with.
Compiled compile(const std::string& name, const std::vector<std::string>& set = {}) {
  frontend::Sources sources;
  const frontend::Model model =
      frontend::read_model(sources, (source_dir() / "models" / (name + ".json")).string(), {.set = set, .small = true});
  frontend::BuildOptions build = frontend::default_build_options(model);
  const int64_t batch = build.train;
  build.train_last = build.eval_last = batch - 1;
  ir::Module m = frontend::build_module(model, build);
  passes::Options options;
  options.target = ir::h200();
  for (const ir::Graph& g : m.graphs)
    if (g.name == "train")
      for (const ir::ValueId v : g.inputs)
        if (g[v].role == ir::Role::input) options.columns.push_back({g[v].name, g[v].type.dtype, {}});
  passes::run_pipeline(m, options);
  Compiled out{codegen::lower(m, name, options.target, codegen::OneKernel::where_possible), {}, batch};
  out.inputs = out.program.find_entry(ir::Phase::train)->inputs;
  return out;
}

runtime::data::Column column(const codegen::Buffer& input, int64_t rows) {
  runtime::data::Column c{
      .input = input.name, .type = runtime::data::ElementType::f32, .dims = input.dims, .bytes = {}};
  c.dims.erase(c.dims.begin());
  int64_t count = rows;
  for (const int64_t d : c.dims) count *= d;
  runtime::data::KeyedRandom random(/*seed=*/7, static_cast<uint64_t>(count));
  const bool real = input.dtype == "f32";
  if (!real) c.type = runtime::data::ElementType::i32;
  for (int64_t i = 0; i < count; ++i) {
    const float value = random.uniform(0, 2);
    const auto label = static_cast<int32_t>(input.name == "size" ? 3 * value : value);  // lengths beyond one step
    const auto* bytes = real ? reinterpret_cast<const std::byte*>(&value) : reinterpret_cast<const std::byte*>(&label);
    c.bytes.insert(c.bytes.end(), bytes, bytes + 4);
  }
  return c;
}

runtime::Split rows_of(const Compiled& what, int64_t rows) {
  runtime::Split split{"training", {.rows = rows, .columns = {}}};
  for (const codegen::Buffer& b : what.inputs) split.table.columns.push_back(column(b, rows));
  return split;
}

struct Trained {
  std::vector<std::byte> states;
  std::vector<double> losses;
  double validation = 0;
  std::map<std::string, ptx::Counters> counters;
};

Trained train(const Compiled& what, int64_t rows, const PtxOptions& options, int64_t repeats,
              int64_t resident = std::numeric_limits<int64_t>::max()) {
  PtxDevice device(options);
  const runtime::Split split = rows_of(what, rows);
  Trained out;
  {
    runtime::Executable executable(what.program, device);
    executable.run(*what.program.find_entry(ir::Phase::init));
    runtime::Watcher watcher;
    watcher.step = [&](const runtime::StepEvent& e) { out.losses.push_back(e.loss); };
    runtime::TrainOptions train_options;
    train_options.epochs = 1, train_options.seed = 5;
    train_options.steps_options = {.most_repeats = repeats, .feed = {.resident_bytes = resident}};
    out.validation = runtime::train(executable, train_options, split, &split, watcher).validation->at(0).value;
    for (const codegen::Buffer& b : what.program.states) {
      std::vector<std::byte> bytes(static_cast<size_t>(b.bytes));
      executable.read(b, bytes.data());
      out.states.insert(out.states.end(), bytes.begin(), bytes.end());
    }
  }
  for (const ptx::Finding& f : device.findings()) ADD_FAILURE() << to_string(f);
  out.counters = device.counters();
  return out;
}

void expect_same(const Trained& a, const Trained& b) {
  EXPECT_EQ(a.losses, b.losses);
  EXPECT_EQ(std::memcmp(&a.validation, &b.validation, sizeof a.validation), 0);
  EXPECT_TRUE(a.states == b.states);
}

class PtxPersistent : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  }
};

TEST_P(PtxPersistent, GivesTheBitsOfItsLaunches) {
  const Compiled what = compile(GetParam());
  ASSERT_GE(what.program.find_entry(ir::Phase::train)->persistent, 0);
  const int64_t rows = 2 * what.batch + what.batch - 1;  // the last batch is ragged
  const Trained launched = train(what, rows, {.persistent = false}, 1);
  EXPECT_EQ(launched.losses.size(), 3U);
  const Trained one = train(what, rows, {.persistent_blocks = 5}, 64);
  expect_same(one, launched);
  for (const codegen::Entry& e : what.program.entries)
    if (e.persistent >= 0) {
      EXPECT_TRUE(one.counters.contains(what.program.kernels[static_cast<size_t>(e.persistent)].name)) << e.name;
    }
}

INSTANTIATE_TEST_SUITE_P(Models, PtxPersistent,
                         ::testing::Values("tiny_mlp", "mnist_mlp", "mlp", "mnist_cnn", "matrix_factorisation",
                                           "tabular_regression"),
                         [](const auto& info) { return info.param; });

// Entries whose turns are loops of the kernel: `rnn_adding` trains in one, all are validated in one.
using PtxPersistentLoops = PtxPersistent;

bool has_loop(const codegen::Entry& e) {
  return std::ranges::any_of(e.steps, [](const auto& s) { return std::holds_alternative<codegen::Loop>(s.what); });
}

TEST_P(PtxPersistentLoops, GiveTheBitsOfTheirLaunches) {
  const Compiled what = compile(GetParam());
  const codegen::Entry& eval = *what.program.find_entry(ir::Phase::eval);
  ASSERT_GE(eval.persistent, 0);
  ASSERT_TRUE(has_loop(eval));
  const int64_t rows = what.batch + what.batch - 1;
  const Trained launched = train(what, rows, {.persistent = false}, 1);
  for (const int64_t blocks : {1, 3, 7}) {
    SCOPED_TRACE(::testing::Message() << blocks << " blocks");
    const Trained one = train(what, rows, {.persistent_blocks = blocks}, 8);
    expect_same(one, launched);
    EXPECT_TRUE(one.counters.contains(what.program.kernels[static_cast<size_t>(eval.persistent)].name));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, PtxPersistentLoops, ::testing::Values("rnn_adding", "text_gru", "addition_rnn"),
                         [](const auto& info) { return info.param; });

// Recurrent weights that stay in shared memory, where turns are one kernel and the rest of the step is launches.
struct Recurrent {
  std::string name, model;
  std::vector<std::string> set;
};
class PtxPersistentCells : public ::testing::TestWithParam<Recurrent> {
 protected:
  void SetUp() override {
    if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  }
};

const codegen::Kernel& forward_turns(const Compiled& what) {
  for (const codegen::Step& s : what.program.find_entry(ir::Phase::train)->steps)
    if (const auto* loop = std::get_if<codegen::Loop>(&s.what); loop != nullptr && loop->persistent >= 0)
      return what.program.kernels[static_cast<size_t>(loop->persistent)];
  throw std::runtime_error("no loop is a kernel");
}

// Of a grid with as many blocks as slices, and of fewer, which read weights again in each turn.
TEST_P(PtxPersistentCells, GiveTheBitsOfTheirLaunches) {
  const Compiled what = compile(GetParam().model, GetParam().set);
  const codegen::Kernel& turns = forward_turns(what);
  EXPECT_NE(what.program.source.find("hd_held) {"), std::string::npos) << "no weights stay";
  const int64_t rows = 2 * what.batch;
  const Trained launched = train(what, rows, {.persistent = false}, 1);
  for (const int64_t blocks : {3, 1000}) {
    SCOPED_TRACE(::testing::Message() << blocks << " blocks");
    const Trained one = train(what, rows, {.persistent_blocks = blocks}, 1);
    expect_same(one, launched);
    EXPECT_TRUE(one.counters.contains(turns.name));
  }
}

// Units that are no multiple of a tile, an odd number of turns; sums of many parts and runs.
INSTANTIATE_TEST_SUITE_P(Models, PtxPersistentCells,
                         ::testing::Values(Recurrent{"even", "lstm_names", {"let.length=4", "let.h=32"}},
                                           Recurrent{"odd", "lstm_names", {"let.length=5", "let.h=36"}},
                                           Recurrent{"parts", "lstm_names", {"let.length=3", "let.h=256"}},
                                           Recurrent{"runs", "lstm_names", {"let.length=2", "let.h=640"}}),
                         [](const auto& info) { return info.param.name; });

// Twice as many turns read twice as much of all but the weights.
TEST(PtxPersistentCell, ReadsItsWeightsOnce) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  constexpr int64_t kUnits = 128, kWeights = 4 * kUnits * kUnits * 4, kRows = 4, kSlices = kUnits / 4;
  std::vector<int64_t> read;
  for (const char* length : {"let.length=2", "let.length=4"}) {
    const Compiled what = compile("lstm_names", {length, "let.h=128"});
    const Trained one = train(what, what.batch, {.persistent_blocks = 1000}, 1);
    read.push_back(static_cast<int64_t>(one.counters.at(forward_turns(what).name).global_load_bytes));
  }
  const int64_t of_turns = read[1] - read[0];  // of two: the value for each slice, and what the cells read
  EXPECT_GE(of_turns, 2 * kSlices * kRows * kUnits * 4);
  EXPECT_LT(read[0] - of_turns, kWeights + kWeights / 8);
  EXPECT_GE(read[0] - of_turns, kWeights);
}

using PtxPersistentBlocks = PtxPersistent;

TEST_P(PtxPersistentBlocks, AnyNumberOfBlocksStepsAndChunks) {
  const Compiled what = compile(GetParam());
  const int64_t rows = 20 * what.batch + what.batch - 1;
  const Trained launched = train(what, rows, {.persistent = false}, 1);
  for (const int64_t blocks : {1, 2, 7})
    for (const int64_t repeats : {1, 8, 64}) {
      SCOPED_TRACE(::testing::Message() << blocks << " blocks, " << repeats << " steps");
      expect_same(train(what, rows, {.persistent_blocks = blocks}, repeats), launched);
    }
  expect_same(train(what, rows, {.persistent_blocks = 2}, 64, /*resident=*/1), launched);
  expect_same(train(what, rows, {.persistent_blocks = 2}, 64, /*resident=*/2000), launched);
}

INSTANTIATE_TEST_SUITE_P(Small, PtxPersistentBlocks,
                         ::testing::Values("tiny_mlp", "matrix_factorisation", "tabular_regression"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace heddle::testing
