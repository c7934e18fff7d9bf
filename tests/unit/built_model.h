// What the tests of the frontend share: a model's text as a verified module, and its training in double precision.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "frontend/build_graph.h"
#include "frontend/read/read_model.h"
#include "ir/evaluate/evaluate.h"

namespace heddle::frontend {

struct Built {
  Sources sources;
  Model model;
  ir::Module module;
};

// A failure of the test unless the module is well formed.
std::unique_ptr<Built> build(const std::string& text, const ReadOptions& read = {});

// A model around `inputs`, `nodes` and more top-level members.
std::string model(const std::string& inputs, const std::string& nodes, const std::string& rest = "");

// The first result of @predict.
std::vector<double> predict(const std::string& text, const ir::NamedTensors& values);

ir::Tensor tensor(const ir::Type& type, const std::function<double(int64_t)>& f);
double wave(int64_t i);

// Trains in double precision, where nothing else is asked for: states from @init, then @train as often as asked.
class Training {
 public:
  explicit Training(const std::string& text);
  ir::Evaluation step(const ir::NamedTensors& inputs);
  std::vector<ir::Tensor> metrics() const;  // the results of @metrics
  // Runs one of the other graphs, such as @reset.
  ir::Evaluation run(const std::string& graph, const ir::NamedTensors& inputs = {});
  ir::NamedTensors states;
  ir::Precision precision = ir::Precision::exact;  // of steps

 private:
  std::unique_ptr<Built> built_;
};

}  // namespace heddle::frontend
