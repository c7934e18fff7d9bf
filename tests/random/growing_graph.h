// A random graph while it grows: its values, and the ways to get an operand out of them.
#pragma once
#include <string>

#include "ir/builder.h"
#include "tests/random/instance.h"

namespace heddle::testing {

struct GrowingGraph {
  GrowingGraph(const std::string& name, uint64_t seed);
  GrowingGraph(const GrowingGraph&) = delete;  // the builder refers to the graph
  GrowingGraph& operator=(const GrowingGraph&) = delete;

  const ir::Type& type(ir::ValueId v) const { return g[v].type; }
  ir::ValueId recent();  // the later, the likelier
  ir::ValueId new_input(const ir::Type& type, const std::string& style);
  // Applied to these operands; the results become values that later nodes may read.
  ir::Values add(const Instance& i, const ir::Values& operands);
  // All operands but `given` are chosen among the values, or new.
  ir::Values add_reading(const Instance& i, ir::ValueId given);

  Random random;
  Limits limits;
  ir::Graph g;
  ir::Builder b;
  ir::Values values;
  std::vector<ir::Graph> bodies;  // of scans in it: each stands behind those that it scans
  int special_percent = 0;        // of inputs with nan, infinities and the limits of integers
  int inputs = 0;
};

// A value of the type for the operand; one that exists, the same at other indices, or a new input.
ir::ValueId choose_operand(GrowingGraph& w, const Instance& i, size_t operand);
// v at other indices: reversed, rolled, shifted, spread, joined from parts. The type is v's.
ir::ValueId reread(GrowingGraph& w, ir::ValueId v);
// A value of v's type, perhaps v.
ir::ValueId recent_like(GrowingGraph& w, ir::ValueId v);
// v cut, padded or reshaped to these dimensions.
ir::ValueId adapt(GrowingGraph& w, ir::ValueId v, const ir::Dims& dims);
// An operator that reads values, or new inputs.
void extend(GrowingGraph& w);
// A scan of a body that is drawn, `depth` scans deep; its results become values.
void add_scan(GrowingGraph& w, int depth = 0);
// One value read twice: with itself at other indices, or with what rows of it reduce to.
void add_meeting(GrowingGraph& w);
// A loss over some values, gradients of the params and an optimizer's updates.
void add_training(GrowingGraph& w);
// Next values for states: in place, of another state, a view.
void add_updates(GrowingGraph& w);

}  // namespace heddle::testing
