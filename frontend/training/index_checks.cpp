#include "frontend/training/index_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "ir/evaluate/evaluate_node.h"
#include "ir/op_def.h"

namespace heddle::frontend {

using ir::ValueId;

namespace {

ir::Dims places_of(const ir::Graph& g, const ir::Node& n) {
  return n.op->places ? n.op->places(ir::signature(g, n)) : ir::Dims{};
}

// Whether all elements of v are results of an operator such as argmax, which lie in [0, below).
bool finds_places(const ir::Graph& g, ValueId v, int64_t below) {
  while (const ir::Node* n = g.def(v)) {
    if (n->op->below && g[v].result_index == 0) return n->op->below(ir::signature(g, *n)) <= below;
    const bool moves = std::holds_alternative<ir::Movement>(n->op->kind) && n->operands.size() == 1 &&
                       n->op->find_attr("fill") == nullptr;
    const bool casts = n->op->traits.converts && ir::is_integer(g[v].type.dtype) &&
                       ir::holds(g[v].type.dtype, below - 1) && ir::is_integer(g[n->operands[0]].type.dtype);
    if (!moves && !casts) return false;
    v = n->operands[0];
  }
  return false;
}

// Evaluates values that depend on no input and no state, if they are small enough.
class Constant {
 public:
  explicit Constant(const ir::Graph& g) : g_(g) {}

  const ir::Tensor* operator()(ValueId v) {
    constexpr int64_t kMostElements = int64_t{1} << 20;
    std::vector<const ir::Node*> cone;
    if (!collect(v, cone, kMostElements)) return nullptr;
    for (const ir::Node* n : cone) {
      ir::Operands operands;
      for (const ValueId operand : n->operands) operands.push_back(&known_.at(operand.index));
      std::vector<ir::Tensor> results = ir::evaluate_node({}, g_, *n, operands, ir::Precision::rounded);
      for (size_t i = 0; i < results.size(); ++i) known_[n->results[i].index] = std::move(results[i]);
    }
    return &known_.at(v.index);
  }

 private:
  // Collects the nodes on which v depends, each behind its operands. Returns false if a value is an input or a state,
  // or if there are more than `room` elements.
  bool collect(ValueId v, std::vector<const ir::Node*>& cone, int64_t room) {
    std::vector<std::pair<ValueId, bool>> open = {{v, false}};
    std::unordered_map<int32_t, bool> seen;
    while (!open.empty()) {
      const auto [value, done] = open.back();
      open.pop_back();
      const ir::Node* n = g_.def(value);
      if (n == nullptr) return false;
      if (done) {
        cone.push_back(n);
        continue;
      }
      if (known_.count(value.index) > 0 || !seen.emplace(n->results[0].index, true).second) continue;
      room -= g_[value].type.elements();
      if (room < 0) return false;
      open.emplace_back(value, true);
      for (const ValueId operand : n->operands) open.emplace_back(operand, false);
    }
    return true;
  }

