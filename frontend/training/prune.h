// train.prune: magnitude pruning. A growing share of a weight becomes exactly 0 (Zhu and Gupta 2017, arXiv 1710.01878).
// A state holds the mask of pruned elements; these stay pruned.
//
//   {"match": ["fc.weight"], "amount": 0.5, "begin": 100, "end": 500, "every": 50}
//     -> %fc.weight.grad.kept = select(%fc.weight.pruned, 0, %fc.weight.grad), in front of the optimizer
//        %fc.weight.chosen: bool[6] = smallest(|%fc.weight.next|, or -1 where it is pruned, %prune.count)
//        %fc.weight.pruned.next: bool[2,3] = or(%fc.weight.pruned, %fc.weight.chosen)
//        update %fc.weight <- select(%fc.weight.pruned.next, 0, %fc.weight.next)
//
// Step t, counted from 1, prunes if begin <= t <= end, and t is `end` or t - begin is a multiple of `every`. After it,
// round(s * elements) elements are pruned, with s = amount (1 - ((end - t) / (end - begin))^3): those of least
// magnitude; of equal ones the first in the order of files. In other steps the count is 0, and `smallest` searches
// nothing. "2:4": round(4 s) of each four neighbours along the input axis, with an amount of 0.5.
#pragma once
#include <functional>
#include <string>

#include "frontend/instantiate/instantiate.h"

namespace heddle::frontend {

// Returns the number with this name; `make` builds it at the first call in a step.
using SharedNumber = std::function<ir::ValueId(const std::string& name, const std::function<ir::ValueId()>& make)>;

inline constexpr const char* kSparsity = "sparsity";  // a metric of every training that prunes

// Whether the training prunes the parameter.
bool is_pruned(const Train& train, const Parameter& p);

// The mask of the parameter, a state that is true where an element is pruned. Adds it at the first call.
ir::ValueId pruned_state(ir::Graph& g, const Parameter& p);

// `v`, of the parameter's shape in memory, with 0 where `pruned` holds.
ir::ValueId zero_where(ir::Builder& b, ir::ValueId pruned, ir::ValueId v, std::string name);

// The next value of the mask. `next` is the optimizer's next value of the parameter, and `step` the number of finished
// steps, i64[].
ir::ValueId prune_more(ir::Builder& b, const Prune& prune, const Parameter& p, ir::ValueId next, ir::ValueId step,
                       const SharedNumber& shared);

// The pruned parameters of a model.
std::vector<const Parameter*> pruned_parameters(const Train& train, const std::vector<Parameter>& parameters);
// Reports globs that prune nothing, and weights that cannot be pruned.
void check_prune(const Train& train, const Instance& e, Diagnostics& errors);

// Adds a result to @metrics: the share of zeros in these parameters, f64[].
void add_sparsity(ir::Graph& metrics, const std::vector<const Parameter*>& pruned);

}  // namespace heddle::frontend
