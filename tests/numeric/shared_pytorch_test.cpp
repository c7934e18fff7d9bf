// Parameters that several nodes share, copies that follow those of another node, weights that are made of parameters,
// low-rank adapters, pruned and quantised weights, against PyTorch: the losses of two to six steps, parameters and buffers after
// each, and a prediction, by the evaluator in double precision and by the host device in single precision. The numbers are
// shared.safetensors, copied.safetensors, weight_norms.safetensors, lora.safetensors, prune.safetensors and
// quantize.safetensors of tests/training/reference (see make_shared.py, make_copied.py, make_weight_norms.py, make_lora.py,
// make_prune.py and make_quantize.py there).
#include <gtest/gtest.h>

#include <map>

#include "frontend/build_graph.h"
#include "frontend/read/read_model.h"
#include "passes/pipeline.h"
#include "runtime/weights/safetensors.h"
#include "tests/numeric/reference_file.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

const runtime::WeightsFile& shared_numbers() {
  static const runtime::WeightsFile file = reference_file("shared.safetensors");
  return file;
}

const runtime::WeightsFile& made_numbers() {
  static const runtime::WeightsFile file = reference_file("weight_norms.safetensors");
  return file;
}

const runtime::WeightsFile& copied_numbers() {
  static const runtime::WeightsFile file = reference_file("copied.safetensors");
  return file;
}

const runtime::WeightsFile& adapted_numbers() {
  static const runtime::WeightsFile file = reference_file("lora.safetensors");
  return file;
}

const runtime::WeightsFile& pruned_numbers() {
  static const runtime::WeightsFile file = reference_file("prune.safetensors");
  return file;
}

const runtime::WeightsFile& quantized_numbers() {
  static const runtime::WeightsFile file = reference_file("quantize.safetensors");
  return file;
}

// Of the file that has the case.
const runtime::WeightsFile& numbers_of(const std::string& test) {
  for (const runtime::WeightsFile* file :
       {&made_numbers(), &copied_numbers(), &adapted_numbers(), &pruned_numbers(), &quantized_numbers()})
    if (file->metadata.contains(test)) return *file;
  return shared_numbers();
}

using Entry = std::function<ir::Evaluation(const ir::Graph& entry, const ir::NamedTensors& inputs)>;

class SharedOfPyTorch : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string& text = numbers().metadata.at(GetParam());
    const frontend::Model model = frontend::read_model(sources_, sources_.add("m.json", text), {});
    module_ = frontend::build_module(model, frontend::default_build_options(model));
  }

  static const runtime::WeightsFile& numbers() { return numbers_of(GetParam()); }
  ir::Tensor of_case(const std::string& what) { return stored_tensor(numbers(), GetParam() + "/" + what); }
  bool is_stored(const std::string& what) { return numbers().find(GetParam() + "/" + what) != nullptr; }

  ir::Tensor part_of_state(const std::string& what, const std::string& name, int64_t k, const ir::Type& memory) {
    const ir::Layout& layout = layouts_[name];
    return in_memory(part_of(of_case(what), k, {memory.dtype, ir::logical_dims(memory.dims, layout)}), layout);
  }

  // With the inputs of step k; what the entry updates is kept.
  std::vector<ir::Tensor> run(const std::string& entry, int64_t k, const Entry& by) {
    const ir::Graph& g = *module_.find_graph(entry);
    ir::NamedTensors inputs;
    for (const ir::ValueId v : g.inputs) {
      const std::string& name = g[v].name;
      if (g[v].role == ir::Role::input) {
        const bool read = is_stored("in." + name);  // else the case does not read it: zeros
        inputs.emplace(name, read ? part_of(of_case("in." + name), k, g[v].type) : ir::Tensor(g[v].type));
        continue;
      }
      const bool starts = !states_.contains(name) && is_stored("start." + name);
      layouts_[name] = g[v].layout;
      if (starts) states_.emplace(name, part_of_state("start." + name, name, 0, g[v].type));
      inputs.emplace(name, states_.try_emplace(name, ir::Tensor(g[v].type)).first->second);
    }
    ir::Evaluation done = by(g, inputs);
    for (auto& [name, next] : done.updated) states_.insert_or_assign(name, std::move(next));
    return done.outputs;
  }

  void check(const Entry& by, double tolerance) {
    const ir::Tensor losses = of_case("loss");
    for (int64_t k = 0; k < losses.elements(); ++k) {
      const ir::Tensor loss = run("train", k, by).at(0);
      EXPECT_LE(nmse(loss, part_of(losses, k, loss.type)), tolerance) << k;
      size_t compared = 0, stored = 0;
      for (const runtime::SavedTensor& t : numbers().tensors) stored += t.name.starts_with(GetParam() + "/after.");
      for (const auto& [name, state] : states_) {
        if (!is_stored("after." + name)) continue;
        EXPECT_LE(nmse(state, part_of_state("after." + name, name, k, state.type)), tolerance) << name << " " << k;
        ++compared;
      }
      EXPECT_EQ(compared, stored);
      EXPECT_GE(compared, 3U);
    }
    const ir::Graph& predict = *module_.find_graph("predict");
    const std::vector<ir::Tensor> predicted = run("predict", 0, by);
    size_t told = 0;  // outputs that the case speaks of: not an input that is put out as it is
    for (size_t i = 0; i < predicted.size(); ++i) {
      const std::string& name = predict[predict.outputs[i]].name;
      if (!is_stored("out." + name)) continue;
      EXPECT_LE(nmse(predicted[i], of_case("out." + name)), tolerance) << name;
      ++told;
    }
    EXPECT_GE(told, 1U);
  }

  frontend::Sources sources_;
  ir::Module module_;
  ir::NamedTensors states_;
  std::map<std::string, ir::Layout> layouts_;
};

TEST_P(SharedOfPyTorch, EvaluatorAgreesInDouble) {
  passes::run_pass(*passes::find_pass("differentiate"), module_, {});
  check([&](const ir::Graph& g, const ir::NamedTensors& inputs) { return ir::evaluate(module_, g, inputs); }, 1e-20);
}

TEST_P(SharedOfPyTorch, HostAgreesInSingle) {
  HostRun host(module_, "train");
  check([&](const ir::Graph& g, const ir::NamedTensors& inputs) { return host(g.name, inputs); }, 1e-10);
}

INSTANTIATE_TEST_SUITE_P(Cases, SharedOfPyTorch, ::testing::ValuesIn(reference_cases(shared_numbers())),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(Copies, SharedOfPyTorch, ::testing::ValuesIn(reference_cases(copied_numbers())),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(MadeWeights, SharedOfPyTorch, ::testing::ValuesIn(reference_cases(made_numbers())),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(Adapters, SharedOfPyTorch, ::testing::ValuesIn(reference_cases(adapted_numbers())),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(Quantized, SharedOfPyTorch, ::testing::ValuesIn(reference_cases(quantized_numbers())),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(Pruned, SharedOfPyTorch, ::testing::ValuesIn(reference_cases(pruned_numbers())),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace heddle::testing