  const ir::Graph& g_;
  std::unordered_map<int32_t, ir::Tensor> known_;
};

// The first index that is outside, if there is one.
std::optional<int64_t> outside(const ir::Tensor& x, const IndexCheck& check) {
  const int64_t step = check.coordinate < 0 ? 1 : x.type.dims.back();
  for (int64_t i = std::max<int64_t>(check.coordinate, 0); i < x.elements(); i += step) {
    const int64_t index = x.integer[static_cast<size_t>(i)];
    if (index < 0 || index >= check.below) return index;
  }
  return std::nullopt;
}

// The checks of a reader: one for each coordinate. For a single coordinate, the indices are checked before the reshapes
// that a layer has added.
std::vector<IndexCheck> checks_of(const ir::Graph& g, ir::NodeId id, const ir::Dims& places) {
  const ValueId indices = g[id].operands[1];
  if (places.size() == 1) return {{.reader = id, .indices = origin_of(g, indices), .below = places[0]}};
  std::vector<IndexCheck> list;
  for (size_t i = 0; i < places.size(); ++i)
    list.push_back({.reader = id, .indices = indices, .coordinate = static_cast<int64_t>(i), .below = places[i]});
  return list;
}

// Whether the data reader already refuses indices that are outside: it checks inputs against the longest axis that they
// index. This is enough only for parameters and states, which have the same size in every batch. An axis of a computed
// value may be that of the batch, and the last batch of an epoch is shorter.
bool is_refused_as_read(const ir::Graph& g, const IndexCheck& check) {
  const ir::Node& n = g[check.reader];
  const ValueId from = origin_of(g, n.operands[0]);
  const bool is_kept = g.def(from) == nullptr && g[from].role != ir::Role::input;
  return is_kept && g[origin_of(g, check.indices)].role == ir::Role::input && check.below == most_places(g, n);
}

// Whether the indices can never be outside, by their type or by the operator that computes them.
bool is_held_inside(const ir::Graph& g, const IndexCheck& check) {
  const ir::DType dtype = g[check.indices].type.dtype;
  if (!ir::is_signed(dtype) && !ir::holds(dtype, check.below)) return true;
  return finds_places(g, check.indices, check.below);
}
bool is_inside(const ir::Graph& g, const IndexCheck& check) {
  return is_refused_as_read(g, check) || is_held_inside(g, check);
}

// `below`, or the nearest limit that the type of the indices can hold.
int64_t least_above(ir::DType dtype, int64_t below) {
  while (!ir::holds(dtype, below - 1)) below = int64_t{1} << (ir::bits(dtype) - (ir::is_signed(dtype) ? 1 : 0));
  return below;
}

// By how much the indexed axis grows with each row of the batch; 0 if it does not depend on the batch.
int64_t places_of_row(const IndexCheck& check, const Instance& e, const Instance* twice) {
  if (twice == nullptr) return 0;
  const ir::Dims places = places_of(twice->graph, twice->graph[check.reader]);
  return (places.at(static_cast<size_t>(std::max<int64_t>(check.coordinate, 0))) - check.below) /
         (twice->batch - e.batch);
}

constexpr const char* kAxisOfTheBatch =
    "that axis grows with the rows of a batch, and the last batch of an epoch may have fewer";

std::string clamp_below(int64_t below) {
  return fmt::format("{{\"op\": \"clamp\", \"low\": 0, \"high\": {}}} keeps what is computed inside", below - 1);
}

// The number of indices for each row of the batch; 0 if the first axis is not known to be that of the rows.
int64_t indices_of_row(const IndexCheck& check, const Instance& e, const Instance* twice) {
  const ir::Dims& dims = e.graph[check.indices].type.dims;
  if (twice == nullptr || dims.empty() || dims[0] != e.batch) return 0;
  if (twice->graph[check.indices].type.dims[0] != twice->batch) return 0;  // as many as rows by chance
  return ir::product(dims) / e.batch / (check.coordinate < 0 ? 1 : dims.back());
}

}  // namespace

std::string reader_of(const Instance& e, ir::NodeId id) {
  const auto at = static_cast<int64_t>(id.index);
  for (const InstanceNode& n : e.nodes) {
    if (n.block || at < n.begin || at >= n.end) continue;
    return n.path == n.op ? n.op : fmt::format("{} '{}'", n.op, n.path);
  }
  return e.graph[id].op->name;
}

int64_t most_places(const ir::Graph& g, const ir::Node& n) {
  const ir::Dims places = places_of(g, n);
  return places.empty() ? 0 : *std::ranges::max_element(places);
}

bool is_never_outside(const ir::Graph& g, ir::NodeId id) {
  const std::vector<IndexCheck> checks = checks_of(g, id, places_of(g, g[id]));
  return std::ranges::all_of(checks, [&](const IndexCheck& check) { return is_held_inside(g, check); });
}

ValueId origin_of(const ir::Graph& g, ValueId v) {
  const auto keeps_all = [](const ir::Node& n) { return n.op->traits.reshapes || n.op->traits.permutation; };
  while (g.def(v) != nullptr && keeps_all(*g.def(v))) v = g.def(v)->operands[0];
  return v;
}

std::vector<IndexCheck> index_checks(const Instance& e, Diagnostics& errors) {
  const ir::Graph& g = e.graph;
  Constant constant(g);
  std::vector<IndexCheck> list;
  for (const ir::NodeId id : g.order) {
    const ir::Dims places = places_of(g, g[id]);
    if (places.empty()) continue;
    for (IndexCheck check : checks_of(g, id, places)) {
      const ir::Tensor* constants = nullptr;
      check.known = is_inside(g, check) || (constants = constant(check.indices)) != nullptr;
      list.push_back(check);
      if (constants == nullptr) continue;
      if (const std::optional<int64_t> index = outside(*constants, check))
        errors.error(g[id].loc,
                     fmt::format("{}: index {} is outside of the {} places along its axis", reader_of(e, id), *index,
                                 check.below),
                     clamp_below(check.below));
    }
  }
  return list;
}

void add_index_checks(ir::Graph& g, const std::vector<IndexCheck>& checks) {
  const auto is_looked_at = [&](const IndexCheck& check) { return !check.known && !g[check.reader].erased; };
  if (std::ranges::none_of(checks, is_looked_at)) return;
  ir::Builder b(g);
  b.prefix = "step.outside.value";
  ir::Values rows;
  int64_t known = 0;  // number of known checks before the current one
  const auto add_known = [&] {
    if (known > 0) rows.push_back(b.constant(-1, {ir::DType::i64, {std::exchange(known, 0), 2}}));
  };
  for (const IndexCheck& check : checks) {
    if (!is_looked_at(check)) {
      ++known;
      continue;
    }
    add_known();
    b.loc = g[check.reader].loc;
    ValueId indices = check.indices;
    if (check.coordinate >= 0) {
      ir::Dims starts(g[indices].type.dims.size(), 0), limits = g[indices].type.dims;
      starts.back() = check.coordinate, limits.back() = check.coordinate + 1;
      indices = b("slice", {indices}, {{"starts", starts}, {"limits", limits}});
    }
    const std::string name = g[g[check.reader].results[0]].name + ".outside";
    rows.push_back(b.reshape(b("first_outside", {indices}, {{"below", check.below}}, name), {1, 2}));
  }
  add_known();
  const ValueId all = rows.size() == 1 ? rows[0] : b("concat", rows, {{"axis", int64_t{0}}});
  g.rename(all, std::string(ir::output_name(ir::OutputRole::outside)));
  g.outputs.push_back(all);
}

std::vector<CheckedIndices> describe(const std::vector<IndexCheck>& checks, const Instance& e, const Instance* twice) {
  std::vector<CheckedIndices> list;
  for (const IndexCheck& check : checks) {
    const ValueId origin = origin_of(e.graph, check.indices);
    const std::string name = fmt::format("'{}'", e.graph[origin].name);
    const int64_t of_each = places_of_row(check, e, twice);
    const bool is_read = e.graph[origin].role == ir::Role::input;
    CheckedIndices told{
        .where = e.graph[check.reader].loc,
        .reader = reader_of(e, check.reader),
        .indices = check.coordinate < 0 ? name : fmt::format("coordinate {} of {}", check.coordinate, name),
        .is_u64 = e.graph[check.indices].type.dtype == ir::DType::u64,
        .below = check.below - of_each * e.batch,
        .below_for_each = of_each,
        .of_row = indices_of_row(check, e, twice),
        .help = of_each != 0 ? kAxisOfTheBatch
                : is_read    ? "correct or remove that row of the data"
                             : clamp_below(least_above(e.graph[origin].type.dtype, check.below))};
    if (const auto made_by = e.made_by.find(origin); made_by != e.made_by.end())
      told.notes.push_back(
          {Severity::note, e.places.at(origin), fmt::format("the indices come from {} here", made_by->second), {}, {}});
    list.push_back(std::move(told));
  }
  return list;
}

}  // namespace heddle::frontend
