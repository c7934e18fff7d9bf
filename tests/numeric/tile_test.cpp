// Kernels that go through tiles, against the oracle: sides that are whole tiles and that are not, batches, dimensions
// that merge, elements of every size, operators before and after the transpose, results in the place of operands.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/numeric/harness.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

using namespace ir;

struct Transposed {
  Dims dims, perm;
  bool tile;  // both sides reach 16
};

std::vector<Transposed> transposes() {
  return {{{32, 32}, {1, 0}, true},
          {{64, 96}, {1, 0}, true},
          {{33, 47}, {1, 0}, true},
          {{16, 130}, {1, 0}, true},
          {{1000, 17}, {1, 0}, true},
          {{3, 40, 50}, {0, 2, 1}, true},
          {{2, 5, 7, 16}, {0, 3, 1, 2}, true},
          {{2, 17, 5, 9}, {0, 2, 3, 1}, true},
          {{40, 5, 33}, {2, 1, 0}, true},
          {{20, 3, 5, 33}, {3, 1, 2, 0}, true},
          {{1, 31, 1, 65}, {3, 0, 1, 2}, true},
          {{15, 200}, {1, 0}, false},
          {{1, 1500}, {1, 0}, false},
          {{30, 8, 16}, {1, 0, 2}, false}};
}

int64_t tiles(const codegen::Program& program) {
  return std::count_if(program.kernels.begin(), program.kernels.end(),
                       [](const codegen::Kernel& k) { return k.schedule == "tile"; });
}

NamedTensors values_of_inputs(const Graph& g) {
  NamedTensors inputs;
  for (const ValueId v : g.inputs)
    inputs[g[v].name] = random_tensor(g[v].type, /*low=*/-2, /*high=*/2, /*below=*/100, hash_text(g[v].name));
  return inputs;
}

void expect_same(const Module& m, const HostRunOptions& options, int64_t expected_tiles) {
  const Graph& g = m.graphs[0];
  const NamedTensors inputs = values_of_inputs(g);
  const Evaluation expected = evaluate(m, g, inputs, {.precision = Precision::rounded});
  HostRun run(m, g.name, options);
  EXPECT_EQ(tiles(run.program()), expected_tiles);
  const Evaluation got = run(inputs);
  ASSERT_EQ(expected.outputs.size(), got.outputs.size());
  for (size_t i = 0; i < expected.outputs.size(); ++i)
    for (int64_t e = 0; e < expected.outputs[i].elements(); ++e)
      ASSERT_EQ(expected.outputs[i].at(e), got.outputs[i].at(e)) << "output " << i << ", element " << e;
  for (const auto& [name, next] : expected.updated)
    for (int64_t e = 0; e < next.elements(); ++e)
      ASSERT_EQ(next.at(e), got.updated.at(name).at(e)) << name << ", element " << e;
}

class Tile : public ::testing::TestWithParam<DType> {};

TEST_P(Tile, MovesEveryElement) {
  Module m;
  Graph& g = m.graphs.emplace_back();
  g.name = "f";
  Builder b(g);
  int64_t expected = 0;
  for (const Transposed& t : transposes()) {
    const ValueId x = g.add_input(fmt::format("x{}", g.inputs.size()), {GetParam(), t.dims}, Role::input);
    g.outputs.push_back(b("transpose", {x}, {{"perm", t.perm}}));
    expected += t.tile ? 1 : 0;
  }
  expect_same(m, {.threads = 3}, expected);
  if (GetParam() == DType::f32) expect_same(m, {.threads = 1}, expected);
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Tile,
                         ::testing::Values(DType::f32, DType::f64, DType::f16, DType::bf16, DType::i32, DType::i64,
                                           DType::i16, DType::u8, DType::boolean),
                         [](const auto& info) { return std::string(to_string(info.param)); });

// What precedes and follows a transpose is in its kernel: one kernel a case.
TEST(TileKernel, HoldsWhatIsBeforeAndAfterTheTranspose) {
  Module m;
  Graph& g = m.graphs.emplace_back();
  g.name = "f";
  Builder b(g);
  int64_t expected = 0;
  for (const Transposed& t : transposes()) {
    if (!t.tile) continue;
    ++expected;
    Dims result;
    for (const int64_t p : t.perm) result.push_back(t.dims[static_cast<size_t>(p)]);
    const auto input = [&](const Dims& dims) {
      return g.add_input(fmt::format("x{}", g.inputs.size()), {DType::f32, dims}, Role::input);
    };
    const Dims last = {static_cast<int64_t>(result.size()) - 1};
    const ValueId bias = b("broadcast", {input({result.back()})}, {{"dims", last}, {"shape", result}});
    const ValueId turned = b("transpose", {b("mul", {input(t.dims), input(t.dims)})}, {{"perm", t.perm}});
    g.outputs.push_back(b("relu", {b("add", {b("sub", {turned, input(result)}), bias})}));
    g.outputs.push_back(b("neg", {turned}));
  }
  expect_same(m, {.threads = 2}, expected);
}

// w <- w + transpose(g): the next value is written over %w, which is read where it is written, while %g is staged.
TEST(TileKernel, WritesAResultOverAnOperand) {
  Module m;
  Graph& g = m.graphs.emplace_back();
  g.name = "f";
  Builder b(g);
  const ValueId w = g.add_input("w", {DType::f32, {70, 45}}, Role::param);
  const ValueId x = g.add_input("x", {DType::f32, {45, 70}}, Role::input);
  const ValueId next = b("add", {w, b("transpose", {x}, {{"perm", Dims{1, 0}}})}, {}, "w.next");
  g.updates.push_back({w, next});
  expect_same(m, {.threads = 2}, /*expected_tiles=*/1);
  const HostRun run(m, "f");
  ASSERT_FALSE(run.program().entries[0].steps.empty());
  for (const codegen::Step& s : run.program().entries[0].steps)
    EXPECT_TRUE(std::holds_alternative<codegen::Launch>(s.what)) << "the next value is copied";
}

// A matrix over itself would be read after it is written.
TEST(TileKernel, DoesNotWriteOverWhatItTurns) {
  Module m;
  Graph& g = m.graphs.emplace_back();
  g.name = "f";
  Builder b(g);
  const ValueId w = g.add_input("w", {DType::f32, {48, 48}}, Role::param);
  g.updates.push_back({w, b("transpose", {w}, {{"perm", Dims{1, 0}}}, "w.next")});
  expect_same(m, {.threads = 2}, /*expected_tiles=*/1);
}

}  // namespace
}  // namespace heddle::testing
