// Indices that no data file can be asked for, since the step computes them: whether they are inside
// is looked at where they are computed, and the step says so beside its results.
//
//   {"name": "g", "op": "gather", "in": ["p", "j"]}      %j computed, %p: f32[3,2]
//     ->  %g.outside: i64[2] = first_outside(%j) {below = 3}
//         %step.outside: i64[1,2] = reshape(%g.outside)   a row for each of the model's checks: [place, index], or [-1, ..]
//
// Inputs are checked as they are read; what finds places along an axis (argmax, argsort) finds none
// outside of it; and indices that depend on nothing are looked at here.
#pragma once
#include <vector>

#include "frontend/instantiate/instantiate.h"
#include "ir/index_error.h"

namespace heddle::frontend {

struct IndexCheck {
  ir::NodeId reader;        // what finds places by them, or writes there
  ir::ValueId indices;      // in the order in which the model has them
  int64_t coordinate = -1;  // along the last axis; -1: all of them
  int64_t below = 0;        // they are to lie in [0, below)
  bool known = false;       // to be inside, whatever the data
};

// "gather 'g'": the node of the model that this one of the graph belongs to.
std::string reader_of(const Instance& e, ir::NodeId id);
// How many places there are for the indices of n, its second operand, along the longest of their
// axes; 0 where it has none.
int64_t most_places(const ir::Graph& g, const ir::Node& n);
// Whether nothing that n finds places by, or writes at, can be outside, whatever the data.
bool is_never_outside(const ir::Graph& g, ir::NodeId id);
// Where the elements of v come from, in whatever order and shape v has them.
ir::ValueId origin_of(const ir::Graph& g, ir::ValueId v);
// Of all readers in their order, so that every batch size and entry has as many: what is known of
// one may not be of another, as of what is random in training and constant elsewhere. Indices that
// depend on nothing and are outside are faults of the model.
std::vector<IndexCheck> index_checks(const Instance& e, Diagnostics& errors);
// Adds the last result, unless there is nothing to look at: readers are gone, indices known.
void add_index_checks(ir::Graph& g, const std::vector<IndexCheck>& checks);

// `twice` is the model at another batch, such as twice as many: of rows is what has as many there,
// too. nullptr: unknown.
std::vector<CheckedIndices> describe(const std::vector<IndexCheck>& checks, const Instance& e, const Instance* twice);

}  // namespace heddle::frontend
