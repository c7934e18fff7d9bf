// Gradients of mixed trainings against PyTorch's autocast: how far the host's are from float64, with the same parameters and
// batches. The numbers are tests/training/reference/mixed.safetensors (see make_mixed.py there).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

#include "frontend/build_graph.h"
#include "frontend/read/read_model.h"
#include "ir/evaluate/tensor_bytes.h"
#include "ir/mixed_precision.h"
#include "passes/pipeline.h"
#include "tests/numeric/reference_file.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

const runtime::WeightsFile& numbers() {
  static const runtime::WeightsFile file = reference_file("mixed.safetensors");
  return file;
}

ir::Type logical(const ir::Value& v) {
  return v.layout.empty() ? v.type : ir::Type{v.type.dtype, ir::memory_dims(v.type.dims, ir::inverse(v.layout))};
}

// "mlp", and the 16-bit type.
struct MixedCase {
  std::string network, type;
};
void PrintTo(const MixedCase& c, std::ostream* to) { *to << c.network << " in " << c.type; }

class MixedOfPyTorch : public ::testing::TestWithParam<MixedCase> {
 protected:
  void SetUp() override {
    std::string text = numbers().metadata.at(network());
    const size_t at = text.find("\"bf16\"");
    text.replace(at, 6, "\"" + GetParam().type + "\"");
    const frontend::Model model = frontend::read_model(sources_, sources_.add("m.json", text), {});
    module_ = frontend::build_module(model, frontend::default_build_options(model));
    for (const ir::ValueId v : train().inputs) {
      const std::string name = train()[v].name;
      // What a norm behind a convolution takes away has no gradient but rounding.
      if (train()[v].role != ir::Role::param || (network() == "cnn" && name == "conv1.bias")) continue;
      parameters_.push_back(name);
    }
    train().outputs.clear();
    for (const std::string& p : parameters_) {
      const ir::ValueId unscaled = train().find(p + ".grad.unscaled");
      EXPECT_EQ(unscaled.valid(), is_f16());
      train().outputs.push_back(unscaled.valid() ? unscaled : train().find(p + ".grad"));
    }
  }

  const std::string& network() const { return GetParam().network; }
  bool is_f16() const { return GetParam().type == "f16"; }
  double autocast() const { return std::stod(numbers().metadata.at(network() + (is_f16() ? "/f16_error" : "/error"))); }

  ir::Graph& train() { return *module_.find_graph("train"); }
  ir::Tensor stored(const std::string& what) { return stored_tensor(numbers(), network() + "/" + what); }

  ir::NamedTensors inputs(int64_t k) {
    ir::NamedTensors out;
    for (const ir::ValueId v : train().inputs) {
      const ir::Value& value = train()[v];
      ir::Tensor t(value.type);
      if (value.role == ir::Role::input) t = part_of(stored(value.name), k, value.type);
      if (value.role == ir::Role::param) t = in_memory(stored("start." + value.name), value.layout);
      if (value.name == "step.loss_scale") t.set(0, 65536);
      out.emplace(value.name, std::move(t));
    }
    return out;
  }

  // The mean over batches and parameters of the normalised mean square error.
  double error_of(const std::function<ir::Evaluation(const ir::NamedTensors&)>& run) {
    constexpr int64_t kBatches = 6;
    double sum = 0;
    for (int64_t k = 0; k < kBatches; ++k) {
      const ir::Evaluation done = run(inputs(k));
      for (size_t i = 0; i < parameters_.size(); ++i) {
        const ir::Value& value = train()[train().find(parameters_[i])];
        const ir::Type wide{ir::DType::f64, logical(value).dims};
        const ir::Tensor expected = part_of(stored("grad." + parameters_[i]), k, wide);
        sum += nmse(done.outputs.at(i), in_memory(expected, value.layout));
      }
    }
    return std::sqrt(sum / static_cast<double>(kBatches * std::ssize(parameters_)));
  }

  frontend::Sources sources_;
  ir::Module module_;
  std::vector<std::string> parameters_;
};

TEST(MixedRules, AreOfOperatorsThatThereAre) {
  for (const std::string& name : ir::stated_mixed_precisions()) EXPECT_NE(ir::find_op(name), nullptr) << name;
  for (const ir::OpDef* op : ir::all_ops()) {
    // Who multiplies says so by an attribute, and no other is of 16 bits by itself.
    const bool narrow = ir::mixed_precision(*op).rule == ir::MixedRule::narrow;
    EXPECT_TRUE(!narrow || op->find_attr("precision") != nullptr) << op->name;
  }
}

// Nobody rounds: the casts are there, and change nothing.
TEST_P(MixedOfPyTorch, EvaluatorAgreesInDouble) {
  ir::Module m = module_;
  passes::run_pass(*passes::find_pass("mixed_precision"), m, {});
  passes::run_pass(*passes::find_pass("differentiate"), m, {});
  EXPECT_LE(error_of([&](const ir::NamedTensors& in) { return ir::evaluate(m, *m.find_graph("train"), in); }), 1e-6);
}

TEST_P(MixedOfPyTorch, HostIsAsNearAsAutocast) {
  RecordProperty("autocast", fmt::format("{}", autocast()));
  for (const bool library : {true, false}) {  // products of f32 on copies, and loops that read 16 bits
    HostRun run(module_, "train", {.library = library});
    const double error = error_of([&](const ir::NamedTensors& in) { return run(in); });
    RecordProperty(library ? "root_nmse_of_library" : "root_nmse_of_loops", fmt::format("{}", error));
    EXPECT_LE(error, 1.1 * autocast());
    EXPECT_GE(error, 1e-4);  // something has 16 bits
  }
}

// The evaluator's rounded mode rounds each value that the text says is of 16 bits. The host's kernels are nearer to it than
// rounding is to the exact numbers.
TEST_P(MixedOfPyTorch, RoundedEvaluatorMeansWhatTheHostDoes) {
  ir::Module m = module_;
  passes::run_pass(*passes::find_pass("mixed_precision"), m, {});
  passes::run_pass(*passes::find_pass("differentiate"), m, {});
  const auto rounded = [&](const ir::NamedTensors& in) {
    return ir::evaluate(m, *m.find_graph("train"), in, {.precision = ir::Precision::rounded});
  };
  const double error = error_of(rounded);
  RecordProperty("root_nmse_of_rounded", fmt::format("{}", error));
  EXPECT_LE(error, 2 * autocast());  // a kernel keeps in f32 what nobody reads outside of it
  HostRun host(module_, "train", {.library = false});
  double sum = 0;
  const ir::NamedTensors in = inputs(0);
  const ir::Evaluation expected = rounded(in), done = host(in);
  for (size_t i = 0; i < parameters_.size(); ++i) sum += nmse(done.outputs.at(i), expected.outputs.at(i));
  const double apart = std::sqrt(sum / static_cast<double>(parameters_.size()));
  RecordProperty("root_nmse_between", fmt::format("{}", apart));
  EXPECT_LE(apart, autocast());
}

INSTANTIATE_TEST_SUITE_P(Networks, MixedOfPyTorch,
                         ::testing::Values(MixedCase{"mlp", "bf16"}, MixedCase{"cnn", "bf16"}, MixedCase{"mlp", "f16"},
                                           MixedCase{"cnn", "f16"}),
                         [](const auto& info) { return info.param.network + "_" + info.param.type; });

}  // namespace
}  // namespace heddle::testing
