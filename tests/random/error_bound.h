// Evaluates a graph together with a bound of how far from each element a right kernel may be.
//
//   sub(1.0000001, 1)  ->  1.19e-07, bound 2.4e-07: the operands were rounded
//   lt(x, y) where x and y are nearer than their bounds  ->  bound 1: either truth value is right
//
// Rounding adds units of the element's own magnitude, of a sum the magnitudes of its terms; what the operands' bounds
// do to a result is found by evaluating the operator at their ends. An element without a bound (infinite) may be
// anything: it depends on what rounding decided. Integers are exact as long as no rounding decides them.
//
// Composites must be decomposed: their operators are what kernels compute.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "ir/evaluate/evaluate.h"

namespace heddle::testing {

struct Bounded {
  ir::Tensor value;
  std::vector<double> error;  // by element; infinite: any value is right
};
struct BoundedEvaluation {
  std::vector<Bounded> outputs;
  std::map<std::string, Bounded> updated;
};

// In exact precision all types round as doubles do. `normal_f64`: how far, relative to them, normal
// random numbers of f64 may be from the oracle's, whose own functions the host computes them with;
// a GPU's differ in the last places.
BoundedEvaluation evaluate_with_bounds(const ir::Graph& g, const ir::NamedTensors& inputs, ir::Precision precision,
                                       double normal_f64 = 0);

// The first element that is farther than its bound from the value, as a sentence; empty: none. Elements that are not
// finite agree when they are of one class.
std::string compare(const Bounded& expected, const ir::Tensor& got);

}  // namespace heddle::testing
