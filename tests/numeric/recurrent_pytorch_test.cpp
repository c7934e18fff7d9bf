// Recurrent layers against PyTorch: results, states and gradients, by the evaluator in double precision and by the host
// device in single precision. The numbers are tests/training/reference/recurrent.safetensors (see make_recurrent.py), and
// those of drawn settings (see reference_file.h).
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "frontend/build_graph.h"
#include "frontend/read/read_model.h"
#include "ir/verify/verify.h"
#include "passes/pipeline.h"
#include "runtime/weights/safetensors.h"
#include "tests/numeric/reference_file.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

const runtime::WeightsFile& chosen() {
  static const runtime::WeightsFile file = reference_file("recurrent.safetensors");
  return file;
}

class RecurrentOfPyTorch : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const frontend::Model model = frontend::read_model(sources_, sources_.add("m.json", model_text()), {});
    module_ = frontend::build_module(model, frontend::default_build_options(model));
    EXPECT_EQ(ir::verify(module_), std::vector<std::string>{});
  }

  static const runtime::WeightsFile& numbers() { return GetParam().starts_with("drawn_") ? drawn_numbers() : chosen(); }
  bool is_stored(const std::string& what) const { return numbers().find(GetParam() + "/" + what) != nullptr; }
  static ir::Tensor stored(const std::string& what) { return stored_tensor(numbers(), GetParam() + "/" + what); }
  std::string shape(const std::string& what) const {
    return fmt::format("{}", fmt::join(numbers().find(GetParam() + "/" + what)->dims, ","));
  }

  // Sequence and starts are parameters, so that their gradients are there; so are the factors of the loss.
  std::string model_text() const {
    std::string nodes, in = R"("x": "x")", out = R"("y", "last")", last, sum = R"("sy", "sh_n")";
    const auto param = [&](const std::string& name, const std::string& as) {
      nodes += fmt::format(R"({{"name": "{}", "op": "param", "shape": [{}]}}, )", as, shape(name));
    };
    param("x", "x");
    for (const std::string start : {"h0", "c0"}) {
      if (!is_stored(start)) continue;
      param(start, start);
      in += fmt::format(R"(, "{0}": "{0}")", start);
    }
    if (is_stored("size")) in += R"(, "size": "size")";
    const bool cell = is_stored("cell");
    if (cell) out += R"(, "cell")";
    out += cell ? R"(, "h_n", "c_n")" : R"(, "h_n")";
    if (cell) sum = R"("sy", "sh_n", "sc_n")";
    nodes += fmt::format(R"({{"name": "l", "in": {{{}}}, "out": [{}], "states": true, {}, )", in, out,
                         numbers().metadata.at(GetParam()).substr(1));
    for (const std::string result : {"y", "h_n", "c_n"}) {
      if (!is_stored(result)) continue;
      param("r." + result, "r" + result);
      nodes += fmt::format(R"({{"name": "m{0}", "op": "mul", "in": ["{0}", "r{0}"]}},
                              {{"name": "s{0}", "op": "sum", "in": "m{0}"}}, )",
                           result);
    }
    nodes +=
        cell
            ? R"({"name": "two", "op": "add", "in": ["sy", "sh_n"]}, {"name": "s", "op": "add", "in": ["two", "sc_n"]})"
            : R"({"name": "s", "op": "add", "in": ["sy", "sh_n"]})";
    const std::string x = shape("x");
    return fmt::format(
        R"({{"format": "heddle-model/1", "name": "m", "inputs": {{"size": {{"shape": ["N"], "dtype": "i64"}}}},
             "nodes": [{}], "outputs": {{"y": "y", "last": "last", "h_n": "h_n"{}}},
             "train": {{"batch": {{"N": {}}}, "epochs": 1, "loss": {{"op": "value", "in": "s"}}, "optimizer": "sgd"}}}})",
        nodes, cell ? R"(, "cell": "cell", "c_n": "c_n")" : "", x.substr(0, x.find(',')));
  }

  ir::Graph& graph(const std::string& name) { return *module_.find_graph(name); }

  // "start.weight_ih_l0" of "l.weight_ih_l0"
  static std::string what_is(const std::string& name) {
    if (name.starts_with("l.")) return "start." + name.substr(2);
    return name.starts_with("r") ? "r." + name.substr(1) : name;
  }

  ir::NamedTensors inputs(const ir::Graph& g) {
    ir::NamedTensors out;
    for (const ir::ValueId v : g.inputs) {
      ir::Tensor t(g[v].type);
      if (const std::string what = what_is(g[v].name); is_stored(what)) {
        const ir::Tensor start = stored(what);
        EXPECT_EQ(g[v].type.dims, start.type.dims) << what;
        for (int64_t i = 0; i < t.elements(); ++i) t.set(i, start.at(i));
      }
      out.emplace(g[v].name, std::move(t));
    }
    return out;
  }

  // All results that @train has, then all gradients that are stored.
  std::vector<std::string> add_outputs() {
    ir::Graph& g = graph("train");
    std::vector<std::string> what = {"y"};
    g.outputs = {g.find("y")};
    for (const ir::ValueId v : g.inputs) {
      if (g[v].role != ir::Role::param || g[v].name.starts_with("r")) continue;
      const std::string name = g[v].name.starts_with("l.") ? g[v].name.substr(2) : g[v].name;
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

  std::vector<std::string> results() const {
    std::vector<std::string> all = {"y", "last", "h_n"};
    if (is_stored("cell")) all.insert(all.end(), {"cell", "c_n"});
    return all;
  }

  frontend::Sources sources_;
  ir::Module module_;
};

TEST_P(RecurrentOfPyTorch, EvaluatorAgreesInDouble) {
  const std::vector<std::string> what = add_outputs();
  passes::run_pass(*passes::find_pass("differentiate"), module_, {});
  compare(ir::evaluate(module_, graph("train"), inputs(graph("train"))), what, 1e-20);
  compare(ir::evaluate(module_, graph("predict"), inputs(graph("predict"))), results(), 1e-20);
}

TEST_P(RecurrentOfPyTorch, HostAgreesInSingle) {
  const std::vector<std::string> what = add_outputs();
  HostRun run(module_, "train");
  compare(run("train", inputs(graph("train"))), what, 1e-10);
  compare(run("predict", inputs(graph("predict"))), results(), 1e-10);
}

INSTANTIATE_TEST_SUITE_P(Cases, RecurrentOfPyTorch, ::testing::ValuesIn(reference_cases(chosen())),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(Drawn, RecurrentOfPyTorch, ::testing::ValuesIn(drawn_cases({"rnn", "gru", "lstm"})),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace heddle::testing
