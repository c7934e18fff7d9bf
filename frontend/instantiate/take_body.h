// take_body: one turn that has been built into a graph becomes the body of a scan.
//
//   %h.of = <input>, %x.of = <input>          body @cell(carry %h.of, slice %x.of, fixed %w) {
//   %p = matmul(%h.of, %w)                      %p = matmul(%h.of, %w)
//   %n = add(%p, %x.of)                 ->      %n = add(%p, %x.of)
//                                               update %h.of <- %n
//                                             }
//
// So layers build the nodes of a body as they build all others, and their parameters are those of the graph.
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"

namespace heddle::frontend {

// Inputs of the graph that stand for what each turn gets, and values of the turn.
struct Turn {
  struct Carry {
    ir::ValueId input, next;
    bool of_graph = false;  // the input is the graph's own, and stays: what a layer keeps
  };
  std::vector<Carry> carries;
  std::vector<ir::ValueId> slices;
  ir::ValueId index;  // invalid: none
  std::vector<ir::ValueId> stacked;
};

struct TakenBody {
  ir::Graph body;                  // inputs: carries, slices, the index, what is fixed
  std::vector<ir::ValueId> fixed;  // values of the graph
};

// Takes all nodes from this place of the order on out of the graph, and the inputs that stand for a turn's. Random
// numbers, which depend on the state @step, are drawn anew in each of `count` turns.
TakenBody take_body(ir::Graph& g, size_t first, const Turn& turn, int64_t count, const std::string& name);

}  // namespace heddle::frontend
