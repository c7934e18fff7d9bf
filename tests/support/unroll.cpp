#include "tests/support/unroll.h"

#include <map>

#include "ir/builder.h"
#include "ir/copy_node.h"
#include "ir/scan.h"

namespace heddle::testing {
using namespace ir;

namespace {

using Known = std::map<ValueId, ValueId>;  // value of the graph that is copied -> of the one that is built

class Unroller {
 public:
  Unroller(const Module& m, Graph& to) : m_(m), b_(to) {}

  void nodes(const Graph& from, Known& known) {
    for (const NodeId id : from.order) {
      const Node& n = from[id];
      Values operands;
      for (const ValueId v : n.operands) operands.push_back(known.at(v));
      const Values results =
          is_scan(n) ? turns_of(n, operands) : b_.graph[copy_node(b_.graph, from, n, operands)].results;
      for (size_t i = 0; i < results.size(); ++i) known[n.results[i]] = results[i];
    }
  }

 private:
  ValueId row_of(ValueId all, const Type& row, int64_t at) {
    Dims starts(b_.type(all).dims.size(), 0), limits = b_.type(all).dims;
    starts[0] = at, limits[0] = at + 1;
    return b_("reshape", {b_("slice", {all}, {{"starts", starts}, {"limits", limits}})}, {{"shape", row.dims}});
  }

  Values turns_of(const Node& n, const Values& operands) {
    const Graph& body = *m_.find_body(n.callee);
    const std::vector<ValueId> inputs = operand_inputs(body), carries = inputs_with(body, Role::carry);
    Known now;
    for (size_t i = 0; i < inputs.size(); ++i) now[inputs[i]] = operands[i];
    std::vector<Values> rows(body.outputs.size(), Values(static_cast<size_t>(turns(n))));
    for (int64_t t = 0; t < turns(n); ++t) {
      const int64_t row = is_reversed(n) ? turns(n) - 1 - t : t;
      Known known = now;
      for (size_t i = 0; i < inputs.size(); ++i)
        if (body[inputs[i]].role == Role::slice) known[inputs[i]] = row_of(operands[i], body[inputs[i]].type, row);
      for (const ValueId v : inputs_with(body, Role::index))
        known[v] =
            b_("constant", {},
               {{"value", static_cast<double>(row)}, {"shape", Dims{}}, {"dtype", to_string(body[v].type.dtype)}});
      nodes(body, known);
      for (const ValueId c : carries) now[c] = known.at(next_of(body, c));
      for (size_t k = 0; k < rows.size(); ++k) {
        const Type one = stacked(body[body.outputs[k]].type, 1);
        rows[k][static_cast<size_t>(row)] = b_("reshape", {known.at(body.outputs[k])}, {{"shape", one.dims}});
      }
    }
    Values results;
    for (const ValueId c : carries) results.push_back(now.at(c));
    for (const Values& all : rows)
      results.push_back(all.size() == 1 ? all[0] : b_("concat", all, {{"axis", int64_t{0}}}));
    return results;
  }

  const Module& m_;
  Builder b_;
};

}  // namespace

Module unrolled(const Module& m) {
  Module out;
  for (const Graph& g : m.graphs) {
    Graph& to = out.graphs.emplace_back();
    to.name = g.name;
    Known known;
    for (const ValueId v : g.inputs) known[v] = to.add_input(g[v].name, g[v].type, g[v].role, g[v].layout);
    Unroller(m, to).nodes(g, known);
    for (const Update& u : g.updates) to.updates.push_back({known.at(u.state), known.at(u.next)});
    for (const ValueId v : g.outputs) to.outputs.push_back(known.at(v));
  }
  return out;
}

}  // namespace heddle::testing
