#include "tests/unit/built_model.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ir/verify/verify.h"
#include "passes/pipeline.h"

namespace heddle::frontend {

std::unique_ptr<Built> build(const std::string& text, const ReadOptions& read) {
  auto built = std::make_unique<Built>();
  built->model = read_model(built->sources, built->sources.add("m.json", text), read);
  built->module = build_module(built->model, default_build_options(built->model));
  EXPECT_EQ(ir::verify(built->module), std::vector<std::string>{});
  return built;
}

std::string model(const std::string& inputs, const std::string& nodes, const std::string& rest) {
  return fmt::format(R"({{"format": "heddle-model/1", "name": "m", "inputs": {{{}}}, "nodes": [{}]{}}})", inputs, nodes,
                     rest);
}

std::vector<double> predict(const std::string& text, const ir::NamedTensors& values) {
  const auto built = build(text);
  const ir::Graph& g = *built->module.find_graph("predict");
  ir::NamedTensors all;
  for (const ir::ValueId v : g.inputs) all[g[v].name] = values.at(g[v].name);
  return ir::evaluate(built->module, g, all).outputs.at(0).real;
}

double wave(int64_t i) { return std::sin(0.7 * static_cast<double>(i) + 0.3); }

ir::Tensor tensor(const ir::Type& type, const std::function<double(int64_t)>& f) {
  ir::Tensor t(type);
  for (int64_t i = 0; i < t.elements(); ++i) t.set(i, f(i));
  return t;
}

Training::Training(const std::string& text) : built_(build(text)) {
  passes::find_pass("differentiate")->run(built_->module, {});
  const ir::Graph& init = *built_->module.find_graph("init");
  ir::NamedTensors zeros;
  for (const ir::ValueId v : init.inputs) zeros[init[v].name] = ir::Tensor(init[v].type);
  states = ir::evaluate(built_->module, init, zeros).updated;
}

std::vector<ir::Tensor> Training::metrics() const {
  return ir::evaluate(built_->module, *built_->module.find_graph("metrics"), states).outputs;
}

ir::Evaluation Training::step(const ir::NamedTensors& inputs) { return run("train", inputs); }

ir::Evaluation Training::run(const std::string& graph, const ir::NamedTensors& inputs) {
  const ir::Graph& g = *built_->module.find_graph(graph);
  ir::NamedTensors all = inputs;
  for (const ir::ValueId v : g.inputs) {
    if (g[v].role != ir::Role::input) all[g[v].name] = states.at(g[v].name);
  }
  ir::Evaluation result = ir::evaluate(built_->module, g, all, {.precision = precision});
  for (const auto& [name, value] : result.updated) states[name] = value;
  return result;
}

}  // namespace heddle::frontend
