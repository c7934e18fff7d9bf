#include "frontend/instantiate/take_body.h"

#include <algorithm>
#include <map>

#include "frontend/instantiate/take_rows.h"
#include "ir/builder.h"
#include "ir/copy_node.h"

namespace heddle::frontend {

using namespace ir;  // NOLINT: this file speaks of little else

namespace {

class Taking {
 public:
  Taking(Graph& g, const Turn& turn, int64_t count, bool draws_anew)
      : g_(g), turn_(turn), count_(count), draws_anew_(draws_anew) {
    taken_.body.body = true;
  }

  TakenBody run(size_t first, const std::string& name) {
    Graph& body = taken_.body;
    body.name = name;
    for (const Turn::Carry& c : turn_.carries) input(c.input, Role::carry);
    for (const ValueId v : turn_.slices) input(v, Role::slice);
    if (turn_.index.valid()) index_ = input(turn_.index, Role::index);
    const std::vector<NodeId> nodes(g_.order.begin() + static_cast<std::ptrdiff_t>(first), g_.order.end());
    for (const NodeId id : nodes) copy(g_[id]);
    for (const Turn::Carry& c : turn_.carries) body.updates.push_back({inner_.at(c.input), inside(c.next)});
    for (const ValueId v : turn_.stacked) body.outputs.push_back(inside(v));
    for (size_t i = nodes.size(); i-- > 0;) g_.erase(nodes[i]);
    std::vector<ValueId> gone = turn_.slices;
    for (const Turn::Carry& c : turn_.carries)
      if (!c.of_graph) gone.push_back(c.input);
    if (turn_.index.valid()) gone.push_back(turn_.index);
    g_.remove_inputs(gone);
    return std::move(taken_);
  }

 private:
  ValueId input(ValueId v, Role role) { return inner_[v] = taken_.body.add_input(g_[v].name, g_[v].type, role); }

  // The value in the body; what the graph has around it is fixed.
  ValueId inside(ValueId v) {
    if (const auto known = inner_.find(v); known != inner_.end()) return known->second;
    const ValueId outer = input(v, Role::fixed);
    taken_.fixed.push_back(v);
    if (!draws_anew_ || g_[v].role != Role::state || g_[v].name != "step") return outer;
    // The number of the turn among those of all steps, so that each draws its own numbers.
    const Type type = g_[v].type;
    if (!index_.valid()) index_ = taken_.body.add_input("turn", {DType::i64, {}}, Role::index);
    Builder b(taken_.body);
    b.prefix = "step.turn";
    const ValueId all = b("mul", {outer, b.constant(static_cast<double>(count_), type)});
    return inner_[v] = b("add", {all, b.cast(index_, type.dtype)});
  }

  void copy(const Node& n) {
    Values operands;
    for (const ValueId v : n.operands) operands.push_back(inside(v));
    const NodeId made = copy_node(taken_.body, g_, n, std::move(operands));
    for (size_t i = 0; i < n.results.size(); ++i) inner_[n.results[i]] = taken_.body[made].results[i];
  }

  Graph& g_;
  const Turn& turn_;
  int64_t count_;
  bool draws_anew_;
  TakenBody taken_;
  std::map<ValueId, ValueId> inner_;
  ValueId index_;  // of the body
};

}  // namespace

TakenBody take_body(Graph& g, size_t first, const Turn& turn, int64_t count, const std::string& name) {
  return Taking(g, turn, count, true).run(first, name);
}

TakenBody take_rows(Graph& g, const Turn& turn, int64_t count, const std::string& name) {
  return Taking(g, turn, count, false).run(0, name);
}

}  // namespace heddle::frontend
