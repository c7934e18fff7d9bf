// Layers against PyTorch: results, gradients and buffers of random settings, by the evaluator in
// double precision and by the host device in single precision. The numbers are
// tests/training/reference/layers.safetensors (see make_layers.py there).
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "frontend/build_graph.h"
#include "frontend/read/read_model.h"
#include "ir/evaluate/tensor_bytes.h"
#include "passes/pipeline.h"
#include "runtime/weights/file_order.h"
#include "runtime/weights/safetensors.h"
#include "tests/numeric/reference_file.h"
#include "tests/support/each_nth.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

const runtime::WeightsFile& numbers() {
  static const runtime::WeightsFile file = reference_file("layers.safetensors");
  return file;
}

ir::Tensor stored(const std::string& name, const ir::Layout& layout = {}) {
  const runtime::SavedTensor& saved = *numbers().find(name);
  const std::span<const std::byte> bytes = numbers().bytes(saved);
  std::vector<std::byte> turned(bytes.begin(), bytes.end());
  codegen::Buffer buffer;
  buffer.dtype = saved.dtype;
  buffer.dims = saved.dims;
  buffer.bytes = std::ssize(turned);
  buffer.layout = layout;
  runtime::to_memory_order(buffer, turned);
  return ir::from_bytes({ir::parse_dtype(saved.dtype).value(), ir::memory_dims(saved.dims, layout)}, turned);
}

std::string shape_of(const std::string& name) {
  const std::vector<int64_t>& dims = numbers().find(name)->dims;
  return fmt::format("{}", fmt::join(dims, ","));
}

// x = z + p, where z is 0: the gradient of p is that of x.
std::string model_of(const std::string& name) {
  const std::string& text = numbers().metadata.at(name);  // NHWC {"op": "batch_norm", ...}
  const size_t node = text.find('{');
  const std::string layout = text.substr(0, node - 1), settings = text.substr(node + 1);
  const std::string x = shape_of(name + "/x"), r = shape_of(name + "/r");
  const auto rest = [](const std::string& dims) { return dims.substr(dims.find(',')); };
  return fmt::format(
      R"({{"format": "heddle-model/1", "name": "m", "layout": "{}",
           "inputs": {{"z": {{"shape": ["N"{}]}}, "r": {{"shape": ["N"{}]}}}},
           "nodes": [{{"name": "p", "op": "param", "shape": [{}]}}, {{"name": "x", "op": "add", "in": ["z", "p"]}},
                     {{"name": "l", "in": "x", {},
                     {{"name": "yr", "op": "mul", "in": ["l", "r"]}}, {{"name": "s", "op": "sum"}}],
           "outputs": {{"o": "l"}},
           "train": {{"batch": {{"N": {}}}, "epochs": 1, "loss": {{"op": "value", "in": "s"}}, "optimizer": "sgd"}}}})",
      layout, rest(x), rest(r), x, settings, x.substr(0, x.find(',')));
}

class LayersOfPyTorch : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const frontend::Model model = frontend::read_model(sources_, sources_.add("m.json", model_of(GetParam())), {});
    module_ = frontend::build_module(model, frontend::default_build_options(model));
  }

  ir::Graph& graph(const std::string& name) { return *module_.find_graph(name); }
  bool is_stored(const std::string& what) { return numbers().find(GetParam() + "/" + what) != nullptr; }
  ir::Tensor of_case(const std::string& what, const ir::Layout& layout = {}) {
    return stored(GetParam() + "/" + what, layout);
  }

  // "weight" where a value is "l.weight", else "".
  static std::string own(const std::string& name) { return name.starts_with("l.") ? name.substr(2) : ""; }

  ir::NamedTensors inputs(const ir::Graph& g) {
    ir::NamedTensors out;
    for (const ir::ValueId v : g.inputs) {
      ir::Tensor t(g[v].type);
      const std::string name = own(g[v].name);
      const std::string what = g[v].name == "p" ? "x" : g[v].name == "r" ? "r" : "start." + name;
      if (is_stored(what)) {
        const ir::Tensor start = of_case(what, g[v].layout);
        for (int64_t i = 0; i < t.elements(); ++i) t.set(i, start.at(i));
      }
      out.emplace(g[v].name, std::move(t));
    }
    return out;
  }

  // The layer's result, then what the loss's gradients are by x and by the layer's parameters.
  std::vector<std::string> add_outputs() {
    ir::Graph& g = graph("train");
    std::vector<std::string> what = {"y", "grad.x"};
    g.outputs = {g.find("l"), g.find("p.grad")};
    for (const ir::ValueId v : g.inputs) {
      if (g[v].role != ir::Role::param || own(g[v].name).empty()) continue;
      what.push_back("grad." + own(g[v].name));
      g.outputs.push_back(g.find(g[v].name + ".grad"));
      layouts_[what.back()] = g[v].layout;
    }
    return what;
  }

  void compare(const ir::Evaluation& done, const std::vector<std::string>& what, double tolerance) {
    for (size_t i = 0; i < what.size(); ++i)
      EXPECT_LE(nmse(done.outputs.at(i), of_case(what[i], layouts_[what[i]])), tolerance) << what[i];
    size_t buffers = 0;
    for (const auto& [name, next] : done.updated) {
      if (own(name).empty() || !is_stored("next." + own(name))) continue;
      EXPECT_LE(nmse(next, of_case("next." + own(name))), tolerance) << name;
      ++buffers;
    }
    size_t expected = 0;
    for (const runtime::SavedTensor& t : numbers().tensors) expected += t.name.starts_with(GetParam() + "/next.");
    EXPECT_EQ(buffers, expected);
  }

  std::string evaluated() { return is_stored("eval") ? "eval" : "y"; }

  frontend::Sources sources_;
  ir::Module module_;
  std::map<std::string, ir::Layout> layouts_;
};

