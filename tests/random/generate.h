// A random graph as a function of its number: pairs of operators that the number names, and what surrounds them.
//
//   generate(17)  ->  graph @g17(input %x0.plain: f32[17,33], state %g17.s1.plain: f32[33]) { ... }
//
// Values are read directly, reversed, rolled, strided, padded and joined, often one value twice; states are updated in
// place and exchanged; some graphs train, some have a second entry, @g17.eval, over the same states; one of four scans
// a body of operators, @g17.b0.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace heddle::testing {

using Pair = std::pair<std::string, std::string>;  // an operator and one that reads its result

// Every ordered pair with a dtype that the one can give and the other take.
const std::vector<Pair>& all_pairs();
// So many numbers name each pair once; the next so many name each again.
uint64_t numbers_per_round();
std::vector<Pair> pairs_of(uint64_t number);

struct RandomGraph {
  uint64_t number = 0;
  ir::Module module;                  // one graph, or two over the same states
  std::map<Pair, std::string> pairs;  // that became part of it, and a result of the second operator
};
RandomGraph generate(uint64_t number);
std::string graph_name(uint64_t number);  // "g17"

}  // namespace heddle::testing
