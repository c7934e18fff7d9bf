#include "codegen/feeding.h"

#include <algorithm>

#include "ir/cursor.h"

namespace heddle::codegen {

using namespace ir;  // NOLINT: this file speaks of little else

std::vector<FedValue> fed_values(const Module& m, const Graph& entry) {
  std::vector<FedValue> all;
  for (const NodeId id : entry.order) {
    const Node& call = entry[id];
    const Graph* kernel = m.find_kernel(call.callee);
    if (kernel == nullptr) continue;
    for (size_t i = 0; i < kernel->outputs.size(); ++i) {
      const ValueId made = kernel->outputs[i];
      const Node* n = kernel->def(made);
      if (n != nullptr && n->op->traits.gathers_rows && (*kernel)[made].result_index == 0)
        all.push_back({fed_input(*n), call.results[i]});
    }
  }
  return all;
}

namespace {

int64_t records_of(const Module& m) {
  for (const Graph& k : m.kernels)
    for (const NodeId id : k.order)
      if (const auto records = k[id].op->traits.records) return records(k[id]);
  return 0;
}

}  // namespace

Feeding feeding(const Module& m, const StateTable& states) {
  Feeding f;
  if (states.cursor < 0) return f;
  f.cursor = {Segment::state, states.cursor};
  int64_t cursor_size = 0, ring_size = 0;
  for (const Graph& g : m.graphs) {
    for (const ValueId v : g.inputs) {
      if (g[v].role == Role::cursor) cursor_size = g[v].type.elements();
      if (g[v].role == Role::ring) ring_size = g[v].type.elements();
    }
    for (const FedValue& fed : fed_values(m, g)) {
      const auto number = static_cast<size_t>(fed.fed.number);
      f.columns.resize(std::max(f.columns.size(), number + 1));
      f.columns[number] = {fed.fed.column.input, to_string(fed.fed.column.stored)};
    }
  }
  f.draws = cursor_size > cursor_words(std::ssize(f.columns), /*draws=*/false);
  f.records = records_of(m);
  f.norms = ring_size > ring_words(f.records, /*norms=*/false);
  f.scales = ring_size > ring_words(f.records, /*norms=*/true);
  return f;
}

}  // namespace heddle::codegen
