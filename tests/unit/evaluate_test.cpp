#include "ir/evaluate/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/module_text.h"

namespace heddle::ir {
namespace {

using Text = testing::ModuleText;

Tensor vector(DType dtype, const std::vector<double>& elements) {
  Tensor t({dtype, {static_cast<int64_t>(elements.size())}});
  for (size_t i = 0; i < elements.size(); ++i) t.set(static_cast<int64_t>(i), elements[i]);
  return t;
}

std::vector<double> planned(const Text& text, const NamedTensors& inputs) {
  const Module& m = text.module;
  return evaluate(m, m.graphs[0], inputs, {.through_arena = true}).outputs[0].real;
}

const NamedTensors kX = {{"x", vector(DType::f32, {1, 2, 3, 4})}};

TEST(Evaluate, RoundsOnlyWhenAsked) {
  const Text text("graph @f(input %x: f32[1], input %y: f32[1]) {\n  %s: f32[1] = add(%x, %y)\n  return %s\n}\n");
  const NamedTensors inputs = {{"x", vector(DType::f32, {1})}, {"y", vector(DType::f32, {0x1p-30})}};
  const Graph& g = text.module.graphs[0];
  EXPECT_EQ(evaluate(text.module, g, inputs).outputs[0].real[0], 1 + 0x1p-30);
  EXPECT_EQ(evaluate(text.module, g, inputs, {.precision = Precision::rounded}).outputs[0].real[0], 1);
}

TEST(Evaluate, AnswersWithUpdatedStates) {
  const Text text(
      "graph @f(input %x: f32[4], param %w: f32[4]) {\n  %n: f32[4] = sub(%w, %x)\n  update %w <- %n\n  return "
      "%w\n}\n");
  const NamedTensors inputs = {{"x", kX.at("x")}, {"w", vector(DType::f32, {5, 5, 5, 5})}};
  const Evaluation result = evaluate(text.module, text.module.graphs[0], inputs);
  EXPECT_EQ(result.outputs[0].real, (std::vector<double>{5, 5, 5, 5}));
  EXPECT_EQ(result.updated.at("w").real, (std::vector<double>{4, 3, 2, 1}));
}

TEST(Evaluate, RefusesMissingAndWrongInputs) {
  const Text text("graph @f(input %x: f32[4]) {\n  return %x\n}\n");
  const Graph& g = text.module.graphs[0];
  EXPECT_THROW(evaluate(text.module, g, {}), UserError);
  EXPECT_THROW(evaluate(text.module, g, {{"x", vector(DType::f32, {1, 2})}}), UserError);
  EXPECT_THROW(evaluate(text.module, g, kX, {.through_arena = true}), UserError);  // memory is not planned
}

TEST(Evaluate, RefusesGradients) {
  const Text text(
      "graph @f(input %x: f32[4]) {\n  %s: f32[] = reduce_sum(%x)\n  %g: f32[4] = gradient(%s, %x)\n  return %g\n}\n");
  EXPECT_THROW(evaluate(text.module, text.module.graphs[0], kX), UserError);
}

TEST(EvaluatePlanned, FollowsARightPlan) {
  const Text text(R"(graph @f(input %x: f32[4] at 0) {arena = 512} {
  %a: f32[4] at 256 = neg(%x)
  %b: f32[4] at 0 = exp(%a)
  %v: f32[2] at %b + 8 = slice(%b) {limits = [4], starts = [2]}
  %c: f32[2] at 256 = neg(%v)
  return %c
})");
  const std::vector<double> c = planned(text, kX);
  EXPECT_EQ(c, (std::vector<double>{-std::exp(-3.0), -std::exp(-4.0)}));
}

// %b is written over %a, which is read later.
TEST(EvaluatePlanned, ShowsAnOverwrittenValue) {
  const Text text(R"(graph @f(input %x: f32[4] at 0) {arena = 512} {
  %a: f32[4] at 256 = neg(%x)
  %b: f32[2] at 264 = slice(%x) {limits = [2], starts = [0]}
  %c: f32[4] at 0 = neg(%a)
  return %c
})");
  const std::vector<double> c = planned(text, kX);
  EXPECT_EQ(c[0], 1);
  EXPECT_NE(c[2], 3);
}

