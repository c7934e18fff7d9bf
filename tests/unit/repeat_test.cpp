// A whole training with its steps in submissions of any size: the same bits, and nothing allocated while they run.
#include <gtest/gtest.h>

#include <limits>

#include "codegen/lower.h"
#include "frontend/build_graph.h"
#include "frontend/read/read_model.h"
#include "passes/pipeline.h"
#include "runtime/data/synthetic.h"
#include "runtime/host/host_device.h"
#include "runtime/host/step_memory.h"
#include "runtime/train/trainer.h"
#include "tests/support/host_run.h"
#include "tests/support/source_dir.h"
#include "tests/unit/allocations.h"

namespace heddle {
namespace {

codegen::Program compile(int64_t batch, int64_t last) {
  frontend::Sources sources;
  const frontend::Model model =
      frontend::read_model(sources, testing::source_dir() / "models" / "digits_cnn.json", {.set = {}, .small = false});
  ir::Module m = frontend::build_module(
      model, {.train = batch, .train_last = last, .eval = batch, .eval_last = last, .total_steps = 100});
  passes::Options options = testing::host_options();
  options.columns = {{"image", ir::DType::u8, {ir::data_map("scale", {{"by", {1 / 255.0}}})}},
                     {"label", ir::DType::u8, {}}};
  passes::run_pipeline(m, options);
  return codegen::lower(m, model.name, ir::host());
}

runtime::Split digits(int64_t rows) {
  const runtime::data::ReaderRequest request{
      .op = "synthetic",
      .columns = {{.input = "image", .sources = {{"image"}}, .dtype = "f32", .dims = {28, 28, 1}, .where = {}},
                  {.input = "label", .sources = {{"label"}}, .dtype = "i32", .dims = {}, .classes = 10, .where = {}}},
      .settings = {{"rows", rows, {}}, {"seed", int64_t{3}, {}}},
      .where = {}};
  return {"training", runtime::data::draw_table(request)};
}

struct Trained {
  std::vector<std::byte> states;
  std::vector<double> losses;
  double validation = 0;
};

Trained train(const codegen::Program& program, const runtime::Split& rows, const runtime::StepsOptions& steps) {
  runtime::HostDevice device({.threads = 2, .kernel_cache = {}});
  runtime::Executable executable(program, device);
  executable.run(*program.find_entry(ir::Phase::init));
  Trained out;
  runtime::Watcher watcher;
  watcher.step = [&](const runtime::StepEvent& e) { out.losses.push_back(e.loss); };
  runtime::TrainOptions options;
  options.epochs = 2, options.seed = 5, options.steps_options = steps;
  out.validation = runtime::train(executable, options, rows, &rows, watcher).validation->at(0).value;
  for (const codegen::Buffer& b : program.states) {
    const size_t begin = out.states.size();
    out.states.resize(begin + static_cast<size_t>(b.bytes));
    executable.read(b, out.states.data() + begin);
  }
  return out;
}

TEST(Repeat, AnySubmissionGivesTheSameBits) {
  const codegen::Program program = compile(16, 7);
  const runtime::Split rows = digits(16 * 9 + 7);
  const Trained first = train(program, rows, {.most_repeats = 1, .feed = {}});
  EXPECT_EQ(first.losses.size(), 20U);
  const int64_t all = std::numeric_limits<int64_t>::max();
  for (const auto& [repeats, resident] :
       std::vector<std::pair<int64_t, int64_t>>{{3, all}, {8, all}, {64, all}, {64, 1}, {64, 100'000}}) {
    const Trained other = train(program, rows, {.most_repeats = repeats, .feed = {.resident_bytes = resident}});
    EXPECT_EQ(other.states, first.states) << repeats << " steps, " << resident << " bytes";
    EXPECT_EQ(other.losses, first.losses);
    EXPECT_EQ(other.validation, first.validation);
  }
}

// Whatever thread runs what: the first submission may set things up.
TEST(Repeat, StepsAllocateNothing) {
  if (!runtime::StepMemory::active) GTEST_SKIP() << "the address sanitizer has its own operator new";
  const codegen::Program program = compile(16, 7);
  const runtime::Split rows = digits(16 * 9);
  for (int threads : {1, 2, 4}) {
    runtime::HostDevice device({.threads = threads, .kernel_cache = {}});
    runtime::Executable executable(program, device);
    executable.run(*program.find_entry(ir::Phase::init));
    runtime::Feed feed(executable);
    feed.begin(rows.table, {});
    const codegen::Entry& entry = *program.find_entry(ir::Phase::train);
    executable.run(entry);
    const int64_t before = test::allocations();
    executable.wait(executable.submit(entry, 8));
    EXPECT_EQ(test::allocations(), before) << threads << " threads";
  }
}

}  // namespace
}  // namespace heddle
