// The tools that check random graphs are checked themselves: bounds that are neither too wide nor too narrow, crashes
// that are reported, reductions that keep the fault.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <sstream>

#include "ir/check.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "tests/random/campaign.h"
#include "tests/random/child.h"
#include "tests/random/error_bound.h"
#include "tests/random/rebuild.h"
#include "tests/support/source_dir.h"

namespace heddle::testing {
namespace {

using namespace ir;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Module parsed(const std::string& text) {
  static std::vector<std::unique_ptr<SourceFile>> files;
  files.push_back(std::make_unique<SourceFile>(SourceFile{"test.hir", text}));
  return parse(*files.back());
}

Bounded first_output(const std::string& text, const NamedTensors& inputs) {
  const Module m = parsed(text);
  return evaluate_with_bounds(m.graphs[0], inputs, Precision::rounded).outputs.at(0);
}

Tensor reals(const std::vector<double>& values, DType dtype = DType::f32) {
  Tensor t({dtype, {static_cast<int64_t>(values.size())}});
  t.real = values;
  return rounded(t);
}

TEST(ErrorBound, FollowsWhatCancels) {
  const Bounded y = first_output(
      "graph @g(input %x: f32[1], input %y: f32[1]) {\n  %a: f32[1] = add(%x, %y)\n  %z: f32[1] = sub(%a, %x)\n"
      "  return %z\n}\n",
      {{"x", reals({1e6})}, {"y", reals({0.5})}});
  EXPECT_GT(y.error[0], 0.05);  // a unit of 1e6 is 0.0625
  EXPECT_LT(y.error[0], 1);
}

// The ends of the bound of a sum lie on both sides of a pole, where tan is small again; beside it tan is bounded.
TEST(ErrorBound, IsOpenWhereAPoleLiesInside) {
  const Bounded y = first_output(
      "graph @g(input %x: f16[2]) {\n  %e: f16[2] = softplus(%x)\n  %y: f16[2] = tan(%e)\n  return %y\n}\n",
      {{"x", reals({1.3359375, 0.5}, DType::f16)}});
  EXPECT_EQ(y.error[0], kInfinity);
  EXPECT_LT(y.error[1], 0.2);
}

// The divisor is uncertain by a hundredth and goes a thousand times into the number: any remainder is right.
TEST(ErrorBound, IsOpenWhereARemainderJumps) {
  const Bounded y = first_output(
      "graph @g(input %x: bf16[2], input %d: bf16[2]) {\n  %e: bf16[2] = exp(%d)\n  %y: bf16[2] = mod(%x, %e)\n"
      "  return %y\n}\n",
      {{"x", reals({1000, 1.5}, DType::bf16)}, {"d", reals({0.03, 0.03}, DType::bf16)}});
  EXPECT_EQ(y.error[0], kInfinity);
  EXPECT_LT(y.error[1], 0.2);
}

// x^y is nan for x = nan, and 1 where a right kernel rounds y to 0; the power of that by nan is nan, and 1 in turn.
TEST(ErrorBound, IsOpenWhereAPowerOfNanMayBeOne) {
  const Bounded y = first_output(
      "graph @g(input %x: f32[1], input %n: f32[1]) {\n  %e: f32[1] = gelu(%x)\n  %p: f32[1] = pow(%n, %e)\n"
      "  %y: f32[1] = pow(%p, %n)\n  return %y\n}\n",
      {{"x", reals({-6})}, {"n", reals({std::numeric_limits<double>::quiet_NaN()})}});
  EXPECT_EQ(y.error[0], kInfinity);
}

TEST(ErrorBound, IsZeroWhereNothingRounds) {
  const Bounded y = first_output("graph @g(input %x: f32[3]) {\n  %y: f32[3] = relu(%x)\n  return %y\n}\n",
                                 {{"x", reals({-1, 0.1, 3})}});
  EXPECT_EQ(y.error, std::vector<double>({0, 0, 0}));
}

TEST(ErrorBound, LeavesOpenWhatRoundingDecides) {
  const std::string text =
      "graph @g(input %x: f32[2], input %y: f32[2]) {\n  %e: f32[2] = exp(%x)\n  %c: bool[2] = lt(%e, %y)\n"
      "  return %c\n}\n";
  const Bounded y = first_output(text, {{"x", reals({1, 1})}, {"y", reals({2.7182818, 3})}});
  EXPECT_EQ(y.error, std::vector<double>({1, 0}));
}

TEST(ErrorBound, LeavesOpenWhereAPartMayOverflow) {
  const std::string text = "graph @g(input %x: f32[3]) {\n  %s: f32[] = reduce_sum(%x)\n  return %s\n}\n";
  EXPECT_EQ(first_output(text, {{"x", reals({3e38, 3e38, -3e38})}}).error[0], kInfinity);
  EXPECT_EQ(first_output(text, {{"x", reals({kInfinity, 1, 1})}}).error[0], 0);
}

// Factors that leave the range on the way: 3e20 * 3e20 * 1e-30 is a number in the oracle, inf * 1e-30 in a kernel.
TEST(ErrorBound, LeavesOpenWhereAProductOfUpdatesMayOverflow) {
  const std::string text =
      "graph @g(input %x: f32[2], input %i: i32[2], input %u: f32[2]) {\n"
      "  %y: f32[2] = scatter(%x, %i, %u) {combine = \"mul\"}\n  return %y\n}\n";
  Tensor rows({DType::i32, {2}});
  const Bounded y = first_output(text, {{"x", reals({3e20, 2})}, {"i", rows}, {"u", reals({3e20, 1e-30})}});
  EXPECT_EQ(y.error[0], kInfinity);
  EXPECT_LT(y.error[1], 1e-4);
}

// A kernel keeps f32 between two f16 operators: of 90,000 / 90,000 it makes 1, the oracle inf / inf.
TEST(ErrorBound, LeavesOpenWhereAnOverflowMayNotHappen) {
  const std::string text =
      "graph @g(input %x: f16[2]) {\n  %a: f16[2] = mul(%x, %x)\n  %y: f16[2] = div(%a, %a)\n  return %y\n}\n";
  const Bounded y = first_output(text, {{"x", reals({300, 2}, DType::f16)}});
  EXPECT_EQ(y.error[0], kInfinity);
  EXPECT_LT(y.error[1], 0.1);
}

// The sum of a mean overflows before it is divided.
TEST(ErrorBound, LeavesOpenWhereTheSumOfAMeanMayOverflow) {
  const std::string text = "graph @g(input %x: f32[3]) {\n  %s: f32[] = reduce_mean(%x)\n  return %s\n}\n";
  EXPECT_EQ(first_output(text, {{"x", reals({3e38, 3e37, 0})}}).error[0], kInfinity);
  EXPECT_LT(first_output(text, {{"x", reals({3e37, 3e37, 0})}}).error[0], 1e35);
}

// Powers of negative numbers are numbers where the exponent is whole, and nan beside it.
TEST(ErrorBound, LeavesOpenWhetherAnExponentIsWhole) {
  const std::string text =
      "graph @g(input %x: f32[2], input %y: f32[2]) {\n  %e: f32[2] = tanh(%y)\n  %p: f32[2] = pow(%x, %e)\n"
      "  return %p\n}\n";
  const Bounded y = first_output(text, {{"x", reals({-3, 3})}, {"y", reals({9, 9})}});
  EXPECT_EQ(y.error[0], kInfinity);
  EXPECT_LT(y.error[1], 1e-4);
}

// Two results that lie between one another's bounds may be equal, though neither pair of ends is.
TEST(ErrorBound, LeavesOpenWhetherTwoAreEqual) {
  const std::string text =
      "graph @g(input %x: f32[2], input %y: f32[2]) {\n  %a: f32[2] = exp(%x)\n  %b: f32[2] = exp(%y)\n"
      "  %e: bool[2] = eq(%a, %b)\n  return %e\n}\n";
  EXPECT_EQ(first_output(text, {{"x", reals({1, 1})}, {"y", reals({1.0000001, 2})}}).error,
            std::vector<double>({1, 0}));
}

// Zeros beside an image meet a filter's inf: nan where a library multiplies them, nothing where they are left out.
TEST(ErrorBound, LeavesOpenWhatALibraryMakesOfZerosBesideAnOperand) {
  const std::string text =
      "graph @g(input %x: f32[1,1,3,1], input %w: f32[1,1,2,1]) {\n  %y: f32[1,1,3,1] = conv2d(%x, %w) "
      "{pads = [0,0,0,1]}\n  return %y\n}\n";
  Tensor x({DType::f32, {1, 1, 3, 1}}), w({DType::f32, {1, 1, 2, 1}});
  x.real = {1, 2, 3};
  w.real = {1, kInfinity};
  const Bounded y = first_output(text, {{"x", x}, {"w", w}});
  EXPECT_EQ(y.error, std::vector<double>({0, 0, kInfinity}));
}

TEST(Compare, TakesNonFiniteElementsByTheirClass) {
  const Bounded expected{reals({NAN, kInfinity, 1}), {0, 0, 1e-6}};
  EXPECT_EQ(compare(expected, reals({-NAN, kInfinity, 1})), "");
  EXPECT_NE(compare(expected, reals({NAN, -kInfinity, 1})), "");
  EXPECT_NE(compare(expected, reals({NAN, kInfinity, 1.1})), "");
  EXPECT_NE(compare(expected, reals({NAN, kInfinity, NAN})), "");
}

TEST(Child, ReportsCrashesAndFailedChecks) {
  EXPECT_TRUE(run_in_child([] { std::puts("said"); }, 10).ended);
  EXPECT_EQ(run_in_child([] { raise(SIGKILL); }, 10).how, "signal 9");
  const ChildResult failed = run_in_child([] { HEDDLE_CHECK(1 + 1 == 3, "arithmetic"); }, 10);
  EXPECT_FALSE(failed.ended);
  EXPECT_NE(failed.output.find("internal error: arithmetic"), std::string::npos);
  EXPECT_EQ(run_in_child(
                [] {
                  while (true) sleep(1);
                },
                1)
                .how,
            "took longer than 1 s");
}

TEST(Generate, IsAFunctionOfTheNumberAndNamesEveryPair) {
  EXPECT_TRUE(structurally_equal(generate(11).module, generate(11).module));
  std::set<Pair> named;
  for (uint64_t n = 0; n < numbers_per_round(); ++n)
    for (const Pair& pair : pairs_of(n)) named.insert(pair);
  EXPECT_EQ(named.size(), all_pairs().size());
  EXPECT_GT(named.count({"softmax", "reverse"}), 0u);
}

TEST(Rebuild, LeavesOutWhatNobodyReadsAndResizes) {
  const Module m = parsed(
      "graph @g(input %x.wide: f32[3,33], input %y: f32[33]) {\n  %a: f32[3,33] = tanh(%x.wide)\n"
      "  %b: f32[3,33] = neg(%a)\n  %c: f32[33] = abs(%y)\n  %r: f32[3] = reduce_sum(%b) {axes = [1]}\n"
      "  return %r, %c\n}\n");
  const Graph& g = m.graphs[0];
  const auto smaller =
      rebuild(m, {.outputs = {1}, .replace = {{g.find("b"), g.find("a")}}, .sizes = {{33, 2}}, .plain = true});
  ASSERT_TRUE(smaller.has_value());
  EXPECT_EQ(print(*smaller),
            "graph @g(input %x.plain: f32[3,2]) {\n  %a: f32[3,2] = tanh(%x.plain)\n"
            "  %r: f32[3] = reduce_sum(%a) {axes = [1]}\n  return %r\n}\n");
  EXPECT_FALSE(rebuild(m, {.sizes = {{3, 1}, {33, 0}}}).has_value());
}

// Random graphs that failed once, reduced.
TEST(ReducedGraphs, AreRight) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_dir() / "tests/property/graphs")) {
    std::ifstream in(entry.path());
    std::ostringstream text;
    text << in.rdbuf();
    for (const Fault& f : check_alone(parsed(text.str())))
      ADD_FAILURE() << entry.path() << ", " << f.stage << ": " << f.text;
    ++count;
  }
  EXPECT_GT(count, 0u);
}

}  // namespace
}  // namespace heddle::testing