// %b takes the bytes of its own operand without being in place: a kernel might write before it reads.
TEST(EvaluatePlanned, ShowsAResultOverItsOperand) {
  const Text overlap("graph @f(input %x: f32[4] at 0) {arena = 256} {\n  %b: f32[4] at 8 = neg(%x)\n  return %b\n}\n");
  EXPECT_TRUE(std::isnan(planned(overlap, kX)[3]));
  const Text in_place(
      "graph @f(input %x: f32[4] at 0) {arena = 256} {\n  %b: f32[4] at %x = neg(%x)\n  return %b\n}\n");
  EXPECT_EQ(planned(in_place, kX)[3], -4);
}

// A movement into other storage than its operand's is a copy, not a view.
TEST(EvaluatePlanned, CopiesWhatIsNoView) {
  const Text text(R"(graph @f(input %x: f32[4] at 0) {arena = 512} {
  %a: f32[4] at 256 = neg(%x)
  %b: f32[4] at 0 = neg(%a)
  %v: f32[4] at %b = reshape(%a) {shape = [4]}
  return %v
})");
  EXPECT_EQ(planned(text, kX)[0], -1);
}

TEST(EvaluatePlanned, WritesTheOperandsOfAConcatInPlace) {
  const Text text(R"(graph @f(input %x: f32[4] at 0) {arena = 512} {
  %a: f32[4] at %c = neg(%x)
  %b: f32[4] at %c + 16 = exp(%x)
  %c: f32[8] at 256 = concat(%a, %b)
  %d: f32[8] at 0 = neg(%c)
  return %d
})");
  EXPECT_EQ(planned(text, kX),
            (std::vector<double>{1, 2, 3, 4, -std::exp(1.0), -std::exp(2.0), -std::exp(3.0), -std::exp(4.0)}));
}

// A call's scratch over a value that is read later.
TEST(EvaluatePlanned, ShowsScratchOverAValue) {
  const auto text = [](const std::string& at) {
    return R"(kernel @m(%x: f32[2,2]) {schedule = "contract", impl = "onednn", workspace = 16} {
  %y: f32[2,2] = matmul(%x, %x)
  return %y
}
graph @f(input %x: f32[2,2] at 0) {arena = 1024} {
  %a: f32[2,2] at 512 = neg(%x)
  %y: f32[2,2] at 256 = call @m(%x) {workspace_at = )" +
           at + R"(}
  %z: f32[2,2] at 0 = sub(%y, %a)
  return %z
})";
  };
  Tensor x({DType::f32, {2, 2}});
  x.real = {1, 2, 3, 4};
  EXPECT_EQ(planned(Text(text("768")), {{"x", x}}), (std::vector<double>{8, 12, 18, 26}));
  EXPECT_TRUE(std::isnan(planned(Text(text("512")), {{"x", x}})[0]));
}

TEST(EvaluatePlanned, UpdatesStatesInPlace) {
  const Text text(R"(graph @f(param %w: f32[4]) {arena = 256} {
  %n: f32[4] at %w = neg(%w)
  %m: f32[4] at 0 = exp(%w)
  update %w <- %n
  return %m
})");
  const NamedTensors inputs = {{"w", vector(DType::f32, {1, 2, 3, 4})}};
  const Evaluation result = evaluate(text.module, text.module.graphs[0], inputs, {.through_arena = true});
  EXPECT_EQ(result.updated.at("w").real, (std::vector<double>{-1, -2, -3, -4}));
  EXPECT_NE(result.outputs[0].real[0], std::exp(1.0));  // %w is read after it was overwritten
}

TEST(FlattenStates, LaysMembersEndToEndAndBack) {
  const Text text(R"(group @all {
  param %a: f32[2] at 0
  param %b: f32[1,3] at 4
}
graph @f(param %all: f32[8]) {
  return %all
})");
  Tensor b({DType::f32, {1, 3}});
  b.real = {3, 4, 5};
  const NamedTensors states = {{"a", vector(DType::f32, {1, 2})}, {"b", b}, {"other", vector(DType::i32, {7})}};
  const NamedTensors flat = flatten_states(text.module, states);
  EXPECT_EQ(flat.at("all").real, (std::vector<double>{1, 2, 0, 0, 3, 4, 5, 0}));
  EXPECT_EQ(flat.count("a"), 0u);
  const NamedTensors back = unflatten_states(text.module, flat);
  EXPECT_EQ(back.at("b").real, b.real);
  EXPECT_EQ(back.at("b").type, b.type);
  EXPECT_EQ(back.at("other").integer, (std::vector<int64_t>{7}));
  EXPECT_EQ(back.size(), 3u);
}

}  // namespace
}  // namespace heddle::ir
