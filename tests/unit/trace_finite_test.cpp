// The way back from a number that is not finite to the operator that made it: what masks hide, what is meant, loops.
#include "tools/command/trace_finite.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/text/parse.h"

namespace heddle {
namespace {

struct Traced {
  std::string name;  // of the result
  int64_t element = 0;
  double value = 0;
  std::vector<double> operands;
  std::vector<int64_t> rows;  // of the turns
};

// Of the graph's first output; the input %x is f32[4].
std::optional<Traced> trace(const std::string& text, const std::vector<double>& x) {
  const SourceFile source{"m.hir", text};
  const ir::Module m = ir::parse(source);
  const ir::Graph& g = m.graphs.at(0);
  ir::NamedTensors inputs;
  inputs["x"] = ir::Tensor({ir::DType::f32, {4}});
  inputs["x"].real = x;
  const auto found = tools::trace_not_finite(m, g, inputs, {{g.outputs[0]}});
  if (!found) return std::nullopt;
  Traced t{(*found->graph)[found->result].name, found->element, found->value, found->operands, {}};
  for (const tools::TurnAt& turn : found->turns) t.rows.push_back(turn.row);
  return t;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(TraceFinite, FindsTheElement) {
  const auto t = trace(R"(graph @f(input %x: f32[4]) {
  %a: f32[4] = exp(%x)
  %s: f32[] = reduce_sum(%a) {axes = [0]}
  return %s
})",
                       {1, 2, 90, 3});
  ASSERT_TRUE(t);
  EXPECT_EQ(t->name, "a");
  EXPECT_EQ(t->element, 2);
  EXPECT_EQ(t->value, kInfinity);
  EXPECT_EQ(t->operands, std::vector<double>{90});
}

// The sum makes it, of finite numbers.
TEST(TraceFinite, FindsSums) {
  const auto t = trace(R"(graph @f(input %x: f32[4]) {
  %s: f32[] = reduce_sum(%x) {axes = [0]}
  %t: f32[] = neg(%s)
  return %t
})",
                       {3e38, 3e38, 0, 0});
  ASSERT_TRUE(t);
  EXPECT_EQ(t->name, "s");
}

// Doubles hold the sum; the device's floats do not.
TEST(TraceFinite, FindsSumsOfMeans) {
  const auto t = trace(R"(graph @f(input %x: f32[4]) {
  %m: f32[] = reduce_mean(%x) {axes = [0]}
  return %m
})",
                       {3e38, 3e38, 0, 0});
  ASSERT_TRUE(t);
  EXPECT_EQ(t->name, "m");
}

// So does a composite's: its parts say so.
TEST(TraceFinite, FindsSumsOfComposites) {
  const auto t = trace(R"(graph @f(input %x: f32[4]) {
  %l: f32[2,2] = reshape(%x) {shape = [2,2]}
  %y: i32[2] = constant() {dtype = "i32", shape = [2], value = 1}
  %c: f32[] = cross_entropy(%l, %y)
  return %c
})",
                       {3e38, 0, 3e38, 0});
  ASSERT_TRUE(t);
  EXPECT_EQ(t->name, "c");
}

// log(0) comes first, and is not taken: its element reaches nothing.
TEST(TraceFinite, DoesNotFollowWhatASelectLeaves) {
  const char* text = R"(graph @f(input %x: f32[4]) {
  %zero: f32[4] = constant() {shape = [4], value = 0}
  %one: f32[4] = constant() {shape = [4], value = 1}
  %is: bool[4] = le(%x, %zero)
  %hidden: f32[4] = log(%x)
  %a: f32[4] = select(%is, %one, %hidden)
  %hundred: f32[4] = constant() {shape = [4], value = 100}
  %large: f32[4] = mul(%a, %hundred)
  %b: f32[4] = exp(%large)
  %s: f32[] = reduce_sum(%b) {axes = [0]}
  return %s
})";
  const auto t = trace(text, {1, 1, 0, 1});
  ASSERT_TRUE(t);
  EXPECT_EQ(t->name, "b");
  EXPECT_EQ(t->element, 2);
}

// Elements follow movements: the nan of element 0 is sliced away, that of element 3 is not.
TEST(TraceFinite, FollowsIndexMaps) {
  const auto t = trace(R"(graph @f(input %x: f32[4]) {
  %a: f32[4] = sqrt(%x)
  %b: f32[4] = reverse(%a) {axes = [0]}
  %c: f32[2] = slice(%b) {starts = [0], limits = [2], strides = [1]}
  %s: f32[] = reduce_sum(%c) {axes = [0]}
  return %s
})",
                       {-1, 1, 1, -4});
  ASSERT_TRUE(t);
  EXPECT_EQ(t->name, "a");
  EXPECT_EQ(t->element, 3);
}

// A constant is meant to be infinite: what makes nan of it is named; where it only passes on, what took it.
TEST(TraceFinite, TakesConstantsAsMeant) {
  const char* text = R"(graph @f(input %x: f32[4]) {
  %zero: f32[4] = constant() {shape = [4], value = 0}
  %none: f32[4] = constant() {shape = [4], value = -inf}
  %is: bool[4] = gt(%x, %zero)
  %masked: f32[4] = select(%is, %x, %none)
  %y: f32[4] = softmax(%masked) {axis = 0}
  return %y
})";
  EXPECT_FALSE(trace(text, {1, -1, 2, -1}));
  const auto t = trace(text, {-1, -1, -2, -1});
  ASSERT_TRUE(t);
  EXPECT_EQ(t->name, "y");
  EXPECT_TRUE(std::isnan(t->value));
}

TEST(TraceFinite, NamesInputs) {
  const auto t = trace(R"(graph @f(input %x: f32[4]) {
  %a: f32[4] = exp(%x)
  return %a
})",
                       {1, std::nan(""), 1, 1});
  ASSERT_TRUE(t);
  EXPECT_EQ(t->name, "x");
  EXPECT_EQ(t->element, 1);
}

// h = exp(h) + x: the third turn overflows. Reversed, turns take the rows from the last one on.
TEST(TraceFinite, GoesIntoLoops) {
  const std::string body = R"(body @cell(carry %h: f32[], slice %x: f32[]) {
  %e: f32[] = exp(%h)
  %n: f32[] = add(%e, %x)
  update %h <- %n
  return %n
}
)";
  const std::string graph = R"(graph @f(input %x: f32[4]) {
  %start: f32[] = constant() {value = 1}
  %last: f32[], %all: f32[4] = scan @cell(%start, %x) {count = 4)";
  const auto t = trace(body + graph + "}\n  return %last\n}", {2, 1, 1, 1});
  ASSERT_TRUE(t);
  EXPECT_EQ(t->name, "e");
  EXPECT_EQ(t->rows, std::vector<int64_t>{2});
  const auto back = trace(body + graph + ", reverse = true}\n  return %all\n}", {1, 1, 1, 2});
  ASSERT_TRUE(back);
  EXPECT_EQ(back->rows, std::vector<int64_t>{1});
}

TEST(TraceFinite, FindsNothingWhereAllIsFinite) {
  EXPECT_FALSE(trace(R"(graph @f(input %x: f32[4]) {
  %a: f32[4] = exp(%x)
  return %a
})",
                     {1, 2, 3, 4}));
}

}  // namespace
}  // namespace heddle
