// Whole training steps of the repository's models on the host device.
#include <gtest/gtest.h>

#include "frontend/build_graph.h"
#include "frontend/read/read_model.h"
#include "runtime/executable.h"
#include "runtime/host/host_device.h"
#include "runtime/host/step_memory.h"
#include "tests/support/host_run.h"
#include "tests/support/source_dir.h"
#include "tests/support/touched.h"
#include "tests/unit/allocations.h"

namespace heddle {
namespace {

codegen::Program compile(const std::string& model_name) {
  frontend::Sources sources;
  const frontend::Model model = frontend::read_model(
      sources, testing::source_dir() / "models" / (std::string(model_name) + ".json"), {.set = {}, .small = false});
  return testing::host_program(frontend::build_module(model, {.train = 16, .total_steps = 100}), model.name);
}

class WholeStep : public ::testing::TestWithParam<const char*> {};

// The first step may set things up; none of the later ones allocates, whichever thread runs what.
TEST_P(WholeStep, AllocatesNothing) {
  if (!runtime::StepMemory::active) GTEST_SKIP() << "the address sanitizer has its own operator new";
  const codegen::Program program = compile(GetParam());
  for (int threads : {1, 2, 4}) {
    runtime::HostDevice device({.threads = threads, .kernel_cache = {}});
    runtime::Executable executable(program, device);
    executable.run(*program.find_entry(ir::Phase::init));
    const codegen::Entry& train = *program.find_entry(ir::Phase::train);
    std::vector<std::vector<std::byte>> batch;
    for (const codegen::Buffer& input : train.inputs) batch.emplace_back(static_cast<size_t>(input.bytes));
    const auto step = [&] {
      for (size_t i = 0; i < batch.size(); ++i) executable.write(train.inputs[i], batch[i].data());
      executable.run(train);
    };
    step();
    const int64_t before = test::allocations();
    for (int i = 0; i < 20; ++i) step();
    EXPECT_EQ(test::allocations(), before) << threads << " threads";
  }
}

TEST_P(WholeStep, EachStepTouchesWhatItNames) {
  const codegen::Program program = compile(GetParam());
  EXPECT_EQ(testing::fault_of_touch(program, *program.find_entry(ir::Phase::init), [](runtime::Executable&) {}), "");
  runtime::HostDevice device({.threads = 1, .kernel_cache = {}});
  runtime::Executable initialised(program, device);
  initialised.run(*program.find_entry(ir::Phase::init));
  const codegen::Entry& train = *program.find_entry(ir::Phase::train);
  const auto fill = [&](runtime::Executable& executable) {
    for (const codegen::Buffer& state : program.states) executable.write(state, initialised.host_address(state));
    for (const codegen::Buffer& input : train.inputs) {
      std::vector<float> values(static_cast<size_t>(input.bytes) / sizeof(float));
      if (input.dtype == "f32")
        for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 37 % 101) / 101;
      executable.write(input, values.data());
    }
  };
  EXPECT_EQ(testing::fault_of_touch(program, train, fill), "");
}

INSTANTIATE_TEST_SUITE_P(Models, WholeStep, ::testing::Values("digits_cnn", "tiny_mlp", "mnist_mlp"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace heddle
