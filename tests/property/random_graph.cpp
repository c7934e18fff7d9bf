#include "tests/property/random_graph.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/property/random_values.h"

namespace heddle::testing {
using namespace ir;

namespace {

void extend(RandomValues& r) {
  switch (r.below(r.options.smooth ? 6 : 10)) {
    case 0:
    case 1: return add_elementwise(r);
    case 2: return add_movement(r);
    case 3: return add_contraction(r);
    case 4: return add_reduction(r);
    case 5: return add_composite(r);
    case 6: return add_pooling(r);
    case 7: return add_source(r);
    case 8: return add_choice(r);
    default: return add_redundancy(r);
  }
}

Graph random_graph(const std::string& name, uint32_t seed, const RandomGraphOptions& options) {
  RandomValues r(name, seed, options);
  for (int i = 0; i < options.nodes; ++i) {
    const size_t before = r.g.order.size();
    for (int attempt = 0; attempt < 20 && r.g.order.size() == before; ++attempt) extend(r);
  }
  if (options.gradients || options.smooth) add_training(r);
  while (r.g.outputs.size() < 4) {
    const ValueId v = r.pick(r.values);
    if (!r.g.is_output(v)) r.g.outputs.push_back(v);
  }
  return std::move(r.g);
}

Graph init_graph(const Graph& g) {
  Graph init;
  init.name = g.name + ".init";
  Builder b(init);
  const ValueId seed = init.add_input(g.name + ".seed", {DType::i64, {}}, Role::state);
  const ValueId step = init.add_input(g.name + ".step", {DType::i64, {}}, Role::state);
  int64_t stream = 0;
  for (ValueId v : g.inputs) {
    if (g[v].role != Role::param) continue;
    const ValueId w = init.add_input(g[v].name, g[v].type, Role::param);
    init.updates.push_back({w, b("random_normal", {seed, step}, {{"shape", g[v].type.dims}, {"stream", ++stream}})});
  }
  return init;
}

}  // namespace

void add_random_graph(Module& m, const std::string& name, uint32_t seed, const RandomGraphOptions& options) {
  m.graphs.push_back(random_graph(name, seed, options));
  if (!m.graphs.back().updates.empty()) m.graphs.push_back(init_graph(Graph(m.graphs.back())));
}

NamedTensors random_inputs(const Module& m, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-2, 2);
  NamedTensors inputs;
  for (const Graph& g : m.graphs)
    for (ValueId v : g.inputs) {
      Tensor t(g[v].type);
      for (int64_t i = 0; i < t.elements(); ++i)
        t.set(i, t.floating() ? round_to(DType::f32, uniform(random)) : static_cast<double>(random() % 4));
      inputs.emplace(g[v].name, std::move(t));
    }
  return inputs;
}

double difference(const Tensor& expected, const Tensor& got) {
  double scale = 1, most = 0;
  for (int64_t i = 0; i < expected.elements(); ++i)
    if (std::isfinite(expected.at(i))) scale = std::max(scale, std::abs(expected.at(i)));
  for (int64_t i = 0; i < expected.elements(); ++i) {
    const double a = expected.at(i), b = got.at(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const double apart = std::abs(a - b);
    most = std::max(most, std::isnan(apart) ? INFINITY : apart / scale);
  }
  return most;
}

}  // namespace heddle::testing
