// of_parameters: which values of a graph are made of loaded parameters alone, whatever the rows hold.
//
//   graph @predict(input %x, param %w, buffer %var) {
//     %r = rsqrt(%var)          of parameters
//     %s = constant() {..}      fixed: of nothing
//     %y = mul(%x, %r)          of rows
//
// A parameter that some graph but init renews is none: what is made of it does not stay. Nor is what a kernel, a scan or
// a gradient makes.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace heddle::passes {

class OfParameters {
 public:
  OfParameters(const ir::Module& m, const ir::Graph& g);
  // Values that were built since are known, too.
  bool is_fixed(ir::ValueId v) { return at(v) != Made::of_rows; }  // of parameters, or of constants
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
