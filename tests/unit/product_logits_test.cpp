// Losses and metrics of logits that are a product, computed a few classes at a time, against the same of the whole logits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ir/verify/verify.h"
#include "passes/pipeline.h"
#include "tests/support/host_run.h"
#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

constexpr int64_t kRows = 64, kTokens = 3, kClasses = 150;  // chunks of 64, 64 and 22 classes

struct Head {
  std::string nodes;
};
const Head kDense = {R"({"name": "logits", "op": "dense", "in": "h", "units": 150})"};
const Head kTied = {R"({"name": "e", "op": "embedding", "in": "ids", "vocab": 150, "units": 5},
                       {"name": "sum", "op": "add", "in": ["h", "e"]},
                       {"name": "logits", "op": "matmul", "in": ["sum", "e.weight"], "transpose_b": true})"};

std::string text_of(const Head& head, const std::string& loss, const std::string& metrics) {
  return model(
      R"("x": {"shape": ["N", 3, 4]}, "ids": {"shape": ["N", 3], "dtype": "i32"},
         "y": {"shape": ["N", 3], "dtype": "i32"}, "w": {"shape": ["N"]})",
      R"({"name": "h", "op": "dense", "in": "x", "units": 5}, )" + head.nodes,
      fmt::format(R"(, "train": {{"batch": {{"N": 64}}, "loss": {{"op": "cross_entropy", "in": ["logits", "y"]{}}},
                        "metrics": [{}], "optimizer": {{"op": "sgd", "lr": 1}}}})",
                  loss, metrics));
}

std::unique_ptr<Built> built(const std::string& text, int64_t most_logit_bytes) {
  auto all = std::make_unique<Built>();
  all->model = read_model(all->sources, all->sources.add("m.json", text), {});
  BuildOptions options = default_build_options(all->model);
  options.most_logit_bytes = most_logit_bytes;
  all->module = build_module(all->model, options);
  EXPECT_EQ(ir::verify(all->module), std::vector<std::string>{});
  return all;
}

bool is_chunked(const ir::Module& m) {
  const ir::Graph& g = *m.find_graph("train");
  return std::ranges::any_of(g.order, [&](ir::NodeId n) { return g[n].op->name == "product_logsumexp"; });
}

ir::NamedTensors inputs() {
  ir::NamedTensors in;
  in["x"] = tensor({ir::DType::f32, {kRows, kTokens, 4}}, wave);
  in["w"] = tensor({ir::DType::f32, {kRows}}, [](int64_t i) { return static_cast<double>(i % 3) / 2; });
  in["y"] = ir::Tensor({ir::DType::i32, {kRows, kTokens}});
  in["ids"] = in["y"];
  for (int64_t i = 0; i < kRows * kTokens; ++i) {
    in["y"].integer[static_cast<size_t>(i)] = i % 7 == 3 ? -100 : i * 37 % kClasses;
    in["ids"].integer[static_cast<size_t>(i)] = i * 11 % kClasses;
  }
  return in;
}

// The loss, the totals and the next parameters of two steps.
ir::NamedTensors trained(const std::string& text, int64_t most_logit_bytes) {
  const std::unique_ptr<Built> all = built(text, most_logit_bytes);
  EXPECT_EQ(is_chunked(all->module), most_logit_bytes == 0) << text;
  passes::find_pass("differentiate")->run(all->module, {});
  ir::NamedTensors states;
  const auto run = [&](const std::string& entry) {
    const ir::Graph& g = *all->module.find_graph(entry);
    ir::NamedTensors in = inputs();
    for (const ir::ValueId v : g.inputs)
      if (g[v].role != ir::Role::input) in[g[v].name] = states.emplace(g[v].name, ir::Tensor(g[v].type)).first->second;
    ir::Evaluation done = ir::evaluate(all->module, g, in);
    for (const auto& [name, value] : done.updated) states[name] = value;
    return done.outputs;
  };
  run("init");
  ir::NamedTensors out;
  for (const std::string step : {"first", "second"}) out[step + " loss"] = run("train").at(0);
  out.insert(states.begin(), states.end());
  return out;
}

void expect_same(const std::string& text) {
  const ir::NamedTensors whole = trained(text, kMostLogitBytes), chunked = trained(text, 0);
  ASSERT_EQ(whole.size(), chunked.size());
  for (const auto& [name, value] : whole)
    for (int64_t i = 0; i < value.elements(); ++i)
      ASSERT_NEAR(value.at(i), chunked.at(name).at(i), 1e-11 * std::max(1.0, std::abs(value.at(i))))
          << name << " " << i;
}

const std::string kMetrics =
    R"({"op": "accuracy", "in": ["logits", "y"]}, {"op": "top_k_accuracy", "in": ["logits", "y"], "k": 20},
  {"op": "perplexity", "in": ["logits", "y"]}, {"op": "bits_per_character", "in": ["logits", "y"]})";

