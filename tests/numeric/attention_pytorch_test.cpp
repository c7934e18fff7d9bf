// Attention, positions and the layers of transformers against PyTorch: results and gradients, by the evaluator in double
// precision and by the host device in single precision. The numbers are tests/training/reference/attention.safetensors
// (see make_attention.py), and those of drawn settings (see reference_file.h).
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "frontend/build_graph.h"
#include "frontend/read/read_model.h"
#include "ir/verify/verify.h"
#include "passes/decompose.h"
#include "passes/pipeline.h"
#include "runtime/weights/safetensors.h"
#include "tests/numeric/reference_file.h"
#include "tests/support/each_nth.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

const runtime::WeightsFile& chosen() {
  static const runtime::WeightsFile file = reference_file("attention.safetensors");
  return file;
}

class AttentionOfPyTorch : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const frontend::Model model = frontend::read_model(sources_, sources_.add("m.json", model_text()), {});
    module_ = frontend::build_module(model, frontend::default_build_options(model));
    EXPECT_EQ(ir::verify(module_), std::vector<std::string>{});
  }

  static const runtime::WeightsFile& numbers() { return GetParam().starts_with("drawn_") ? drawn_numbers() : chosen(); }
  const runtime::SavedTensor* find(const std::string& what) const { return numbers().find(GetParam() + "/" + what); }
  static ir::Tensor stored(const std::string& what) { return stored_tensor(numbers(), GetParam() + "/" + what); }
  // "q" of "in.q", with what it stores.
  std::vector<std::pair<std::string, const runtime::SavedTensor*>> inputs_of_node() const {
    std::vector<std::pair<std::string, const runtime::SavedTensor*>> all;
    const std::string prefix = GetParam() + "/in.";
    for (const runtime::SavedTensor& t : numbers().tensors)
      if (t.name.starts_with(prefix)) all.emplace_back(t.name.substr(prefix.size()), &t);
    return all;
  }

  // Numbers that have gradients are parameters, and so is the factor of the loss; whole ones are the model's inputs.
  std::string model_text() const {
    std::string inputs = R"("unused": {"shape": ["N"]})", nodes, in;
    for (const auto& [name, tensor] : inputs_of_node()) {
      const std::vector<int64_t> dims = tensor->dims;
      if (tensor->dtype == "i64") {
        const std::string more = dims.size() == 2 ? fmt::format(", {}", dims[1]) : "";
        inputs += fmt::format(R"(, "in_{}": {{"shape": ["N"{}], "dtype": "{}"}})", name, more,
                              name.ends_with("key_mask") ? "u8"
                              : name == "lengths"        ? "i32"
                                                         : "i64");
      } else {
        nodes += fmt::format(R"({{"name": "in_{}", "op": "param", "shape": [{}]}}, )", name, fmt::join(dims, ","));
      }
      in += fmt::format(R"({}"{}": "in_{}")", in.empty() ? "" : ", ", name, name);
    }
    const std::vector<int64_t> y = find("y")->dims;
    return fmt::format(
        R"({{"format": "heddle-model/1", "name": "m", "inputs": {{{}}},
             "nodes": [{} {{"name": "l", "in": {{{}}}, {}, {{"name": "r", "op": "param", "shape": [{}]}},
                       {{"name": "m", "op": "mul", "in": ["l", "r"]}}, {{"name": "s", "op": "sum", "in": "m"}}],
             "outputs": {{"y": "l"}},
             "train": {{"batch": {{"N": {}}}, "epochs": 1, "loss": {{"op": "value", "in": "s"}}, "optimizer": "sgd"}}}})",
        inputs, nodes, in, numbers().metadata.at(GetParam()).substr(1), fmt::join(y, ","), y[0]);
  }

  // "start.in_proj_weight" of "l.in_proj_weight".
  static std::string what_is(const std::string& name) {
    if (name.starts_with("l.")) return "start." + name.substr(2);
    return name.starts_with("in_") ? "in." + name.substr(3) : "r.y";
  }

  ir::Graph& graph(const std::string& name) { return *module_.find_graph(name); }
  ir::NamedTensors inputs(const ir::Graph& g) const {
    ir::NamedTensors out;
    for (const ir::ValueId v : g.inputs) {
      ir::Tensor t(g[v].type);
      const std::string what = what_is(g[v].name);
      if (find(what) != nullptr && find(what)->dims == t.type.dims) {
        const ir::Tensor from = stored(what);
        for (int64_t i = 0; i < t.elements(); ++i) t.set(i, from.at(i));
      }
      out.emplace(g[v].name, std::move(t));
    }
    return out;
  }

  // The result, then all gradients that are stored.
  std::vector<std::string> add_outputs() {
    ir::Graph& g = graph("train");
    std::vector<std::string> what = {"y"};
    g.outputs = {g.find("l")};
    for (const ir::ValueId v : g.inputs) {
      if (g[v].role != ir::Role::param || g[v].name == "r") continue;
      const std::string name = g[v].name.starts_with("l.") ? g[v].name.substr(2) : "in." + g[v].name.substr(3);
      what.push_back("grad." + name);
      g.outputs.push_back(g.find(g[v].name + ".grad"));
    }
    size_t gradients = 0;
    for (const runtime::SavedTensor& t : numbers().tensors) gradients += t.name.starts_with(GetParam() + "/grad.");
    EXPECT_EQ(what.size(), gradients + 1);
    return what;
  }

  void compare(const ir::Evaluation& done, const std::vector<std::string>& what, double tolerance) {
    ASSERT_EQ(done.outputs.size(), what.size());
    for (size_t i = 0; i < what.size(); ++i) EXPECT_LE(nmse(done.outputs[i], stored(what[i])), tolerance) << what[i];
  }

  frontend::Sources sources_;
  ir::Module module_;
};

TEST_P(AttentionOfPyTorch, EvaluatorAgreesInDouble) {
  const std::vector<std::string> what = add_outputs();
  passes::run_pass(*passes::find_pass("differentiate"), module_, {});
  compare(ir::evaluate(module_, graph("train"), inputs(graph("train"))), what, 1e-20);
  compare(ir::evaluate(module_, graph("predict"), inputs(graph("predict"))), {"y"}, 1e-20);
}

TEST_P(AttentionOfPyTorch, HostAgreesInSingle) {
  const std::vector<std::string> what = add_outputs();
  HostRun run(module_, "train");
  compare(run("train", inputs(graph("train"))), what, 1e-10);
  compare(run("predict", inputs(graph("predict"))), {"y"}, 1e-10);
}

// Decomposed, scores are in memory.
TEST_P(AttentionOfPyTorch, DecomposedItAgreesToo) {
  const std::vector<std::string> what = add_outputs();
  passes::run_pass(*passes::find_pass("differentiate"), module_, {});
  for (ir::Graph* g : module_.all_graphs()) passes::decompose_nodes(*g, [](ir::NodeId) { return true; });
  compare(ir::evaluate(module_, graph("train"), inputs(graph("train"))), what, 1e-20);
  HostRun run(module_, "train");
  compare(run("train", inputs(graph("train"))), what, 1e-10);
}

INSTANTIATE_TEST_SUITE_P(Cases, AttentionOfPyTorch, ::testing::ValuesIn(each_nth(3, reference_cases(chosen()))),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(Drawn, AttentionOfPyTorch,
                         ::testing::ValuesIn(each_nth(3,
                                                      drawn_cases({"attention", "multi_head", "encoder", "decoder"}))),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace heddle::testing
