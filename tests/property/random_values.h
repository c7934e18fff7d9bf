// A graph that grows by random nodes: what it has, and random choices among it.
#pragma once
#include <random>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "tests/property/random_graph.h"

namespace heddle::testing {

inline constexpr int64_t kMaxElements = 1500;  // of a value that nodes may read

struct RandomValues {
  RandomValues(const std::string& name, uint32_t random_seed, const RandomGraphOptions& graph_options);
  RandomValues(const RandomValues&) = delete;  // the builder refers to the graph
  RandomValues& operator=(const RandomValues&) = delete;

  int64_t below(int64_t bound) { return static_cast<int64_t>(random()) % bound; }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[static_cast<size_t>(below(static_cast<int64_t>(list.size())))];
  }
  const ir::Type& type(ir::ValueId v) const { return g[v].type; }
  bool real(ir::ValueId v) const { return ir::is_floating(type(v).dtype); }

  ir::Dims small_shape();
  ir::ValueId input(const ir::Dims& dims) {
    return g.add_input(g.name + ".x", {ir::DType::f32, dims}, ir::Role::input);
  }
  ir::ValueId param(const ir::Dims& dims);
  // Lets later nodes read v, unless it is large.
  void keep(ir::ValueId v);
  // A floating value of f32, the most recent ones more often.
  ir::ValueId recent();
  // Another value of the same type: one there is, a parameter, a constant, or a repeated scalar.
  ir::ValueId partner(ir::ValueId v);

  RandomGraphOptions options;
  std::mt19937 random;
  ir::Graph g;
  ir::Builder b;
  ir::ValueId seed, step;
  ir::Values exact, values, params;  // inputs; what nodes may read; what is trained
};

// Each adds a node or a few, or none where no value suits.
void add_elementwise(RandomValues& r);
void add_choice(RandomValues& r);
void add_movement(RandomValues& r);
void add_contraction(RandomValues& r);
void add_reduction(RandomValues& r);
void add_pooling(RandomValues& r);
void add_composite(RandomValues& r);
void add_source(RandomValues& r);
// What simplify and layout look for: the same again, there and back, nothing at all.
void add_redundancy(RandomValues& r);
// A loss, gradients of all parameters, an optimizer's updates.
void add_training(RandomValues& r);

// v clamped to the range on which the operator is tested.
ir::ValueId within(RandomValues& r, ir::ValueId v, const ir::OpDef& op);

}  // namespace heddle::testing
