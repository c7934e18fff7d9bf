#include "tools/command/learning_rate.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "frontend/build_graph.h"

namespace heddle::tools {
namespace {

// Keeps what `v` depends on.
void keep_only(ir::Graph& g, ir::ValueId v) {
  g.updates = {};
  g.outputs = {v};
  const std::vector<ir::NodeId> order = g.order;
  for (auto it = order.rbegin(); it != order.rend(); ++it)
    if (std::ranges::all_of(g[*it].results, [&](ir::ValueId r) { return g.unused(r); })) g.erase(*it);
  std::vector<ir::ValueId> gone;
  for (const ir::ValueId input : g.inputs)
    if (g.unused(input)) gone.push_back(input);
  g.remove_inputs(gone);
}

}  // namespace

LearningRate::LearningRate(const frontend::Model& model, runtime::Executable& executable)
    : model_(model), executable_(executable) {}

// A run without an end has no schedule that asks for it: any length will do.
void LearningRate::build(int64_t all_steps) {
  frontend::BuildOptions options = frontend::default_build_options(model_);
  options.eval = options.predict = 0;
  options.total_steps = all_steps == std::numeric_limits<int64_t>::max() ? 1 : all_steps;
  module_ = frontend::build_module(model_, options);
  ir::Graph* train = module_->find_graph({ir::Phase::train});
  const ir::ValueId lr = train == nullptr ? ir::ValueId{} : train->find("lr");
  if (lr.valid())
    keep_only(*train, lr);
  else
    module_->graphs.clear();
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
