// An exponential moving average of the trained parameters, by torch.optim.swa_utils.get_ema_multi_avg_fn: what
// evaluations see and what is saved.
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

std::string average_of(const std::string& path);  // the state's name

// A part of the way from `old` to `next`: old * kept + next * (1 - kept), as <name>.moved.
ir::ValueId moved_to(ir::Builder& b, ir::ValueId old, ir::ValueId next, double kept, const std::string& name);

// In a training step: the average takes in the parameter's next value. `step` is the number of finished steps, i64[];
// `shared` makes a number once per step. The caller adds the update that it returns.
ir::Update add_average(
    Instance& e, const Average& average, const Parameter& p, ir::ValueId next, ir::ValueId step,
    const std::function<ir::ValueId(const std::string& name, const std::function<ir::ValueId()>& make)>& shared);

// The parameters of a training step that have an average.
std::vector<Parameter> averaged(const Instance& training);
// Reads of these parameters become reads of their averages.
void read_averages(Instance& e, const std::vector<Parameter>& parameters);
ir::Graph take_average_graph(const Train& train, const std::vector<Parameter>& parameters);

}  // namespace heddle::frontend
