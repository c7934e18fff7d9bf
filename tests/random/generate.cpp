#include "tests/random/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "passes/differentiate.h"
#include "tests/random/growing_graph.h"

namespace heddle::testing {
using namespace ir;
namespace {

constexpr uint64_t kPairsEach = 5;  // of one graph

bool meet(const std::vector<DType>& a, const std::vector<DType>& b) {
  return std::any_of(a.begin(), a.end(), [&](DType d) { return std::find(b.begin(), b.end(), d) != b.end(); });
}

std::vector<Pair> find_pairs() {
  std::map<const OpDef*, std::vector<DType>> takes, gives;
  for (const OpDef* op : random_ops()) {
    takes[op] = operand_dtypes(*op);
    gives[op] = result_dtypes(*op);
  }
  std::vector<Pair> pairs;
  for (const OpDef* from : random_ops())
    for (const OpDef* to : random_ops())
      if (meet(gives[from], takes[to])) pairs.emplace_back(from->name, to->name);
  return pairs;
}

// A value for the operator to begin with: a recent one, else inputs of its own.
std::optional<Instance> begin(GrowingGraph& w, const OpDef& op, ValueId& given) {
  for (int attempt = 0; attempt < 6 && !w.values.empty() && w.random.chance(70); ++attempt) {
    given = w.recent();
    if (auto i = random_instance(op, w.random, w.limits, w.type(given))) return i;
  }
  given = {};
  return random_instance(op, w.random, w.limits);
}

// The second operator reads the first's result as it is, or else cut, padded or reshaped. Its last
// result; none: it cannot.
ValueId attach(GrowingGraph& w, const OpDef& op, ValueId v) {
  if (auto i = random_instance(op, w.random, w.limits, w.type(v)); i && (i->below[i->given] == 0)) {
    return w.add_reading(*i, v).back();
  }
  for (int attempt = 0; attempt < 12; ++attempt) {
    const auto i = random_instance(op, w.random, w.limits);
    if (!i) continue;
    for (size_t k = 0; k < i->operands.size(); ++k) {
      if (i->operands[k].dtype != w.type(v).dtype) continue;
      Instance fitting = *i;
      fitting.given = k;
      ValueId given = adapt(w, v, i->operands[k].dims);
      if (i->below[k] > 0)
        given = w.b("clamp", {given}, {{"low", 0.0}, {"high", static_cast<double>(i->below[k] - 1)}});
      return w.add_reading(fitting, given).back();
    }
  }
  return {};
}

ValueId add_pair(GrowingGraph& w, const Pair& pair) {
  for (int attempt = 0; attempt < 40; ++attempt) {
    ValueId given;
    const OpDef& second = op_def(pair.second);
    const auto first = begin(w, op_def(pair.first), given);
    if (!first) continue;
    size_t result = first->results.size();
    const std::vector<DType> takes = operand_dtypes(second);
    for (size_t i = 0; i < first->results.size(); ++i)
      if (std::find(takes.begin(), takes.end(), first->results[i].dtype) != takes.end() && w.random.chance(70))
        result = i;
    if (result == first->results.size()) continue;
    const Values results = w.add_reading(*first, given);
    if (const ValueId read = attach(w, second, results[result]); read.valid()) return read;
  }
  return {};
}

// What nobody reads is returned; now and then also what others read, an input as it is, and the same twice.
void choose_outputs(GrowingGraph& w) {
  Graph& g = w.g;
  for (const ValueId v : w.values)
    if (g[v].uses.empty() && g.def(v) && !g.is_next(v)) g.outputs.push_back(v);
  for (const ValueId v : w.values)
    if (!g.is_output(v) && w.random.chance(g.def(v) ? 8 : 3)) g.outputs.push_back(v);
  if (g.outputs.empty()) g.outputs.push_back(w.values.back());
}

// A second entry reads the states that the first one updates.
Graph reader_of(const Graph& g, uint64_t seed) {
  GrowingGraph w(g.name + ".eval", seed);
  for (const ValueId v : g.inputs)
    if (g[v].role != Role::input) w.values.push_back(w.g.add_input(g[v].name, g[v].type, g[v].role));
  for (int i = 0; i < 3; ++i) extend(w);
  choose_outputs(w);
  return std::move(w.g);
}

// Without training where an operator on the way has no gradient.
void try_training(GrowingGraph& w) {
  const Graph before = w.g;
  add_training(w);
  Module m;
  m.bodies = w.bodies;
  m.graphs.push_back(w.g);
  try {
    passes::differentiate(m, {});
  } catch (const UserError&) {
    w.g = before;
  }
}

void choose_regime(GrowingGraph& w) {
  static const std::vector<int> percents = {0, 0, 10, 40};
  w.special_percent = w.random.pick(percents);
  if (w.random.chance(12)) w.limits = {.elements = 16000, .length = 5000};
  if (w.random.chance(25)) w.limits = {.elements = 300, .length = 17};
  if (w.random.chance(6)) w.limits = {.elements = 2, .length = 2};  // rows, columns and totals of one point
}

constexpr uint64_t kOneInScans = 4;  // of so many graphs one scans

}  // namespace

void extend(GrowingGraph& w) {
  const OpDef& op = *w.random.pick(random_ops());
  ValueId given;
  if (const auto i = begin(w, op, given)) w.add_reading(*i, given);
}

const std::vector<Pair>& all_pairs() {
  static const std::vector<Pair> pairs = find_pairs();
  return pairs;
}

uint64_t numbers_per_round() { return (all_pairs().size() + kPairsEach - 1) / kPairsEach; }

// Consecutive numbers name pairs from all over the table.
std::vector<Pair> pairs_of(uint64_t number) {
  constexpr uint64_t kStride = 7919;  // a prime, so that no pair is left out
  const uint64_t count = all_pairs().size(), block = number % numbers_per_round();
  std::vector<Pair> named;
  for (uint64_t i = 0; i < kPairsEach; ++i)
    named.push_back(all_pairs()[(block * kPairsEach + i) % count * kStride % count]);
  return named;
}

std::string graph_name(uint64_t number) { return fmt::format("g{}", number); }

RandomGraph generate(uint64_t number) {
  GrowingGraph w(graph_name(number), number);
  choose_regime(w);
  RandomGraph made;
  made.number = number;
  for (const Pair& pair : pairs_of(number)) {
    if (const ValueId v = add_pair(w, pair); v.valid()) made.pairs[pair] = w.g[v].name;
    if (w.random.chance(40)) add_meeting(w);
    if (w.random.chance(30)) extend(w);
  }
  while (w.g.order.empty()) extend(w);
  if (number % kOneInScans == 1) {
    add_scan(w);
    extend(w);
  }
  if (w.random.chance(30)) try_training(w);
  add_updates(w);
  choose_outputs(w);
  made.module.bodies = std::move(w.bodies);
  made.module.graphs.push_back(std::move(w.g));
  const Graph& g = made.module.graphs[0];
  const bool stateful =
      std::any_of(g.inputs.begin(), g.inputs.end(), [&](ValueId v) { return g[v].role != Role::input; });
  if (stateful && number % 4 == 0) made.module.graphs.push_back(reader_of(Graph(g), number + 1));
  return made;
}

}  // namespace heddle::testing
