// Losses and layers of several inputs against PyTorch, metrics against scikit-learn: values and
// gradients of random settings, by the evaluator in double precision and by the host device in single
// precision. The numbers and models are tests/training/reference/parts.safetensors (see
// make_parts.py there).
#include <gtest/gtest.h>

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
  static const runtime::WeightsFile file = reference_file("parts.safetensors");
  return file;
}

using Step = std::function<ir::Evaluation(const std::string& entry, const ir::NamedTensors& inputs)>;

class PartsOfOthers : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string& text = numbers().metadata.at(GetParam());
    const frontend::Model model = frontend::read_model(sources_, sources_.add("m.json", text), {});
    module_ = frontend::build_module(model, frontend::default_build_options(model));
  }

  bool is_stored(const std::string& what) { return numbers().find(GetParam() + "/" + what) != nullptr; }
  ir::Tensor of_case(const std::string& what) { return stored_tensor(numbers(), GetParam() + "/" + what); }

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

  // The names behind "CASE/kind.".
  std::vector<std::string> names_of(const std::string& kind) {
    std::vector<std::string> names;
    const std::string prefix = GetParam() + "/" + kind + ".";
    for (const runtime::SavedTensor& t : numbers().tensors)
      if (t.name.starts_with(prefix)) names.push_back(t.name.substr(prefix.size()));
    return names;
  }

  // As the state lies, which may have no axis where one number is stored.
  ir::Tensor start_of(const std::string& name) { return part_of(of_case("start." + name), 0, states_.at(name).type); }

  void check_loss(double tolerance) {
    const std::vector<std::string> names = names_of("grad");
    EXPECT_EQ(names, names_of("start"));
    for (const std::string& name : names) states_.at(name) = start_of(name);
    EXPECT_LE(nmse(run("train", 0).at(0), of_case("loss")), tolerance);
    for (const std::string& name : names) {
      ir::Tensor gradient = start_of(name);
      for (int64_t i = 0; i < gradient.elements(); ++i) gradient.set(i, gradient.at(i) - states_.at(name).at(i));
      EXPECT_LE(nmse(gradient, of_case("grad." + name)), tolerance) << name;
    }
  }

  void check_metrics(double tolerance) {
    run("reset", 0);
    const int64_t batches = numbers().find(GetParam() + "/in.s")->dims.at(0);
    for (int64_t k = 0; k < batches; ++k) run("eval", k);
    const std::vector<ir::Tensor> found = run("metrics", 0);  // the loss, then the metrics
    const ir::Tensor expected = of_case("metrics");
    ASSERT_EQ(std::ssize(found), expected.elements() + 1);
    for (int64_t i = 0; i < expected.elements(); ++i)
      EXPECT_NEAR(found[static_cast<size_t>(i) + 1].at(0), expected.at(i), tolerance) << "metric " << i;
  }

  void check(double of_squares, double of_metrics) {
    run("init", 0);
    if (is_stored("loss")) check_loss(of_squares);
    if (is_stored("metrics")) check_metrics(of_metrics);
    EXPECT_NE(is_stored("loss"), is_stored("metrics"));
  }

  frontend::Sources sources_;
  ir::Module module_;
  ir::NamedTensors states_;
  Step step_;
};

TEST_P(PartsOfOthers, EvaluatorAgreesInDouble) {
  passes::run_pass(*passes::find_pass("differentiate"), module_, {});
  check(1e-20, 1e-12);
}

// Each case is compiled: a sample of them.
class PartsOfOthersOnHost : public PartsOfOthers {};

TEST_P(PartsOfOthersOnHost, AgreesInSingle) {
  HostRun host(module_, "train");
  step_ = [&](const std::string& entry, const ir::NamedTensors& inputs) { return host(entry, inputs); };
  check(1e-10, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Cases, PartsOfOthers, ::testing::ValuesIn(reference_cases(numbers())),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(Cases, PartsOfOthersOnHost, ::testing::ValuesIn(each_nth(3, reference_cases(numbers()))),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace heddle::testing
