// The layers rnn, gru and lstm against their formulas, in plain loops over numbers: values, and gradients by differences.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ir/scan.h"
#include "passes/pipeline.h"
#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

using ir::NamedTensors;
using ir::Tensor;
using Row = std::vector<double>;

constexpr int64_t kRows = 3, kSteps = 4, kFeatures = 2;

struct Setting {
  std::string op, more;  // more settings of the node
  int64_t units = 3, projection = 0, layers = 1, directions = 1;
  bool before = false, relu = false, sized = false;
};

double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }

// The numbers of a model by name; what is absent counts as zero.
class Formulas {
 public:
  Formulas(const Setting& s, const NamedTensors& values) : s_(s), values_(values) {}

  // The sequence, row by row and step by step.
  Row run() {
    std::vector<std::vector<Row>> x(kRows, std::vector<Row>(kSteps, Row(kFeatures)));
    for (int64_t n = 0; n < kRows; ++n)
      for (int64_t t = 0; t < kSteps; ++t)
        for (int64_t f = 0; f < kFeatures; ++f)
          x[at(n)][at(t)][at(f)] = values_.at("x").at((n * kSteps + t) * kFeatures + f);
    for (int64_t layer = 0; layer < s_.layers; ++layer) x = one_layer(x, layer);
    Row out;
    for (const auto& row : x)
      for (const Row& step : row) out.insert(out.end(), step.begin(), step.end());
    return out;
  }

 private:
  static size_t at(int64_t i) { return static_cast<size_t>(i); }
  int64_t width() const { return s_.projection > 0 ? s_.projection : s_.units; }
  double number(const std::string& name, int64_t i) const {
    const auto found = values_.find("r." + name + suffix_);
    return found == values_.end() ? 0 : found->second.at(i);
  }
  // One row of a matrix times x.
  double times(const std::string& name, int64_t row, const Row& x) const {
    double sum = 0;
    for (size_t k = 0; k < x.size(); ++k) sum += number(name, row * std::ssize(x) + static_cast<int64_t>(k)) * x[k];
    return sum;
  }
  double of_x(int64_t row, const Row& x) const { return times("weight_ih_", row, x) + number("bias_ih_", row); }
  double of_h(int64_t row, const Row& h) const { return times("weight_hh_", row, h) + number("bias_hh_", row); }

  std::vector<std::vector<Row>> one_layer(const std::vector<std::vector<Row>>& x, int64_t layer) {
    std::vector<std::vector<Row>> out(kRows, std::vector<Row>(kSteps));
    for (int64_t direction = 0; direction < s_.directions; ++direction) {
      suffix_ = fmt::format("l{}{}", layer, direction == 1 ? "_reverse" : "");
      for (int64_t n = 0; n < kRows; ++n) {
        const int64_t length = s_.sized ? static_cast<int64_t>(values_.at("size").at(n)) : kSteps;
        Row h(at(width())), c(at(s_.units));
        for (int64_t k = 0; k < kSteps; ++k) {
          const int64_t t = direction == 0 ? k : k < length ? length - 1 - k : k;
          if (k < length) step(x[at(n)][at(t)], h, c);
          const Row shown = k < length ? h : Row(at(width()));
          out[at(n)][at(t)].insert(out[at(n)][at(t)].end(), shown.begin(), shown.end());
        }
      }
    }
    return out;
  }

  void step(const Row& x, Row& h, Row& c) const {
    const int64_t u = s_.units;
    Row next(at(u));
    for (int64_t j = 0; j < u; ++j) {
      const auto sum = [&](int64_t gate) { return of_x(gate * u + j, x) + of_h(gate * u + j, h); };
      double& out = next[at(j)];
      if (s_.op == "rnn") {
        out = s_.relu ? std::max(0.0, sum(0)) : std::tanh(sum(0));
      } else if (s_.op == "lstm") {
        c[at(j)] = sigmoid(sum(1)) * c[at(j)] + sigmoid(sum(0)) * std::tanh(sum(2));
        out = sigmoid(sum(3)) * std::tanh(c[at(j)]);
      } else {
        const double z = sigmoid(sum(1));
        double of_state = sigmoid(sum(0)) * of_h(2 * u + j, h);
        if (s_.before) {
          Row reset(h);
          for (int64_t k = 0; k < u; ++k) reset[at(k)] *= sigmoid(of_x(k, x) + of_h(k, h));
          of_state = of_h(2 * u + j, reset);
        }
        out = (1 - z) * std::tanh(of_x(2 * u + j, x) + of_state) + z * h[at(j)];
      }
    }
    if (s_.projection > 0) {
      h.assign(at(s_.projection), 0);
      for (int64_t j = 0; j < s_.projection; ++j) h[at(j)] = times("weight_hr_", j, next);
    } else {
      h = next;
    }
  }

