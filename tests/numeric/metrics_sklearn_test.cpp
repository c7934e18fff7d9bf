// Metrics of classes, of labels, of probabilities and of queries against scikit-learn (ece: torchmetrics):
// drawn rows, by the evaluator in double precision and, of some, by the host device. The numbers and models are
// tests/training/reference/metrics.safetensors, or HEDDLE_METRICS names another file (see
// make_metrics.py there).
#include <gtest/gtest.h>

#include <cmath>

#include "frontend/build_graph.h"
#include "frontend/read/read_model.h"
#include "passes/pipeline.h"
#include "tests/numeric/reference_file.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

constexpr double kTolerance = 1e-9, kTolerance32 = 1e-6;

const runtime::WeightsFile& numbers() {
  static const runtime::WeightsFile file = reference_file("metrics.safetensors", "HEDDLE_METRICS");
  return file;
}

ir::Tensor stored(const std::string& name) { return stored_tensor(numbers(), name); }

using Run = std::function<ir::Evaluation(const std::string& entry, const ir::NamedTensors& inputs)>;

struct Case {
  frontend::Sources sources;
  ir::Module module;
  size_t metrics = 0;
};

Case read_case(const std::string& name) {
  Case c;
  const frontend::Model model =
      frontend::read_model(c.sources, c.sources.add("m.json", numbers().metadata.at(name)), {});
  c.module = frontend::build_module(model, frontend::default_build_options(model));
  c.metrics = model.train.metrics.size();
  return c;
}

// What @metrics gives behind the loss once all batches have been through @eval.
std::vector<ir::Tensor> measured(const Case& c, const std::string& name, const Run& run) {
  ir::NamedTensors states;
  const ir::Tensor scores = stored(name + "/in.s"), labels = stored(name + "/in.t");
  std::vector<ir::Tensor> outputs;
  const auto step = [&](const std::string& entry, int64_t k) {
    const ir::Graph& g = *c.module.find_graph(entry);
    ir::NamedTensors in;
    for (const ir::ValueId v : g.inputs)
      in.emplace(g[v].name, g[v].role == ir::Role::input
                                ? part_of(g[v].name == "s" ? scores : labels, k, g[v].type)
                                : states.emplace(g[v].name, ir::Tensor(g[v].type)).first->second);
    ir::Evaluation done = run(entry, in);
    for (auto& [state, next] : done.updated) states.insert_or_assign(state, std::move(next));
    outputs = std::move(done.outputs);
  };
  step("init", 0);
  step("reset", 0);
  for (int64_t k = 0; k < scores.type.dims.at(0); ++k) step("eval", k);
  step("metrics", 0);
  outputs.erase(outputs.begin());
  return outputs;
}

// How many metrics were compared.
size_t compare(const Case& c, const std::string& name, double tolerance, const Run& run) {
  const std::vector<ir::Tensor> found = measured(c, name, run);
  EXPECT_EQ(found.size(), c.metrics) << name;
  for (size_t i = 0; i < found.size(); ++i) {
    const ir::Tensor expected = stored(name + "/metric." + std::to_string(i));
    EXPECT_EQ(found[i].elements(), expected.elements()) << name << " metric " << i;
    for (int64_t k = 0; k < std::min(found[i].elements(), expected.elements()); ++k) {
      if (std::isnan(expected.at(k)) && std::isnan(found[i].at(k))) continue;
      EXPECT_NEAR(found[i].at(k), expected.at(k), tolerance) << name << " metric " << i << " element " << k;
    }
  }
  return found.size();
}

TEST(MetricsOfScikitLearn, EvaluatorAgrees) {
  size_t compared = 0;
  for (const std::string& name : reference_cases(numbers())) {
    const Case c = read_case(name);
    compared += compare(c, name, kTolerance, [&](const std::string& entry, const ir::NamedTensors& in) {
      return ir::evaluate(c.module, *c.module.find_graph(entry), in);
    });
  }
  EXPECT_GE(compared, 500U);
  RecordProperty("metrics", static_cast<int>(compared));
}

// A case of each family of make_metrics.py, of a longer file of every 96 cases, since each is compiled.
TEST(MetricsOfScikitLearn, HostAgrees) {
  const size_t count = reference_cases(numbers()).size();
  for (size_t first = 0; first < count; first += 96)
    for (const size_t family : {size_t{0}, size_t{3}, size_t{4}, size_t{5}, size_t{7}}) {
      const std::string name = "case_" + std::to_string(std::min(first + family, count - 1));
      const Case c = read_case(name);
      HostRun host(c.module, "eval");
      const auto run = [&](const std::string& entry, const ir::NamedTensors& in) { return host(entry, in); };
      EXPECT_GT(compare(c, name, kTolerance32, run), 0U);
    }
}

}  // namespace
}  // namespace heddle::testing
