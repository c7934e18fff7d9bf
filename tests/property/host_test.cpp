// 300 random graphs through the whole pipeline onto the host device: its float32 agrees with the oracle's to 1e-4.
#include <gtest/gtest.h>

#include "codegen/lower.h"
#include "ir/evaluate/tensor_bytes.h"
#include "passes/pipeline.h"
#include "runtime/executable.h"
#include "runtime/host/host_device.h"
#include "tests/property/random_graph.h"

namespace heddle::testing {
namespace {

using namespace ir;

constexpr uint32_t kModules = 15, kGraphsEach = 20;  // of one module, since each is one call of the system compiler
constexpr double kTolerance = 1e-4;

class Host {
 public:
  explicit Host(const codegen::Program& program)
      : program_(program), device_({.threads = 2, .kernel_cache = {}}), executable_(program, device_) {}

  Evaluation run(const codegen::Entry& entry, const NamedTensors& inputs) {
    for (const codegen::Buffer& b : program_.states) write(b, inputs);
    for (const codegen::Buffer& b : entry.inputs) write(b, inputs);
    executable_.run(entry);
    Evaluation done;
    for (const codegen::Buffer& b : entry.outputs) done.outputs.push_back(read(b));
    for (const codegen::Buffer& b : program_.states) done.updated[b.name] = read(b);
    return done;
  }

 private:
  void write(const codegen::Buffer& b, const NamedTensors& inputs) {
    executable_.write(b, to_bytes(inputs.at(b.name)).data());
  }
  Tensor read(const codegen::Buffer& b) {
    std::vector<std::byte> bytes(static_cast<size_t>(b.bytes));
    executable_.read(b, bytes.data());
    return ir::from_bytes({parse_dtype(b.dtype).value(), b.dims}, bytes);
  }

  const codegen::Program& program_;
  runtime::HostDevice device_;
  runtime::Executable executable_;
};

class RandomPrograms : public ::testing::TestWithParam<uint32_t> {};

TEST_P(RandomPrograms, AgreeWithTheOracleOnTheHost) {
  Module m;
  for (uint32_t i = 0; i < kGraphsEach; ++i) {
    const uint32_t seed = GetParam() * kGraphsEach + i;
    add_random_graph(m, "g" + std::to_string(seed), seed, {.nodes = 12, .gradients = seed % 2 == 0, .narrow = false});
  }
  passes::find_pass("differentiate")->run(m, {});
  const Module meaning = m;
  const NamedTensors inputs = random_inputs(m, GetParam());
  passes::Options options;
  passes::run_pipeline(m, options);
  const codegen::Program program = codegen::lower(m, "random", options.target);
  Host host(program);
  for (const codegen::Entry& entry : program.entries) {
    SCOPED_TRACE("graph @" + entry.name);
    const Evaluation expected = evaluate(meaning, *meaning.find_graph(entry.name), inputs),
                     got = host.run(entry, inputs);
    ASSERT_EQ(expected.outputs.size(), got.outputs.size());
    for (size_t i = 0; i < expected.outputs.size(); ++i)
      EXPECT_LE(difference(expected.outputs[i], got.outputs[i]), kTolerance) << "output " << i;
    for (const auto& [name, next] : expected.updated)
      EXPECT_LE(difference(next, got.updated.at(name)), kTolerance) << "state " << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Modules, RandomPrograms, ::testing::Range(0u, kModules));

}  // namespace
}  // namespace heddle::testing
