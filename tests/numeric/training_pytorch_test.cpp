// Losses, metrics, optimizers, schedules and embeddings against PyTorch, scikit-learn and, for lion
// and lamb, published formulas: random settings, by the evaluator in double precision and by the
// host device in single precision. The numbers and models are
// tests/training/reference/training.safetensors (see make_training.py there).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "frontend/build_graph.h"
#include "frontend/read/read_model.h"
#include "passes/pipeline.h"
#include "runtime/weights/safetensors.h"
#include "tests/numeric/reference_file.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

const runtime::WeightsFile& numbers() {
  static const runtime::WeightsFile file = reference_file("training.safetensors");
  return file;
}

ir::Tensor stored(const std::string& name) { return stored_tensor(numbers(), name); }

using Step = std::function<ir::Evaluation(const std::string& entry, const ir::NamedTensors& inputs)>;

class TrainingOfPyTorch : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string& text = numbers().metadata.at(GetParam());
    const frontend::Model model = frontend::read_model(sources_, sources_.add("m.json", text), {});
    module_ = frontend::build_module(model, frontend::default_build_options(model));
    run("init", 0);
    for (auto& [name, value] : states_)
      if (is_stored("start." + name)) value = part_of(of_case("start." + name), 0, value.type);
  }

  bool is_stored(const std::string& what) { return numbers().find(GetParam() + "/" + what) != nullptr; }
  ir::Tensor of_case(const std::string& what) { return stored(GetParam() + "/" + what); }

  // Batch k of the inputs, and the states; what the entry updates is kept.
  std::vector<ir::Tensor> run(const std::string& entry, int64_t k) {
    ir::NamedTensors inputs;
    const ir::Graph& g = *module_.find_graph(entry);
    for (const ir::ValueId v : g.inputs)
      inputs.emplace(g[v].name, g[v].role == ir::Role::input
                                    ? part_of(of_case("in." + g[v].name), k, g[v].type)
                                    : states_.emplace(g[v].name, ir::Tensor(g[v].type)).first->second);
    ir::Evaluation done = step_ ? step_(entry, inputs) : ir::evaluate(module_, g, inputs);
    for (auto& [name, next] : done.updated) states_.insert_or_assign(name, std::move(next));
    return done.outputs;
  }

  int64_t batches() {
    for (const runtime::SavedTensor& t : numbers().tensors)
      if (t.name.starts_with(GetParam() + "/in.")) return t.dims.at(0);
    return 0;
  }

  // How many of the case's tensors have names that begin so.
  size_t compare(const std::string& kind, double tolerance, const std::function<ir::Tensor(const std::string&)>& got) {
    size_t compared = 0;
    for (const runtime::SavedTensor& t : numbers().tensors) {
      const std::string prefix = GetParam() + "/" + kind + ".";
      if (!t.name.starts_with(prefix)) continue;
      const std::string name = t.name.substr(prefix.size());
      EXPECT_LE(nmse(got(name), stored(t.name)), tolerance) << t.name;
      ++compared;
    }
    return compared;
  }

  void check_loss(double tolerance) {
    EXPECT_LE(nmse(run("train", 0).at(0), of_case("loss")), tolerance);
    const size_t gradients = compare("grad", tolerance, [&](const std::string& name) {
      ir::Tensor gradient = of_case("start." + name);
      for (int64_t i = 0; i < gradient.elements(); ++i) gradient.set(i, gradient.at(i) - states_.at(name).at(i));
      return gradient;
    });
    EXPECT_EQ(gradients, 1U);
  }

  void check_metric(double tolerance) {
    run("reset", 0);
    for (int64_t k = 0; k < batches(); ++k) run("eval", k);
    EXPECT_LE(nmse(run("metrics", 0).at(1), of_case("metric")), tolerance);
  }

  // The largest difference of a parameter's element, over the largest element of the parameter then.
  double distance(const std::string& name, int64_t tenth) {
    const ir::Tensor expected = part_of(of_case("after." + name), tenth, states_.at(name).type);
    double largest = 0, difference = 0;
    for (int64_t i = 0; i < expected.elements(); ++i) {
      largest = std::max(largest, std::abs(expected.at(i)));
      difference = std::max(difference, std::abs(states_.at(name).at(i) - expected.at(i)));
    }
    return difference / largest;
  }

  // Epochs, where a schedule looks at them, have each batch once.
  void train_step(int64_t step) {
    run("train", step % batches());
    if (module_.find_graph("after_epoch") == nullptr || (step + 1) % batches() != 0) return;
    run("after_epoch", 0);
    run("reset", 0);
  }

  void check_path(double tolerance) {
    constexpr int64_t kTenths = 10;
    double worst = 0;
    for (int64_t tenth = 0; tenth < kTenths; ++tenth) {
      for (int64_t step = 0; step < 10; ++step) train_step(tenth * 10 + step);
      for (const char* name : {"fc.weight", "fc.bias"}) worst = std::max(worst, distance(name, tenth));
    }
    RecordProperty("distance", fmt::format("{:.3g}", worst));
    EXPECT_LE(worst, tolerance) << "PyTorch's own in float32: " << of_case("single").at(0);
    compare("average", tolerance * tolerance, [&](const std::string& name) { return states_.at(name + ".average"); });
  }

  struct Tolerances {
    double nmse;
    std::function<double()> path;
  };
  void check(const Tolerances& t) {
    if (is_stored("loss")) check_loss(t.nmse);
    if (is_stored("metric")) check_metric(t.nmse);
    if (is_stored("after.fc.weight")) check_path(t.path());
  }

  frontend::Sources sources_;
  ir::Module module_;
  ir::NamedTensors states_;
  Step step_;
};

TEST_P(TrainingOfPyTorch, EvaluatorAgreesInDouble) {
  passes::run_pass(*passes::find_pass("differentiate"), module_, {});
  check({.nmse = 1e-20, .path = [] { return 1e-12; }});
}

// Each of a hundred steps rounds, so in single precision hardly anybody stays within 1e-6 of the
// double path: PyTorch's own float32 is up to 8.9e-6 from its float64. The same formulas in another
// order of their operations round otherwise, not more: the host is at most three times as far, case
// by case. The largest ratio that was seen is 2.1 with AVX-512, the mean of all 0.96. Where
// PyTorch's roundings happened to cancel, 1e-6 is near enough: it is 17 of a hundred steps'. With
// AVX2 schedule_one_cycle_0 is 9.2e-7 away, PyTorch with AVX-512 2.6e-7.
TEST_P(TrainingOfPyTorch, HostAgreesInSingle) {
  HostRun host(module_, "train");
  step_ = [&](const std::string& entry, const ir::NamedTensors& inputs) { return host(entry, inputs); };
  check({.nmse = 1e-10, .path = [&] { return std::max(3 * of_case("single").at(0), 1e-6); }});
}

INSTANTIATE_TEST_SUITE_P(Cases, TrainingOfPyTorch, ::testing::ValuesIn(reference_cases(numbers())),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace heddle::testing
