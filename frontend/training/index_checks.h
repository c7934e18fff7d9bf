// Checks of computed indices. Indices in data files are checked when they are read. Indices that a step computes are
// checked in the step, which returns the first one that is outside.
//
//   {"name": "g", "op": "gather", "in": ["p", "j"]}      %j computed, %p: f32[3,2]
//     ->  %g.outside: i64[2] = first_outside(%j) {below = 3}
//         %step.outside: i64[1,2] = reshape(%g.outside)   a row for each of the model's checks: [place, index], or [-1, ..]
//
// Three kinds of indices need no check in the step: inputs; results of operators such as argmax and argsort, which are
// always inside; and constants, which are checked here.
#pragma once
#include <vector>

#include "frontend/instantiate/instantiate.h"
#include "ir/index_error.h"

namespace heddle::frontend {

struct IndexCheck {
  ir::NodeId reader;        // the node that reads or writes elements by the indices
  ir::ValueId indices;      // in the order in which the model has them
  int64_t coordinate = -1;  // index along the last axis, if that holds coordinates; -1: check all elements
  int64_t below = 0;        // valid indices lie in [0, below)
  bool known = false;       // known to be inside for any data, or constant
};

// The node of the model to which a node of the graph belongs: "gather 'g'".
std::string reader_of(const Instance& e, ir::NodeId id);
// The length of the longest axis that node n indexes with its second operand; 0 if it indexes none.
int64_t most_places(const ir::Graph& g, const ir::Node& n);
// Whether the indices of n can never be outside, for any data.
bool is_never_outside(const ir::Graph& g, ir::NodeId id);
// The value from which v is made by reshapes and transposes alone; v itself if there are none.
ir::ValueId origin_of(const ir::Graph& g, ir::ValueId v);
// The checks of all readers in their order. Known ones are included, so that the list has the same length for every
// batch size and entry; for example, an index may be random in training and constant elsewhere. Constant indices that
// are outside are errors.
std::vector<IndexCheck> index_checks(const Instance& e, Diagnostics& errors);
// Adds the result step.outside to the graph, unless no check remains: all indices are known, or their readers are
// removed.
void add_index_checks(ir::Graph& g, const std::vector<IndexCheck>& checks);

// Describes the checks for the runtime. `twice` is the same model with another batch, such as twice as large. A
// comparison with it shows which axes grow with the batch. nullptr: unknown.
std::vector<CheckedIndices> describe(const std::vector<IndexCheck>& checks, const Instance& e, const Instance* twice);

}  // namespace heddle::frontend