std::string class_weights() {
  std::string list;
  for (int64_t k = 0; k < kClasses; ++k)
    list += fmt::format("{}{}", k == 0 ? "" : ", ", k < 100 ? 1 : static_cast<double>(k % 5) / 4);
  return fmt::format(R"(, "class_weights": [{}])", list);
}

TEST(ProductLogits, AreWhatWholeOnesAre) {
  const std::vector<std::string> losses = {"", R"(, "label_smoothing": 0.2)", R"(, "weights": "w")", class_weights(),
                                           class_weights() + R"(, "label_smoothing": 0.3, "weights": "w")"};
  for (const Head& head : {kDense, kTied})
    for (const std::string& loss : losses) expect_same(text_of(head, loss, kMetrics));
}

// What reads all classes of a row needs the whole logits, which the loss then reads, too.
TEST(ProductLogits, AreWholeWhereAnyMeasureReadsThem) {
  for (const std::string other :
       {R"({"op": "confusion", "in": ["logits", "y"]})", R"({"op": "f1", "in": ["logits", "y"], "average": "macro"})"})
    EXPECT_FALSE(is_chunked(built(text_of(kDense, "", kMetrics + ", " + other), 0)->module)) << other;
}

// So does a node, and an activation makes something else of the product.
TEST(ProductLogits, AreAProductThatNothingElseReads) {
  const Head read = {kDense.nodes + R"(, {"name": "twice", "op": "add", "in": ["logits", "logits"]})"};
  EXPECT_FALSE(is_chunked(built(text_of(read, "", kMetrics), 0)->module));
  const Head active = {R"({"name": "logits", "op": "dense", "in": "h", "units": 150, "activation": "tanh"})"};
  EXPECT_FALSE(is_chunked(built(text_of(active, "", kMetrics), 0)->module));
  EXPECT_TRUE(is_chunked(built(text_of(kDense, "", kMetrics), 0)->module));
  EXPECT_FALSE(is_chunked(built(text_of(kDense, "", kMetrics), kRows * kTokens * kClasses * 4)->module));
}

// A label that is no class makes the loss infinite, and trains nothing of the row.
TEST(ProductLogits, OfALabelThatIsNoClassAreInfinite) {
  const std::unique_ptr<Built> all = built(text_of(kDense, "", kMetrics), 0);
  const ir::Graph& g = *all->module.find_graph("eval");
  ir::NamedTensors in = inputs();
  in["y"].integer[0] = kClasses;
  for (const ir::ValueId v : g.inputs)
    if (g[v].role != ir::Role::input) in[g[v].name] = tensor(g[v].type, wave);
  EXPECT_TRUE(std::isinf(ir::evaluate(all->module, g, in).outputs.at(0).at(0)));
}

// No value of the planned step has as many elements as the logits, and the host computes the same.
TEST(ProductLogits, NeverExistWhole) {
  const std::string text = text_of(kTied, R"(, "label_smoothing": 0.1)", kMetrics);
  const std::unique_ptr<Built> all_built = built(text, 0);
  const ir::Module& m = all_built->module;
  ir::Module planned = m;
  passes::run_pipeline(planned, testing::host_options());
  int64_t most = 0;
  const ir::Graph& g = *planned.find_graph("train");
  for (const ir::NodeId n : g.order)
    for (const ir::ValueId v : g[n].results) most = std::max(most, g[v].type.elements());
  EXPECT_LT(most, kRows * kTokens * kClasses);
  EXPECT_GE(most, kRows * kTokens * 64);

  testing::HostRun host(m, "train");
  const ir::NamedTensors exact = trained(text, 0);
  ir::NamedTensors states, out;
  const auto run = [&](const std::string& entry) {
    const ir::Graph& of = *m.find_graph(entry);
    ir::NamedTensors all;
    for (const ir::ValueId v : of.inputs)
      all[of[v].name] = of[v].role == ir::Role::input
                            ? inputs().at(of[v].name)
                            : states.emplace(of[v].name, ir::Tensor(of[v].type)).first->second;
    ir::Evaluation done = host(entry, all);
    for (const auto& [name, value] : done.updated) states[name] = value;
    return done.outputs;
  };
  run("init");
  run("train");
  run("train");
  for (const std::string name : {"e.weight", "h.weight", "accuracy.total", "perplexity.total"})
    for (int64_t i = 0; i < exact.at(name).elements(); ++i)
      ASSERT_NEAR(states.at(name).at(i), exact.at(name).at(i), 1e-4 * std::max(1.0, std::abs(exact.at(name).at(i))))
          << name << " " << i;
}

}  // namespace
}  // namespace heddle::frontend
