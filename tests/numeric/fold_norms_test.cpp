// Predictions whose norms are folded into weights, and whose parameters are prepared: the same numbers in doubles, within
// 1e-5 on the host; the same bits where nothing is folded. Of every model that has a batch norm.
#include "passes/fold_norms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ir/verify/verify.h"
#include "passes/pipeline.h"
#include "passes/prepare.h"
#include "tests/support/each_nth.h"
#include "tests/support/host_run.h"
#include "tests/support/source_dir.h"
#include "tools/driver/compile.h"
#include "tools/driver/model_file.h"

namespace heddle::testing {
namespace {

using namespace ir;

struct Predictions {
  driver::ReadModel read;
  Module module;  // before the passes
  NamedTensors inputs;
};

// Smooth numbers, no two alike; variances and scales are above 0.
Tensor numbers(const Value& v, double phase) {
  Tensor t(v.type);
  const bool positive = v.name.ends_with("running_var") || v.name.ends_with(".norm.weight");
  for (int64_t i = 0; i < t.elements(); ++i) {
    const double wave = std::sin(0.7 * static_cast<double>(i) + phase);
    if (is_floating(v.type.dtype)) t.set(i, positive ? 1 + 0.6 * wave : 0.3 * wave);
  }
  return rounded(t);
}

void read_predictions(Predictions& p, const std::string& name, const std::vector<std::string>& set = {}) {
  driver::read_model(p.read, source_dir() / "models" / (name + ".json"), {.set = set, .small = true});
  driver::Planned planned(p.read.model);
  p.module = driver::build(planned, {.entries = frontend::BuildOptions{.predict = 2, .total_steps = 1}}).module;
  const Graph& g = *p.module.find_graph(EntryKind{.phase = Phase::predict});
  for (const ValueId v : g.inputs) p.inputs[g[v].name] = numbers(g[v], static_cast<double>(v.index));
}

Module planned(const Module& from, const std::string& to, bool prepare, bool fold, int* folded = nullptr) {
  Module m = from;
  passes::Options options = host_options();
  options.prepare = prepare, options.fold_norms = fold;
  if (folded != nullptr)
    options.remark = [folded](const passes::Remark& r) {
      *folded += r.reason.starts_with("its scale goes into") ? 1 : 0;
    };
  passes::run_pipeline(m, options, {.to = to, .after = {}});
  return m;
}

// Of the entry prepare, then of predict.
template <class Run>
std::vector<Tensor> predicted(const Module& m, NamedTensors inputs, const Run& run) {
  const auto of = [&](const Graph& g) {
    NamedTensors taken;
    for (const ValueId v : g.inputs)
      if (const auto known = inputs.find(g[v].name); known != inputs.end())
        taken.insert(*known);
      else
        taken.emplace(g[v].name, Tensor(g[v].type));
    return run(g, taken);
  };
  if (const Graph* prepare = m.find_graph(passes::kPrepare))
    for (auto& [name, value] : of(*prepare).updated) inputs[name] = value;
  return of(*m.find_graph(EntryKind{.phase = Phase::predict})).outputs;
}

std::vector<Tensor> in_doubles(const Module& m, const NamedTensors& inputs) {
  return predicted(m, inputs, [&](const Graph& g, const NamedTensors& taken) { return evaluate(m, g, taken); });
}

std::vector<Tensor> on_host(const Module& m, const NamedTensors& inputs) {
  HostRun host(m, "predict", {.threads = 2, .pipeline = false});
  return predicted(m, inputs, [&](const Graph& g, const NamedTensors& taken) { return host(g.name, taken); });
}

// The largest difference over the largest number.
double difference(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  double largest = 0, most = 0;
  EXPECT_EQ(a.size(), b.size());
  for (size_t k = 0; k < a.size(); ++k)
    for (size_t i = 0; i < a[k].real.size(); ++i) {
      largest = std::max(largest, std::abs(a[k].real[i]));
      most = std::max(most, std::abs(a[k].real[i] - b[k].real[i]));
    }
  EXPECT_GT(largest, 1e-3);
  return most / largest;
}

struct Folded {
  std::string model;
  int norms;  // all that it has: each follows a product
};
void PrintTo(const Folded& folded, std::ostream* out) { *out << folded.model; }

class FoldNorms : public ::testing::TestWithParam<Folded> {};

TEST_P(FoldNorms, AreTheSameNumbers) {
  Predictions p;
  read_predictions(p, GetParam().model);
  int folded = 0;
  const Module before = planned(p.module, "simplify", false, false),
               after = planned(p.module, "prepare", true, true, &folded);
  EXPECT_EQ(folded, GetParam().norms);
  EXPECT_LT(difference(in_doubles(before, p.inputs), in_doubles(after, p.inputs)), 1e-12);
}

TEST_P(FoldNorms, OnTheHostWithinRounding) {
  Predictions p;
  read_predictions(p, GetParam().model);
  const std::string all = "assign_buffers";
  const std::vector<Tensor> plain = on_host(planned(p.module, all, false, false), p.inputs);
  EXPECT_LT(difference(plain, on_host(planned(p.module, all, true, true), p.inputs)), 1e-5);
  const std::vector<Tensor> prepared = on_host(planned(p.module, all, true, false), p.inputs);
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(prepared[i].real, plain[i].real);
}

INSTANTIATE_TEST_SUITE_P(Models, FoldNorms,
                         ::testing::ValuesIn(each_nth<Folded>(3, {{"mini_resnet", 7},
                                                                  {"resnet20", 19},
                                                                  {"unet", 10},
                                                                  {"mobilenet_small", 9},
                                                                  {"detector", 4},
                                                                  {"photo_classifier", 3},
                                                                  {"volume_segmentation", 5}})),
                         [](const auto& info) { return info.param.model; });

}  // namespace
}  // namespace heddle::testing