TEST_P(LayersOfPyTorch, EvaluatorAgreesInDouble) {
  const std::vector<std::string> what = add_outputs();
  passes::run_pass(*passes::find_pass("differentiate"), module_, {});
  compare(ir::evaluate(module_, graph("train"), inputs(graph("train"))), what, 1e-20);
  const ir::Evaluation predicted = ir::evaluate(module_, graph("predict"), inputs(graph("predict")));
  EXPECT_LE(nmse(predicted.outputs.at(0), of_case(evaluated())), 1e-20);
}

// Each case is compiled: a sample of them.
class LayersOfPyTorchOnHost : public LayersOfPyTorch {};

TEST_P(LayersOfPyTorchOnHost, AgreesInSingle) {
  const std::vector<std::string> what = add_outputs();
  HostRun run(module_, "train");
  compare(run("train", inputs(graph("train"))), what, 1e-10);
  EXPECT_LE(nmse(run("predict", inputs(graph("predict"))).outputs.at(0), of_case(evaluated())), 1e-10);
}

// 20 batches on the host: what each step leaves, the next one reads.
TEST(RunningStatistics, FollowPyTorchFor20Steps) {
  frontend::Sources sources;
  const std::string text =
      R"({"format": "heddle-model/1", "name": "m", "inputs": {"x": {"shape": ["N", 3]}},
          "nodes": [{"name": "b", "op": "batch_norm"}, {"name": "s", "op": "sum"}],
          "train": {"batch": {"N": 5}, "steps": 20, "loss": {"op": "value", "in": "s"}, "optimizer": "sgd"}})";
  const frontend::Model model = frontend::read_model(sources, sources.add("m.json", text), {});
  ir::Module module = frontend::build_module(model, frontend::default_build_options(model));
  HostRun run(module, "train");
  ir::NamedTensors states;
  const auto step = [&](const std::string& entry, const ir::Tensor& x) {
    const ir::Graph& g = *module.find_graph(entry);
    ir::NamedTensors inputs;
    for (const ir::ValueId v : g.inputs)
      inputs.emplace(g[v].name, g[v].name == "x" ? x : states.emplace(g[v].name, ir::Tensor(g[v].type)).first->second);
    for (auto& [name, next] : run(entry, inputs).updated) states.at(name) = std::move(next);
  };
  step("init", {});
  const ir::Tensor x = stored("running/x");
  for (int64_t k = 0; k < 20; ++k) {
    ir::Tensor batch({ir::DType::f32, {5, 3}});
    for (int64_t i = 0; i < 15; ++i) batch.set(i, x.at(k * 15 + i));
    step("train", batch);
  }
  EXPECT_LE(nmse(states.at("b.running_mean"), stored("running/mean")), 1e-12);
  EXPECT_LE(nmse(states.at("b.running_var"), stored("running/var")), 1e-12);
  EXPECT_EQ(states.at("b.num_batches_tracked").at(0), 20);
}

INSTANTIATE_TEST_SUITE_P(Cases, LayersOfPyTorch, ::testing::ValuesIn(reference_cases(numbers())),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(Cases, LayersOfPyTorchOnHost, ::testing::ValuesIn(each_nth(3, reference_cases(numbers()))),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace heddle::testing
