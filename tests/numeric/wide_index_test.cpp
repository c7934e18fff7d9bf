// Kernels whose elements lie beyond 2^31: few elements, far apart in an array that is never stored.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "ir/builder.h"
#include "tests/support/host_run.h"
#include "tests/support/philox.h"

namespace heddle::testing {
namespace {

using namespace ir;

constexpr int64_t kSide = 65536, kStep = 8191;

// Element i of the numbers that (seed, step, stream) stand for, as ir/ops/random.cpp defines them: Philox4x32-7.
double uniform(uint32_t seed, uint32_t step, uint32_t stream, int64_t i) {
  const auto group = static_cast<uint64_t>(i / 4);
  const std::array<uint32_t, 4> c =
      philox({static_cast<uint32_t>(group), static_cast<uint32_t>(group >> 32), step, 0}, seed, stream);
  return std::ldexp(static_cast<double>(c[static_cast<size_t>(i % 4)] >> 8), -24);
}

Tensor whole(int64_t value) {
  Tensor t({DType::i64, {}});
  t.integer[0] = value;
  return t;
}

// The last two rows of 65536 x 65536 random numbers, every 8191st column; as they are, and their sums along the row.
TEST(WideIndex, RandomNumbersFarOut) {
  Module m;
  Graph& g = m.graphs.emplace_back();
  g.name = "far";
  Builder b(g);
  const ValueId seed = g.add_input("seed", {DType::i64, {}}, Role::input);
  const ValueId step = g.add_input("step", {DType::i64, {}}, Role::input);
  const ValueId u = b("random_uniform", {seed, step}, {{"shape", Dims{kSide, kSide}}, {"stream", int64_t{3}}});
  const ValueId few =
      b("slice", {u}, {{"starts", Dims{kSide - 2, 0}}, {"limits", Dims{kSide, kSide}}, {"strides", Dims{1, kStep}}});
  const ValueId sums = b("reduce_sum", {few}, {{"axes", Dims{1}}});
  g.outputs = {few, sums};
  HostRun run(m, "far", {.threads = 2});
  EXPECT_NE(run.program().source.find("hd::i64, row"), std::string::npos) << "indices of 32 bits";
  const Evaluation got = run({{"seed", whole(5)}, {"step", whole(9)}});
  const int64_t columns = b.type(few).dims[1];
  for (int64_t r = 0; r < 2; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < columns; ++c) {
      const double expected = uniform(5, 9, 3, (kSide - 2 + r) * kSide + c * kStep);
      EXPECT_EQ(got.outputs[0].at(r * columns + c), expected) << "row " << r << ", column " << c;
      sum += expected;
    }
    EXPECT_NEAR(got.outputs[1].at(r), sum, 1e-5);
  }
}

// A row of more than 2^31 random numbers per result would be indexed in 32 bits if inputs and outputs alone counted.
TEST(WideIndex, IsTakenWhereOnlyAnIntermediateIsLarge) {
  Module m;
  Graph& g = m.graphs.emplace_back();
  g.name = "rows";
  Builder b(g);
  const ValueId seed = g.add_input("seed", {DType::i64, {}}, Role::input);
  const ValueId u = b("random_uniform", {seed, seed}, {{"shape", Dims{kSide, kSide}}, {"stream", int64_t{3}}});
  g.outputs = {b("reduce_sum", {u}, {{"axes", Dims{1}}})};
  for (const Target& target : {host(), h200()}) {
    const codegen::Program program = host_program(m, "rows", {.target = target});
    EXPECT_NE(program.source.find("HD_ROWS(hd::i64, row"), std::string::npos) << target.name;
  }
}

}  // namespace
}  // namespace heddle::testing
