// Gradients that are values, and what says where gradients go, against PyTorch: results of a prediction, the loss, and
// the gradients of what is trained through them, by the evaluator in double precision and by the host device in single
// precision. The numbers are tests/training/reference/gradients.safetensors (see make_gradients.py there).
#include <gtest/gtest.h>

#include "frontend/build_graph.h"
#include "frontend/read/read_model.h"
#include "passes/pipeline.h"
#include "runtime/weights/safetensors.h"
#include "tests/numeric/reference_file.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

const runtime::WeightsFile& numbers() {
  static const runtime::WeightsFile file = reference_file("gradients.safetensors");
  return file;
}

using Entry = std::function<ir::Evaluation(const ir::Graph& entry, const ir::NamedTensors& inputs)>;

class GradientsOfPyTorch : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string& text = numbers().metadata.at(GetParam());
    const frontend::Model model = frontend::read_model(sources_, sources_.add("m.json", text), {});
    module_ = frontend::build_module(model, frontend::default_build_options(model));
  }

  ir::Tensor of_case(const std::string& what) { return stored_tensor(numbers(), GetParam() + "/" + what); }

  ir::Tensor input(const ir::Value& v) {
    if (v.role == ir::Role::input) return part_of(of_case("in." + v.name), 0, v.type);
    return v.role == ir::Role::param ? part_of(of_case("start." + v.name), 0, v.type) : ir::Tensor(v.type);
  }

  ir::Evaluation done(const std::string& entry, const Entry& by) {
    const ir::Graph& g = *module_.find_graph(entry);
    ir::NamedTensors inputs;
    for (const ir::ValueId v : g.inputs) inputs.emplace(g[v].name, input(g[v]));
    return by(g, inputs);
  }

  void check(const Entry& by, double tolerance) {
    const ir::Graph& predict = *module_.find_graph("predict");
    const ir::Evaluation predicted = done("predict", by);
    for (size_t i = 0; i < predict.outputs.size(); ++i) {
      const std::string& name = predict[predict.outputs[i]].name;
      EXPECT_LE(nmse(predicted.outputs[i], of_case("out." + name)), tolerance) << name;
    }
    const ir::Evaluation trained = done("train", by);
    EXPECT_LE(nmse(trained.outputs.at(0), of_case("loss")), tolerance);
    size_t compared = 0;
    for (const auto& [name, next] : trained.updated) {
      if (numbers().find(GetParam() + "/grad." + name) == nullptr) continue;
      ir::Tensor gradient = part_of(of_case("start." + name), 0, next.type);
      for (int64_t i = 0; i < gradient.elements(); ++i) gradient.set(i, gradient.at(i) - next.at(i));
      EXPECT_LE(nmse(gradient, of_case("grad." + name)), tolerance) << name;
      ++compared;
    }
    EXPECT_GE(compared, 3U);
  }

  frontend::Sources sources_;
  ir::Module module_;
};

TEST_P(GradientsOfPyTorch, EvaluatorAgreesInDouble) {
  passes::run_pass(*passes::find_pass("differentiate"), module_, {});
  check([&](const ir::Graph& g, const ir::NamedTensors& inputs) { return ir::evaluate(module_, g, inputs); }, 1e-20);
}

TEST_P(GradientsOfPyTorch, HostAgreesInSingle) {
  HostRun host(module_, "train");
  check([&](const ir::Graph& g, const ir::NamedTensors& inputs) { return host(g.name, inputs); }, 1e-10);
}

INSTANTIATE_TEST_SUITE_P(Cases, GradientsOfPyTorch, ::testing::ValuesIn(reference_cases(numbers())),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace heddle::testing