  Setting s_;
  const NamedTensors& values_;
  std::string suffix_;  // of parameters: "l0_reverse"
};

std::string text_of(const Setting& s) {
  const std::string out = s.op == "lstm" ? R"(["y", "last", "cell"])" : R"(["y", "last"])";
  return model(
      R"("x": {"shape": ["N", 4, 2]}, "size": {"shape": ["N"], "dtype": "i32"})",
      fmt::format(R"({{"name": "r", "op": "{}", "units": {}, "in": {{"x": "x"{}}}, "out": {}{}}},
                     {{"name": "q", "op": "square", "in": "y"}}, {{"name": "s", "op": "sum"}})",
                  s.op, s.units, s.sized ? R"(, "size": "size")" : "", out, s.more),
      R"(, "outputs": {"y": "y"}, "train": {"batch": {"N": 3}, "steps": 1, "loss": {"op": "value", "in": "s"}, "optimizer": "sgd"})");
}

class Recurrent : public ::testing::TestWithParam<Setting> {};

TEST_P(Recurrent, FollowsItsFormulas) {
  const Setting s = GetParam();
  const auto built = build(text_of(s));
  NamedTensors values;
  ir::Graph& train = *built->module.find_graph("train");
  int64_t seed = 0;
  for (const ir::ValueId v : train.inputs) {
    const int64_t from = 17 * ++seed;
    values[train[v].name] = tensor(train[v].type, [&](int64_t i) { return 0.8 * wave(i + from); });
  }
  values["x"] = tensor({ir::DType::f32, {kRows, kSteps, kFeatures}}, [](int64_t i) { return wave(3 * i); });
  const Row lengths{2, 0, 4};
  values["size"] = tensor({ir::DType::i32, {kRows}}, [&](int64_t i) { return lengths[static_cast<size_t>(i)]; });
  train.outputs = {train.find("y")};
  std::vector<std::string> names;
  for (const ir::ValueId v : train.inputs) {
    if (train[v].role != ir::Role::param) continue;
    names.push_back(train[v].name);
    train.outputs.push_back(train.find(train[v].name + ".grad"));
  }
  passes::find_pass("differentiate")->run(built->module, {});
  NamedTensors own;
  for (const ir::ValueId v : train.inputs) own[train[v].name] = values.at(train[v].name);
  const ir::Evaluation done = ir::evaluate(built->module, train, own);

  const Row expected = Formulas(s, values).run();
  ASSERT_EQ(done.outputs[0].elements(), std::ssize(expected));
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(done.outputs[0].at(static_cast<int64_t>(i)), expected[i], 1e-12) << i;
  const auto loss = [&] {
    double sum = 0;
    for (const double y : Formulas(s, values).run()) sum += y * y;
    return sum;
  };
  constexpr double kStep = 1e-5;
  for (size_t k = 0; k < names.size(); ++k) {
    Tensor& p = values.at(names[k]);
    for (int64_t i = 0; i < p.elements(); ++i) {
      const double here = p.at(i);
      p.real[static_cast<size_t>(i)] = here + kStep;
      const double above = loss();
      p.real[static_cast<size_t>(i)] = here - kStep;
      const double below = loss();
      p.real[static_cast<size_t>(i)] = here;
      EXPECT_NEAR(done.outputs[k + 1].at(i), (above - below) / (2 * kStep), 1e-7) << names[k] << " " << i;
    }
  }
}

