// take_body: moves the nodes of one turn out of a graph into the body of a scan.
//
//   %h.of = <input>, %x.of = <input>          body @cell(carry %h.of, slice %x.of, fixed %w) {
//   %p = matmul(%h.of, %w)                      %p = matmul(%h.of, %w)
//   %n = add(%p, %x.of)                 ->      %n = add(%p, %x.of)
//                                               update %h.of <- %n
//                                             }
//
// So layers build the nodes of a turn in the same way as all other nodes, and their parameters belong to the graph.
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"

namespace heddle::frontend {

// The nodes of one turn in a graph: inputs of the graph that stand for the carries and slices, and the results of the
// turn.
struct Turn {
  struct Carry {
    ir::ValueId input, next;
    bool of_graph = false;  // the input is a real input of the graph, such as a state of a layer, and stays
  };
  std::vector<Carry> carries;
  std::vector<ir::ValueId> slices;
  ir::ValueId index;  // the number of the turn; invalid: not used
  std::vector<ir::ValueId> stacked;
};

struct TakenBody {
  ir::Graph body;                  // inputs: carries, slices, the index, fixed values
  std::vector<ir::ValueId> fixed;  // the values of the graph for the fixed inputs
};

// Moves all nodes from index `first` of the order on out of the graph, and removes the inputs that stand for those of a
// turn. Random numbers depend on the state `step`; each of the `count` turns draws others.
TakenBody take_body(ir::Graph& g, size_t first, const Turn& turn, int64_t count, const std::string& name);

}  // namespace heddle::frontend
