// A step on a GPU says which of its indices is outside, as launches and as one kernel: in the
// interpreter, as on the host.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "codegen/lower.h"
#include "frontend/build_graph.h"
#include "frontend/read/read_model.h"
#include "frontend/training/training_plan.h"
#include "passes/pipeline.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/host/host_device.h"
#include "runtime/train/trainer.h"
#include "tests/ptx/ptx_device.h"

namespace heddle::testing {
namespace {

constexpr const char* kModel = R"({"format": "heddle-model/1", "name": "m",
  "inputs": {"i": {"shape": ["N", 2], "dtype": "i32"}},
  "nodes": [{"name": "p", "op": "param", "shape": [3, 2]}, {"name": "q", "op": "param", "shape": [6]},
    {"name": "j", "op": "add", "in": ["i", 0]}, {"name": "g", "op": "gather", "in": ["p", "j"]},
    {"name": "k", "op": "mul", "in": ["i", 3]}, {"name": "h", "op": "gather", "in": ["q", "k"]},
    {"name": "s", "op": "sum", "in": "g", "axis": 2}, {"name": "y", "op": "mul", "in": ["s", "h"]}, {"name": "l", "op": "mean"}],
  "train": {"batch": {"N": 4}, "epochs": 1, "loss": {"op": "value", "in": "l"}, "optimizer": "sgd"}})";

struct Compiled {
  frontend::Sources sources;
  frontend::TrainingPlan plan;
  codegen::Program program;
};

std::unique_ptr<Compiled> compile() {
  auto out = std::make_unique<Compiled>();
  const SourceFile& file = out->sources.add("m.json", kModel);
  const frontend::Model model = frontend::read_model(out->sources, file);
  out->plan = frontend::plan_training(model);
  ir::Module m = frontend::build_module(model, frontend::default_build_options(model));
  passes::Options options;
  options.target = ir::h200();
  options.columns = {{"i", ir::DType::i32, {}}};
  passes::run_pipeline(m, options);
  out->program = codegen::lower(m, "m", options.target, codegen::OneKernel::where_possible);
  return out;
}

// Rows of 1, but for element 1 of row 21.
runtime::Split rows(int32_t index) {
  constexpr int64_t kRows = 32;
  std::vector<int32_t> values(2 * kRows, 1);
  values[43] = index;
  runtime::data::Column column{.input = "i", .type = runtime::data::ElementType::i32, .dims = {2}, .bytes = {}};
  column.bytes.resize(values.size() * sizeof(int32_t));
  std::memcpy(column.bytes.data(), values.data(), column.bytes.size());
  return {"training", {.rows = kRows, .columns = {column}}};
}

// What a training or an evaluation says; "" where it goes to its end.
std::string said(const Compiled& what, runtime::Device& device, int32_t index, int64_t repeats, bool trains) {
  runtime::Executable executable(what.program, device);
  executable.run(*what.program.find_entry(ir::Phase::init));
  runtime::TrainOptions options{.epochs = 1, .steps = {}, .seed = 5};
  options.steps_options.most_repeats = repeats, options.steps_options.indices = what.plan.indices;
  try {
    if (trains)
      runtime::train(executable, options, rows(index), nullptr, {});
    else
      runtime::evaluate(executable, rows(index), {}, options.steps_options);
  } catch (const UserError& error) {
    return error.diagnostics().at(0).message;
  }
  return {};
}

TEST(PtxIndexChecks, NameTheRow) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  const std::unique_ptr<Compiled> what = compile();
  ASSERT_GE(what->program.find_entry(ir::Phase::train)->persistent, 0);
  const std::map<int32_t, std::string> expected = {
      {0, ""},
      {2, "gather 'h': 'k' holds 6 in training row 21, counted from 0: expected 0 ... 5"},
      {3, "gather 'g': 'j' holds 3 in training row 21, counted from 0: expected 0 ... 2"},
      {-1, "gather 'g': 'j' holds -1 in training row 21, counted from 0: expected 0 ... 2"}};
  runtime::HostDevice host({.threads = 2, .kernel_cache = {}});
  for (const auto& [index, message] : expected)
    for (const bool trains : {true, false}) {
      SCOPED_TRACE(::testing::Message() << index << (trains ? ", training" : ", evaluation"));
      EXPECT_EQ(said(*what, host, index, 1, trains), message);
      for (const int64_t repeats : {1, 64}) {
        PtxDevice launched({.persistent = false}), one({.persistent_blocks = 5});
        EXPECT_EQ(said(*what, launched, index, repeats, trains), message);
        EXPECT_EQ(said(*what, one, index, repeats, trains), message);
        for (const PtxDevice* device : {&launched, &one})
          for (const ptx::Finding& f : device->findings()) ADD_FAILURE() << to_string(f);
      }
    }
}

}  // namespace
}  // namespace heddle::testing
