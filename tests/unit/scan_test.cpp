// Scans: what they mean, and what the verifier says of those that mean nothing.
#include "ir/scan.h"

#include <gtest/gtest.h>

#include "ir/evaluate/evaluate.h"
#include "ir/verify/verify.h"
#include "tests/unit/module_text.h"

namespace heddle::ir {
namespace {

using Text = testing::ModuleText;

const std::string kSum = R"(body @sum(fixed %w: f32[], carry %h: f32[], slice %x: f32[], index %t: i32[]) {
  %y: f32[] = mul(%x, %w)
  %n: f32[] = add(%h, %y)
  update %h <- %n
  return %h, %t
}
)";

std::string scan_of_four(const std::string& attrs) {
  return kSum + R"(graph @f(input %w: f32[], input %h: f32[], input %x: f32[4]) {
  %last: f32[], %before: f32[4], %ts: i32[4] = scan @sum(%w, %h, %x) {)" +
         attrs + R"(}
  return %last, %before, %ts
})";
}

Tensor number(double n) {
  Tensor t({DType::f32, {}});
  t.set(0, n);
  return t;
}

std::vector<Tensor> run(const Text& text) {
  Tensor x({DType::f32, {4}});
  for (int64_t i = 0; i < 4; ++i) x.set(i, static_cast<double>(i + 1));
  return evaluate(text.module, text.module.graphs[0], {{"w", number(10)}, {"h", number(5)}, {"x", x}}).outputs;
}

TEST(Scan, CarriesFromTurnToTurnAndStacks) {
  const std::vector<Tensor> out = run(Text(scan_of_four("count = 4")));
  EXPECT_EQ(out[0].real, (std::vector<double>{105}));
  EXPECT_EQ(out[1].real, (std::vector<double>{5, 15, 35, 65}));  // what the carry was before each turn
  EXPECT_EQ(out[2].integer, (std::vector<int64_t>{0, 1, 2, 3}));
}

// The first turn takes the last row, and leaves it where it was.
TEST(Scan, GoesBackwards) {
  const std::vector<Tensor> out = run(Text(scan_of_four("count = 4, reverse = true")));
  EXPECT_EQ(out[0].real, (std::vector<double>{105}));
  EXPECT_EQ(out[1].real, (std::vector<double>{95, 75, 45, 5}));
  EXPECT_EQ(out[2].integer, (std::vector<int64_t>{0, 1, 2, 3}));
}

TEST(Scan, CountsTheTurnsOfScansInside) {
  const Text text(R"(body @in(carry %h: f32[]) {
  update %h <- %h
  return
}
body @out(carry %h: f32[]) {
  %n: f32[] = scan @in(%h) {count = 5}
  update %h <- %n
  return
}
graph @f(input %h: f32[]) {
  %a: f32[] = scan @in(%h) {count = 7}
  %b: f32[] = scan @out(%a) {count = 3}
  return %b
})");
  EXPECT_EQ(all_turns(text.module, text.module.graphs[0]), 7 + 3 * 5);
}

// --- modules that no text can say ---

std::string first_problem(const Module& m) {
  const std::vector<std::string> problems = verify(m);
  return problems.empty() ? "" : problems[0];
}

class FaultyScan : public ::testing::Test {
 protected:
  Text text{scan_of_four("count = 4")};
  Module& m = text.module;
  Graph& graph() { return m.graphs[0]; }
  Graph& body() { return m.bodies[0]; }
  Node& scan() { return graph()[graph().order[0]]; }
};

TEST_F(FaultyScan, RightAsItIs) { EXPECT_EQ(first_problem(m), ""); }

TEST_F(FaultyScan, OfABodyThatIsNotThere) {
  m.bodies.clear();
  EXPECT_EQ(first_problem(m), "@f: no body @sum");
}

TEST_F(FaultyScan, OfTheBodyItself) {
  Graph& b = body();
  const ValueId w = b.find("w"), h = b.find("h"), x = b.find("x");
  Graph outer = b;
  const NodeId n = add_scan(outer, b, {w, h, x}, {{"count", int64_t{1}}}, {"a", "b", "c"}, {});
  EXPECT_EQ(outer[n].callee, "sum");
  b = outer;
  EXPECT_EQ(first_problem(m), "@sum: no body @sum above");
}

TEST_F(FaultyScan, OfOtherTypes) {
  scan().attrs["count"] = int64_t{5};
  EXPECT_EQ(first_problem(m), "@f: %last: scan @sum: slice %x takes f32[5], a row for each of 5 turns, got f32[4]");
}

TEST_F(FaultyScan, OfNoTurns) {
  scan().attrs["count"] = int64_t{0};
  EXPECT_EQ(first_problem(m), "@f: %last: scan @sum: count is how many turns, at least 1, got 0");
}

TEST_F(FaultyScan, OfMoreTurnsThanAnybodyWaitsFor) {
  scan().attrs["count"] = kMostTurns + 1;
  EXPECT_EQ(first_problem(m), "@f: %last: scan @sum: count 1048577 is too large, at most 1048576");
}

TEST_F(FaultyScan, WhoseCarryChangesItsType) {
  body()[body().find("n")].type.dtype = DType::f64;
  const std::vector<std::string> problems = verify(m);
  EXPECT_NE(std::find(problems.begin(), problems.end(), "@sum: update of %h by another type"), problems.end());
}

TEST_F(FaultyScan, WhoseCarryEndsNowhere) {
  body().updates.remove({body().find("h")});
  EXPECT_EQ(first_problem(m), "@sum: carry %h has no update: what is it in the next turn?");
}

TEST_F(FaultyScan, WithRolesOfTheOtherKindOfGraph) {
  body()[body().find("w")].role = Role::param;
  EXPECT_EQ(first_problem(m), "@sum: %w is param, and a body takes fixed, carry, slice and index");
  body()[body().find("w")].role = Role::fixed;
  graph()[graph().find("w")].role = Role::fixed;
  EXPECT_EQ(first_problem(m), "@f: %w is fixed, which only a body has");
}

}  // namespace
}  // namespace heddle::ir
