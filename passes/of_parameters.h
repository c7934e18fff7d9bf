// of_parameters: finds the values of a graph that depend on loaded parameters alone, and not on the rows of a batch.
//
//   graph @predict(input %x, param %w, buffer %var) {
//     %r = rsqrt(%var)          of parameters
//     %s = constant() {..}      fixed: of nothing
//     %y = mul(%x, %r)          of rows
//
// A parameter does not count if any graph other than init updates it, because values computed from it would change too.
// Results of calls, scans and gradients never count.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace heddle::passes {

class OfParameters {
 public:
  OfParameters(const ir::Module& m, const ir::Graph& g);
  // Both also accept values that were added to the graph after construction.
  bool is_fixed(ir::ValueId v) { return at(v) != Made::of_rows; }  // depends on parameters or constants alone
  bool is_of_parameters(ir::ValueId v) { return at(v) == Made::of_parameters; }

 private:
  enum class Made : char { of_rows, of_nothing, of_parameters };
  Made at(ir::ValueId v);
  Made made(const ir::Value& input) const;
  Made made(const ir::Node& n) const;
  void see(ir::NodeId id);
  void grow();

  const ir::Graph& g_;
  std::set<std::string> renewed_;
  std::vector<Made> made_;  // by ValueId index
  size_t seen_ = 0;         // nodes
};

}  // namespace heddle::passes
