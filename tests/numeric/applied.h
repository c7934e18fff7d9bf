// Operators on their samples, for tests of what they state of themselves.
//
//   applied({op_def("transpose"), 0}, count_elements)  ->  the node on 0, 1, 2 .., and what its oracle makes of them
#pragma once
#include <functional>
#include <vector>

#include "tests/numeric/harness.h"

namespace heddle::testing {

// An operator on a sample: its node, and what its oracle makes of the operands.
struct Applied {
  OneOp one;
  std::vector<ir::Tensor> operands, results;
  const ir::Node& node() { return *one.graph().def(one.results[0]); }
};

inline std::vector<ir::Tensor> results_of(const ir::Graph& g, const ir::Node& n,
                                          const std::vector<ir::Tensor>& operands) {
  std::vector<const ir::Tensor*> pointers;
  for (const ir::Tensor& t : operands) pointers.push_back(&t);
  return n.op->eval(signature(g, n), pointers);
}

inline Applied applied(const Case& c, const std::function<void(std::vector<ir::Tensor>&)>& fill) {
  Applied a{one_op(c), {}, {}};
  for (const ir::ValueId v : a.one.inputs) a.operands.emplace_back(a.one.graph()[v].type);
  fill(a.operands);
  a.results = results_of(a.one.graph(), a.node(), a.operands);
  return a;
}

// Each element another number, above every fill.
inline void count_elements(std::vector<ir::Tensor>& operands) {
  double next = 100;
  for (ir::Tensor& t : operands)
    for (int64_t i = 0; i < t.elements(); ++i) t.set(i, next++);
}

// Cases of the operators that state it; there is one at least, or the trait is nobody's.
template <class T>
std::vector<Case> stating(T ir::Traits::*trait) {
  std::vector<Case> cases;
  for (const Case& c : all_cases())
    if (!c.broadcast && static_cast<bool>(c.op->traits.*trait)) cases.push_back(c);
  EXPECT_FALSE(cases.empty());
  return cases;
}

}  // namespace heddle::testing
