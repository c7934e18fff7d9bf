// The loss ctc against PyTorch, values and gradients, and metrics of sequences against sacrebleu, jiwer, rouge-score and
// formulas written out: drawn rows, by the evaluator in double precision and by the host device. The numbers and models
// are tests/training/reference/sequences.safetensors, or HEDDLE_SEQUENCES names another file (see make_sequences.py there).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "frontend/build_graph.h"
#include "frontend/read/read_model.h"
#include "passes/pipeline.h"
#include "runtime/weights/safetensors.h"
#include "tests/numeric/reference_file.h"
#include "tests/support/each_nth.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

const runtime::WeightsFile& numbers() {
  static const runtime::WeightsFile file = reference_file("sequences.safetensors", "HEDDLE_SEQUENCES");
  return file;
}

ir::Tensor stored(const std::string& name) { return stored_tensor(numbers(), name); }

using Run = std::function<ir::Evaluation(const std::string& entry, const ir::NamedTensors& inputs)>;

// A model of the file, and its states from entry to entry.
class Case {
 public:
  explicit Case(std::string name) : name_(std::move(name)) {
    const frontend::Model model =
        frontend::read_model(sources_, sources_.add("m.json", numbers().metadata.at(name_)), {});
    module_ = frontend::build_module(model, frontend::default_build_options(model));
    metrics = model.train.metrics.size();
  }

  // In double precision; gradients by the pass.
  void evaluate() {
    passes::run_pass(*passes::find_pass("differentiate"), module_, {});
    run_ = [this](const std::string& entry, const ir::NamedTensors& in) {
      return ir::evaluate(module_, *module_.find_graph(entry), in);
    };
  }
  void run_on(HostRun& host) {
    run_ = [&host](const std::string& entry, const ir::NamedTensors& in) { return host(entry, in); };
  }

  std::vector<ir::Tensor> step(const std::string& entry, int64_t k = 0) {
    ir::NamedTensors in;
    const ir::Graph& g = *module_.find_graph(entry);
    for (const ir::ValueId v : g.inputs)
      in.emplace(g[v].name, g[v].role == ir::Role::input
                                ? part_of(stored(name_ + "/in." + g[v].name), k, g[v].type)
                                : states.emplace(g[v].name, ir::Tensor(g[v].type)).first->second);
    ir::Evaluation done = run_(entry, in);
    for (auto& [state, next] : done.updated) states.insert_or_assign(state, std::move(next));
    return std::move(done.outputs);
  }

  const ir::Module& module() const { return module_; }
  ir::NamedTensors states;
  size_t metrics = 0;

 private:
  std::string name_;
  frontend::Sources sources_;
  ir::Module module_;
  Run run_;
};

std::vector<std::string> cases_of(const std::string& kind) {
  std::vector<std::string> names;
  for (const std::string& name : reference_cases(numbers()))
    if (name.starts_with(kind)) names.push_back(name);
  return names;
}

void expect_number(double found, double expected, double tolerance, const std::string& what) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(found)) << what << ": " << found;
  } else if (std::isinf(expected)) {
    EXPECT_EQ(found, expected) << what;
  } else {
    EXPECT_NEAR(found, expected, tolerance * std::max(1.0, std::abs(expected))) << what;
  }
}

// `of_gradient` is allowed of a gradient's element, relative to the parameter, which it is read off of.
void check_loss(Case& c, const std::string& name, double of_value, double of_gradient) {
  c.step("init");
  ir::Tensor& p = c.states.at("p");
  const ir::Tensor start = stored(name + "/start.p"), gradient = stored(name + "/grad.p");
  for (int64_t i = 0; i < start.elements(); ++i) p.set(i, start.at(i));
  expect_number(c.step("train").at(0).at(0), stored(name + "/loss").at(0), of_value, name);
  const ir::Tensor& after = c.states.at("p");
  for (int64_t i = 0; i < start.elements(); ++i)
    EXPECT_NEAR(start.at(i) - after.at(i), gradient.at(i), of_gradient * std::max(1.0, std::abs(start.at(i))))
        << name << " element " << i;
}

TEST(CtcOfPyTorch, EvaluatorAgreesInDouble) {
  const std::vector<std::string> names = cases_of("loss_ctc");
  EXPECT_GE(names.size(), 20U);
  for (const std::string& name : names) {
    Case c(name);
    c.evaluate();
    check_loss(c, name, 1e-12, 1e-12);
  }
}

// Of these logits a sum of logarithms is up to about 1,000, where f32 has 4 digits behind the point.
TEST(CtcOfPyTorch, HostAgreesInSingle) {
  for (const std::string& name : each_nth(3, cases_of("loss_ctc"))) {
    Case c(name);
    HostRun host(c.module(), "train");
    c.run_on(host);
    check_loss(c, name, 2e-6, 1e-4);
  }
}

// Each metric of each batch alone, and of all together. How many numbers were compared.
size_t check_metrics(Case& c, const std::string& name) {
  std::vector<ir::Tensor> expected;
  for (size_t i = 0; i < c.metrics; ++i) expected.push_back(stored(fmt::format("{}/metric.{}", name, i)));
  const int64_t batches = expected.at(0).elements() - 1;
  c.step("init");
  size_t compared = 0;
  const auto compare = [&](int64_t k) {
    const std::vector<ir::Tensor> found = c.step("metrics");
    for (size_t i = 0; i < c.metrics; ++i, ++compared)
      expect_number(found.at(i + 1).at(0), expected[i].at(k), 1e-9, fmt::format("{} metric {} batch {}", name, i, k));
  };
  for (int64_t k = 0; k < batches; ++k) {
    c.step("reset");
    c.step("eval", k);
    compare(k);
  }
  c.step("reset");
  for (int64_t k = 0; k < batches; ++k) c.step("eval", k);
  compare(batches);
  return compared;
}

TEST(MetricsOfSequences, EvaluatorAgrees) {
  size_t compared = 0;
  for (const std::string kind : {"sequences", "span"})
    for (const std::string& name : cases_of(kind)) {
      Case c(name);
      c.evaluate();
      compared += check_metrics(c, name);
    }
  EXPECT_GE(compared, 350U);
}

// The host's numbers are whole ones, but for divisions in f64.
TEST(MetricsOfSequences, HostAgrees) {
  for (const std::string kind : {"sequences", "span"})
    for (const std::string& name : cases_of(kind)) {
      Case c(name);
      HostRun host(c.module(), "eval");
      c.run_on(host);
      EXPECT_GT(check_metrics(c, name), 0U);
    }
}

TEST(MetricsOfSequences, BitsPerCharacter) {
  for (const std::string& name : cases_of("characters")) {
    Case c(name);
    c.evaluate();
    EXPECT_GT(check_metrics(c, name), 0U);
  }
}

}  // namespace
}  // namespace heddle::testing
