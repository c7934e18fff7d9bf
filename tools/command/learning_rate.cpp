#include "tools/command/learning_rate.h"

#include <limits>
#include <utility>

#include "frontend/training/learning_rate.h"

namespace heddle::tools {

LearningRate::LearningRate(const frontend::Model& model, runtime::Executable& executable)
    : model_(model), executable_(executable) {}

// A run without an end has no schedule that asks for it: any length will do.
void LearningRate::build(int64_t all_steps) {
  const int64_t length = all_steps == std::numeric_limits<int64_t>::max() ? 1 : all_steps;
  module_.emplace();
  if (std::optional<ir::Graph> rate = frontend::learning_rate_graph(model_, length))
    module_->graphs.push_back(std::move(*rate));
}

void LearningRate::read_kept() {
  const ir::Graph* g = module_->find_graph({ir::Phase::train});
  if (g == nullptr) return;
  for (const ir::ValueId v : g->inputs) {
    const ir::Value& value = (*g)[v];
    ir::Tensor tensor(value.type);
    for (const codegen::Buffer& state : executable_.program().states) {
      if (state.name != value.name || value.name == "step" || state.dtype != "f64" || !state.dims.empty()) continue;
      double kept = 0;
      executable_.read(state, &kept);
      tensor.set(0, kept);
    }
    inputs_[value.name] = std::move(tensor);
  }
}

double LearningRate::computed(int64_t steps) {
  const ir::Graph* g = module_->find_graph({ir::Phase::train});
  if (g == nullptr) return std::numeric_limits<double>::quiet_NaN();
  if (constant_) return *constant_;
  if (const auto step = inputs_.find("step"); step != inputs_.end()) step->second.set(0, static_cast<double>(steps));
  const double lr = ir::evaluate(*module_, *g, inputs_, {.precision = ir::Precision::rounded, .through_arena = false})
                        .outputs.at(0)
                        .at(0);
  if (inputs_.empty()) constant_ = lr;
  return lr;
}

double LearningRate::behind(int64_t steps, int64_t all_steps) {
  if (!module_) build(all_steps);
  read_kept();
  return computed(steps);
}

double LearningRate::of_step(int64_t step, int64_t all_steps, int64_t epoch) {
  if (!module_) build(all_steps);
  if (std::exchange(epoch_, epoch) != epoch) read_kept();
  return computed(step - 1);
}

}  // namespace heddle::tools
