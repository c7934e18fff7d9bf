// Heddle's training step against PyTorch's: the evaluator in double precision over 50 free steps, the host device in
// single precision from 50 stored starting points.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "frontend/build_graph.h"
#include "frontend/read/read_model.h"
#include "passes/pipeline.h"
#include "tests/support/host_run.h"
#include "tests/support/source_dir.h"
#include "tests/training/reference.h"

namespace heddle::testing {
namespace {

constexpr int64_t kSteps = 50, kRing = 8;

struct Network {
  std::string model;
  std::string reference;         // file
  std::string image, label;      // names of the model's inputs where they are not those that are stored
  std::vector<std::string> set;  // overrides
};
void PrintTo(const Network& c, std::ostream* out) { *out << c.reference; }

class PyTorch : public ::testing::TestWithParam<Network> {
 protected:
  void SetUp() override {
    const Network& c = GetParam();
    reference_ = read_reference(c.reference);
    frontend::ReadOptions options{.set = c.set, .small = false};
    options.set.push_back("train.batch.N=8");
    const frontend::Model model =
        frontend::read_model(sources_, testing::source_dir() / "models" / (std::string(c.model) + ".json"), options);
    module_ = frontend::build_module(model, {.train = 8, .total_steps = kSteps});
  }

  ir::Graph& train() { return *module_.find_graph("train"); }

  std::string stored_name(const std::string& input) {
    return input == GetParam().image ? "image" : input == GetParam().label ? "label" : input;
  }

  // Every state zero, the inputs of batch k.
  ir::NamedTensors inputs(int64_t k) {
    ir::NamedTensors out;
    for (const ir::ValueId v : train().inputs) out.emplace(train()[v].name, ir::Tensor(train()[v].type));
    for (const ir::ValueId v : train().inputs) {
      if (train()[v].role != ir::Role::input) continue;
      ir::Tensor& to = out.at(train()[v].name);
      const ir::Tensor from = reference_.at(stored_name(train()[v].name), k % kRing);
      const double scale = from.type.dtype == ir::DType::u8 ? 255.0 : 1.0;  // a picture's
      for (int64_t i = 0; i < to.elements(); ++i) to.set(i, from.at(i) / scale);
    }
    return out;
  }

  // What layers keep beside their parameters, as a training starts.
  void set_buffers(ir::NamedTensors& to) {
    const ir::Graph& init = *module_.find_graph("init");
    ir::NamedTensors zeros;
    for (const ir::ValueId v : init.inputs) zeros.emplace(init[v].name, ir::Tensor(init[v].type));
    for (auto& [name, value] : ir::evaluate(module_, init, zeros).updated)
      if (init[init.find(name)].role == ir::Role::buffer) to.at(name) = std::move(value);
  }

  // Step k of "start." or "grad." of a parameter.
  ir::Tensor stored(const std::string& what, const std::string& parameter, int64_t k) {
    return in_memory(reference_.at(what + parameter, k), train()[train().find(parameter)].layout);
  }

  void set_parameters(ir::NamedTensors& to, int64_t k) {
    for (const std::string& p : reference_.parameters()) {
      const ir::Tensor start = stored("start.", p, k);
      for (int64_t i = 0; i < start.elements(); ++i) to.at(p).set(i, start.at(i));
    }
  }

  frontend::Sources sources_;
  Reference reference_;
  ir::Module module_;
};

// Normalised mean square error, against what is stored times its scale.
double nmse(const ir::Tensor& got, const ir::Tensor& stored, double scale) {
  double error = 0, power = 0;
  for (int64_t i = 0; i < got.elements(); ++i) {
    const double expected = stored.at(i) * scale;
    error += (got.at(i) - expected) * (got.at(i) - expected);
    power += expected * expected;
  }
  return power == 0 ? error : error / power;
}

class FreeSteps : public PyTorch {};
class StartingPoints : public PyTorch {};

TEST_P(FreeSteps, evaluator_follows_50_free_steps_in_double) {
  passes::run_pass(*passes::find_pass("differentiate"), module_, {});
  ir::NamedTensors states = inputs(0);
  set_parameters(states, 0);
  set_buffers(states);
  double worst = 0, worst_buffer = 0;
  for (int64_t k = 0; k < kSteps; ++k) {
    for (auto& [name, value] : inputs(k))
      if (train()[train().find(name)].role == ir::Role::input) states.at(name) = std::move(value);
    ir::Evaluation done = ir::evaluate(module_, train(), states);
    const double expected = reference_.tensors.at("loss64").at(k);
    worst = std::max(worst, std::abs(done.outputs.at(0).at(0) - expected) / std::abs(expected));
    for (auto& [name, next] : done.updated) states.at(name) = std::move(next);
  }
  for (const auto& [name, final] : reference_.tensors)
    if (name.starts_with("final.")) worst_buffer = std::max(worst_buffer, nmse(states.at(name.substr(6)), final, 1));
  RecordProperty("worst_relative", fmt::format("{}", worst));
  EXPECT_LE(worst, 1e-9);
  EXPECT_LE(worst_buffer, 1e-18);
}

TEST_P(StartingPoints, host_device_agrees_from_50_starting_points) {
  const std::vector<std::string> parameters = reference_.parameters();
  for (const std::string& p : parameters) train().outputs.push_back(train().find(p + ".grad"));
  HostRun run(module_, "train");
  for (int64_t k = 0; k < kSteps; ++k) {
    ir::NamedTensors in = inputs(k);
    set_parameters(in, k);
    const std::vector<ir::Tensor> out = run(in).outputs;
    ASSERT_NEAR(out.at(0).at(0), reference_.tensors.at("loss32").at(k), 2e-5) << "step " << k;
    for (size_t i = 0; i < parameters.size(); ++i) {
      const ir::Tensor& gradient = out.at(out.size() - parameters.size() + i);
      ASSERT_LE(
          nmse(gradient, stored("grad.", parameters[i], k), reference_.tensors.at("scale." + parameters[i]).at(k)),
          1e-5)
          << parameters[i] << " at step " << k;
    }
  }
}

const Network kMlp{"mlp", "mlp", "x", "y", {}};
const Network kMlpNarrow{"mlp", "mlp_narrow", "x", "y", {"nodes.fc1.units=24", "nodes.fc2.units=16"}};
const Network kResnet20{"resnet20", "resnet20", "", "", {"let.width=4"}};
const Network kRecommender{"recommender", "recommender", "", "", {"let.users=60", "let.items=40"}};
const Network kMnistCnn{"mnist_cnn", "mnist_cnn", "", "", {"nodes.5.rate=0"}};

const auto reference_of = [](const auto& info) { return info.param.reference; };
INSTANTIATE_TEST_SUITE_P(Models, FreeSteps, ::testing::Values(kMlp, kMlpNarrow, kMnistCnn, kResnet20, kRecommender),
                         reference_of);
INSTANTIATE_TEST_SUITE_P(Models, StartingPoints, ::testing::Values(kMlpNarrow, kMnistCnn), reference_of);

}  // namespace
}  // namespace heddle::testing