const Setting kSettings[] = {
    {.op = "rnn", .more = ""},
    {.op = "rnn", .more = R"(, "activation": "relu", "bias": "single")", .relu = true, .sized = true},
    {.op = "gru", .more = ""},
    {.op = "gru", .more = R"(, "bias": false)"},
    {.op = "gru", .more = R"(, "reset": "before")", .before = true},
    {.op = "gru",
     .more = R"(, "reset": "before", "bias": "single", "layers": 2, "bidirectional": true)",
     .layers = 2,
     .directions = 2,
     .before = true,
     .sized = true},
    {.op = "lstm", .more = ""},
    {.op = "lstm", .more = R"(, "bias": false)", .units = 1},
    {.op = "lstm",
     .more = R"(, "projection": 2, "layers": 2, "bidirectional": true)",
     .projection = 2,
     .layers = 2,
     .directions = 2,
     .sized = true},
};
INSTANTIATE_TEST_SUITE_P(Settings, Recurrent, ::testing::ValuesIn(kSettings));

// What reads the sequence is one product before the scan; the turn has the state's alone.
TEST(RecurrentLayer, MultipliesTheWholeSequenceAtOnce) {
  const auto built = build(text_of({.op = "lstm", .more = ""}));
  ASSERT_EQ(built->module.bodies.size(), 2U);  // of @train, and of @predict and @eval
  const auto products = [](const ir::Graph& g) {
    return std::ranges::count_if(g.order, [&](ir::NodeId n) { return g[n].op->name == "matmul"; });
  };
  EXPECT_EQ(products(built->module.bodies[0]), 1);
  const ir::Graph& g = *built->module.find_graph("predict");
  EXPECT_EQ(products(g), 1);
}

TEST(RecurrentLayer, StartsAsPyTorchDoes) {
  const Training run(text_of({.op = "lstm", .more = "", .units = 16}));
  for (const std::string name : {"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"}) {
    const Tensor& p = run.states.at("r." + name);
    const auto [low, high] = std::ranges::minmax(p.real);
    EXPECT_GE(low, -0.25) << name;
    EXPECT_LT(low, -0.2) << name;
    EXPECT_LE(high, 0.25) << name;
    EXPECT_GT(high, 0.2) << name;
  }
}

TEST(RecurrentLayer, StartsAsKerasDoes) {
  const Training run(text_of({.op = "lstm", .more = R"(, "init": "keras", "bias": "single")", .units = 16}));
  const Tensor& bias = run.states.at("r.bias_ih_l0");
  for (int64_t i = 0; i < 64; ++i) EXPECT_EQ(bias.at(i), i >= 16 && i < 32 ? 1 : 0) << i;
  EXPECT_EQ(run.states.count("r.bias_hh_l0"), 0U);
  const double limit = std::sqrt(6.0 / (64 + kFeatures));
  for (const double w : run.states.at("r.weight_ih_l0").real) EXPECT_LE(std::abs(w), limit);
  const Tensor& hh = run.states.at("r.weight_hh_l0");  // columns of length 1, at right angles
  for (int64_t a = 0; a < 16; ++a)
    for (int64_t b = 0; b < 16; ++b) {
      double sum = 0;
      for (int64_t i = 0; i < 64; ++i) sum += hh.at(i * 16 + a) * hh.at(i * 16 + b);
      EXPECT_NEAR(sum, a == b ? 1 : 0, 1e-6);
    }
}

// Dropout is between layers, and in training alone.
TEST(RecurrentLayer, DropsBetweenLayers) {
  const auto built = build(text_of({.op = "gru", .more = R"(, "layers": 3, "dropout": 0.5)"}));
  const auto drops = [&](const char* graph) {
    const ir::Graph& g = *built->module.find_graph(graph);
    return std::ranges::count_if(g.order, [&](ir::NodeId n) { return g[n].op->name == "dropout"; });
  };
  EXPECT_EQ(drops("train"), 2);
  EXPECT_EQ(drops("predict"), 0);
}

}  // namespace
}  // namespace heddle::frontend
