// A sum that is tried: a graph, its inputs, and for each result how far from the exact sum it may lie.
//
//   draw_case(17, {.most = 1e6})
//     ->  "reduce_sum [3,66101,7] along 1, f32, one large, times a second operand", a graph of one input, 21 numbers
//
// The rule: a sum of n terms of a type is off by at most 4 log2(n) eps times the sum of their sizes. What is computed
// before or behind the sum adds a rounding (eps of its own size) each.
#pragma once
#include <map>
#include <random>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "tests/sums/column.h"
#include "tests/sums/exact.h"

namespace heddle::testing {

struct Expected {
  ir::DType dtype = ir::DType::f32;
  std::vector<Exact> value;
  std::vector<double> bound;

  void add(const Exact& exact, double by) {
    value.push_back(exact);
    bound.push_back(by);
  }
};

struct SumCase {
  std::string title;
  ir::Module module;
  std::string entry = "sums";            // the graph that is run
  std::map<std::string, Column> inputs;  // and parameters, by name
  std::vector<Expected> outputs;         // the entry's first ones
  std::map<std::string, Expected> states = {};
  bool library = true;  // products may go to a library

  ir::Graph& graph() { return module.graphs[0]; }
};

struct DrawOptions {
  int64_t most = 1'000'000;  // terms of a sum, and elements of an operand
};

// What the case's number decides, in the order of asking.
class Draw {
 public:
  Draw(uint64_t number, const DrawOptions& options) : most(options.most), seed(mixed(number, 271828)), engine_(seed) {}
  int64_t below(int64_t n) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  T pick(const std::vector<T>& list) {
    return list[static_cast<size_t>(below(std::ssize(list)))];
  }
  int64_t length(int64_t from, int64_t to);  // as many of each magnitude
  int64_t terms(int64_t from, int64_t to);   // more of the large ones
  Kind kind() { return static_cast<Kind>(below(kKinds)); }
  ir::DType dtype();  // half of them f32

  const int64_t most;
  const uint64_t seed;

 private:
  std::mt19937_64 engine_;
};

// 4 log2(n) eps size, and `roundings` of eps size around the sum.
double allowed(int64_t n, ir::DType dtype, double size, double roundings = 1);

// A graph with inputs of their columns.
ir::ValueId add_input(SumCase& c, const std::string& name, Column column);

// A family of cases draws one.
using Family = SumCase (*)(Draw&);
const std::vector<std::pair<std::string, Family>>& families();
const std::string& family_of(uint64_t number);
SumCase draw_case(uint64_t number, const DrawOptions& options);

SumCase reduction(Draw& d);
SumCase total(Draw& d);
SumCase of_source(Draw& d);
SumCase exponentials(Draw& d);
SumCase normalization(Draw& d);
SumCase product(Draw& d);
SumCase convolution(Draw& d);
SumCase pooling(Draw& d);
SumCase pooling_gradient(Draw& d);
SumCase prefix(Draw& d);
SumCase scattered(Draw& d);
SumCase gathered_gradient(Draw& d);
SumCase loss(Draw& d);
SumCase clipped(Draw& d);

}  // namespace heddle::testing
