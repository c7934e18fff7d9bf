// A second library beside oneDNN: what select and decompose ask, in which order, and what becomes of the answers.
#include "passes/select/select.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "codegen/lower.h"
#include "ir/builder.h"
#include "ir/evaluate/evaluate.h"
#include "ir/verify/verify.h"
#include "passes/pipeline.h"
#include "passes/select/library.h"
#include "passes/select/onednn.h"

namespace heddle::passes {
namespace {

using namespace ir;

// Takes softmax whole, and products of at most 64 columns with a bias and tanh.
const Library& other() {
  static const Library kLibrary{.name = "other",
                                .refusal = [](const Graph& g, const Node& n, const Target&) -> std::string {
                                  if (n.op->name == "softmax") return {};
                                  if (n.op->name != "matmul") return "softmax and matmul only";
                                  return g[n.results[0]].type.dims.back() <= 64 ? "" : "64 columns at most";
                                },
                                .epilogue = [](const Graph&, const Node& n) -> std::vector<EpilogueStep> {
                                  const auto takes = [](const OpDef& op) { return op.name == "tanh"; };
                                  if (n.op->name == "matmul") return {Bias{}, Activation{takes}};
                                  return {};
                                },
                                .plan = [](const Graph& kernel, const Target&) -> LibraryPlan {
                                  if (head_of(kernel).op->name == "softmax") return {.slices = 2};
                                  return {.slices = 4, .precision = ProductPrecision::bf16};
                                }};
  return kLibrary;
}

LibraryAnswer takes(const Graph&) { return {.workspace = 512, .refusal = {}}; }
LibraryAnswer takes_nothing(const Graph&) { return {.workspace = 0, .refusal = "no such primitive"}; }

// softmax(tanh(x w + bias)), and a wide product of x.
Module network() {
  Module m;
  Graph& g = m.graphs.emplace_back();
  g.name = "f";
  Builder b(g);
  const ValueId x = g.add_input("x", {DType::f32, {8, 16}}, Role::input);
  const ValueId w = g.add_input("w", {DType::f32, {16, 10}}, Role::input);
  const ValueId bias = g.add_input("bias", {DType::f32, {10}}, Role::input);
  const ValueId wide = g.add_input("wide", {DType::f32, {16, 100}}, Role::input);
  const ValueId sum = b("add", {b("matmul", {x, w}, {}, "mm"), b.broadcast_to(bias, {8, 10})}, {}, "sum");
  g.outputs = {b("softmax", {b("tanh", {sum}, {}, "h")}, {}, "p"), b("matmul", {x, wide}, {}, "q")};
  return m;
}

std::string reason_of(const std::vector<Remark>& remarks, const std::string& subject) {
  for (const Remark& r : remarks)
    if (r.pass == "select" && r.subject == subject) return r.reason;
  return "no remark";
}

struct Planned {
  Module module;
  std::vector<Remark> remarks;
};

Planned plan(std::vector<AvailableLibrary> libraries) {
  Planned p{network(), {}};
  Options options{.target = host(), .libraries = std::move(libraries), .remark = {}};
  options.remark = [&](const Remark& r) { p.remarks.push_back(r); };
  run_pipeline(p.module, options);
  return p;
}

const schedules::LibraryCall& call_of(const Graph& k) { return std::get<schedules::LibraryCall>(k.schedule->how); }

const Graph* kernel_of(const Module& m, const std::string& impl, const std::string& op) {
  for (const Graph& k : m.kernels)
    if (calls_library(k) && call_of(k).impl == impl && head_of(k).op->name == op) return &k;
  return nullptr;
}

TEST(Select, ASecondLibraryTakesACompositeAndAProduct) {
  const Planned p = plan({{&other(), takes}, {&onednn(), takes}});
  const Graph* product = kernel_of(p.module, "other", "matmul");
  ASSERT_NE(product, nullptr);
  EXPECT_TRUE(call_of(*product).contraction);
  EXPECT_EQ(call_of(*product).batch_split, 4);
  EXPECT_EQ(call_of(*product).precision, ProductPrecision::bf16);
  EXPECT_EQ(product->schedule->workspace, 512);
  EXPECT_EQ(product->order.size(), 4U);  // matmul, broadcast, add, tanh
  const Graph* softmax = kernel_of(p.module, "other", "softmax");
  ASSERT_NE(softmax, nullptr);
  EXPECT_FALSE(call_of(*softmax).contraction);
  EXPECT_EQ(call_of(*softmax).batch_split, 2);
  EXPECT_NE(kernel_of(p.module, "onednn", "matmul"), nullptr);
  const std::string of_product = reason_of(p.remarks, "%mm"), of_softmax = reason_of(p.remarks, "%p");
  EXPECT_TRUE(of_product.starts_with("other in 4 slices, bf16 products, 512 bytes of scratch, ")) << of_product;
  EXPECT_TRUE(of_product.ends_with(" us estimated at least")) << of_product;
  EXPECT_TRUE(of_softmax.starts_with("other in 2 slices, f32 products, 512 bytes of scratch, ")) << of_softmax;
  EXPECT_NE(of_softmax.find("; not decomposed: "), std::string::npos) << of_softmax;
  const std::string of_wide = reason_of(p.remarks, "%q");
  EXPECT_TRUE(of_wide.starts_with("onednn in 1 slices, f32 products, 512 bytes of scratch, ")) << of_wide;
  EXPECT_NE(of_wide.find("; not other: 64 columns at most; not generated text: "), std::string::npos) << of_wide;
}

// What the real library has no primitive with stays generated, from the end of the epilogue on.
TEST(Select, AnEpilogueIsTakenAsFarAsTheLibraryGoes) {
  const auto holds = [](const Graph& k, const char* op) {
    return std::ranges::any_of(k.order, [&](NodeId n) { return k[n].op->name == op; });
  };
  for (const auto& [refused, nodes] : {std::pair{"tanh", 3U}, std::pair{"broadcast", 1U}}) {
    const Planned p = plan({{&other(), [&, refused = refused](const Graph& kernel) {
                               return holds(kernel, refused) ? takes_nothing(kernel) : takes(kernel);
                             }}});
    const Graph* product = kernel_of(p.module, "other", "matmul");
    ASSERT_NE(product, nullptr);
    EXPECT_EQ(product->order.size(), nodes) << refused;
    const std::string why = reason_of(p.remarks, "%mm");
    const std::string last = refused == std::string("tanh") ? "tanh" : "add";
    EXPECT_NE(why.find("512 bytes of scratch; not with " + last + ": no such primitive"), std::string::npos) << why;
  }
}

// A product alone, of which both say the same.
Module product_alone() {
  Module m;
  Graph& g = m.graphs.emplace_back();
  g.name = "f";
  Builder b(g);
  const ValueId x = g.add_input("x", {DType::f32, {8, 16}}, Role::input);
  const ValueId w = g.add_input("w", {DType::f32, {16, 10}}, Role::input);
  g.outputs = {b("matmul", {x, w}, {}, "mm")};
  return m;
}

TEST(Select, OfEqualFiguresTheOrderOfTheOptionsDecides) {
  for (const bool first : {true, false}) {
    Planned p{product_alone(), {}};
    std::vector<AvailableLibrary> libraries = {{&other(), takes}, {&onednn(), takes}};
    if (!first) std::swap(libraries[0], libraries[1]);
    run_pipeline(p.module, {.target = host(), .libraries = std::move(libraries), .remark = {}});
    EXPECT_NE(kernel_of(p.module, first ? "other" : "onednn", "matmul"), nullptr);
  }
}

// oneDNN would leave tanh to a kernel of its own: that takes time, too, so it is not preferred though it comes first.
TEST(Select, WhatACallLeavesIsCounted) {
  const Planned p = plan({{&onednn(), takes}, {&other(), takes}});
  EXPECT_NE(kernel_of(p.module, "other", "matmul"), nullptr);
  const std::string why = reason_of(p.remarks, "%mm");
  EXPECT_TRUE(why.starts_with("other in 4 slices, ")) << why;
  EXPECT_NE(why.find("; not onednn: "), std::string::npos) << why;
}

// A library may bring figures of its own, and loses by them: the product is left to fuse.
TEST(Select, FiguresOfALibraryDecide) {
  static const Library kSlow = [] {
    Library slow = other();
    slow.figure = [](const Graph&, const Target&) -> Figure { return {1.0, FigureSource::table}; };
    return slow;
  }();
  Planned p{product_alone(), {}};
  Options options{.target = host(), .libraries = {{&kSlow, takes}}, .remark = {}};
  options.remark = [&](const Remark& r) { p.remarks.push_back(r); };
  run_pipeline(p.module, options);
  EXPECT_EQ(kernel_of(p.module, "other", "matmul"), nullptr);
  const std::string why = reason_of(p.remarks, "%mm");
  EXPECT_TRUE(why.starts_with("generated text, ")) << why;
  EXPECT_TRUE(why.ends_with("; not other: 1 s by the table")) << why;
}

TEST(Select, EveryRefusalIsTold) {
  const Planned p = plan({{&other(), takes_nothing}, {&onednn(), takes_nothing}});
  EXPECT_EQ(reason_of(p.remarks, "%q"), "generated text; not other: 64 columns at most; not onednn: no such primitive");
  EXPECT_EQ(reason_of(p.remarks, "%p"),
            "decomposed; not other: no such primitive; not onednn: used for matrix products and convolutions only");
  for (const Graph& k : p.module.kernels) EXPECT_FALSE(calls_library(k)) << k.name;
}

// A call's body is its meaning, whoever executes it; a program describes it with all its attributes.
TEST(Select, PlansKeepTheMeaningAndLower) {
  const Module before = network();
  const Planned p = plan({{&other(), takes}, {&onednn(), takes}});
  NamedTensors inputs;
  for (const ValueId v : before.graphs[0].inputs) {
    const Value& value = before.graphs[0][v];
    Tensor t(value.type);
    for (int64_t i = 0; i < value.type.elements(); ++i) t.set(i, static_cast<double>(i % 7) / 8.0 - 0.3);
    inputs[value.name] = t;
  }
  const Evaluation want = evaluate(before, before.graphs[0], inputs);
  const Evaluation got = evaluate(p.module, p.module.graphs[0], inputs);
  ASSERT_EQ(want.outputs.size(), got.outputs.size());
  for (size_t o = 0; o < want.outputs.size(); ++o)
    for (int64_t i = 0; i < want.outputs[o].type.elements(); ++i)
      EXPECT_NEAR(want.outputs[o].at(i), got.outputs[o].at(i), 1e-9);
  const std::string text = print(codegen::lower(p.module, "f", host()));
  EXPECT_NE(text.find("other softmax("), std::string::npos) << text;
  EXPECT_NE(text.find("other matmul.bias.tanh("), std::string::npos) << text;
}

}  // namespace
}  // namespace heddle::passes
