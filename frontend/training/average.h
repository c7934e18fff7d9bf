// Exponential moving averages of the trained parameters, as torch.optim.swa_utils.get_ema_multi_avg_fn. Evaluations use
// the averages, and weight files hold them.
//
//   @train:        update %w.average <- %w.average * 0.999 + %w.next * 0.001; the first is %w.next itself
//   @eval:         reads %w.average in the place of %w
//   @take_average: update %w <- %w.average
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "frontend/instantiate/instantiate.h"

namespace heddle::frontend {

std::string average_of(const std::string& path);  // the name of the average of a parameter

// Builds old * kept + next * (1 - kept), named <name>.moved.
ir::ValueId moved_to(ir::Builder& b, ir::ValueId old, ir::ValueId next, double kept, const std::string& name);

// Builds the update of a parameter's average in a training step, with the parameter's next value. `step` is the number
// of finished steps, i64[]. `shared` makes a number once per step. The caller adds the returned update to the graph.
ir::Update add_average(
    Instance& e, const Average& average, const Parameter& p, ir::ValueId next, ir::ValueId step,
    const std::function<ir::ValueId(const std::string& name, const std::function<ir::ValueId()>& make)>& shared);

// The parameters of a training step that have an average.
std::vector<Parameter> averaged(const Instance& training);
// Replaces reads of these parameters by reads of their averages.
void read_averages(Instance& e, const std::vector<Parameter>& parameters);
ir::Graph take_average_graph(const Train& train, const std::vector<Parameter>& parameters);

}  // namespace heddle::frontend
