#include "passes/decode/step_graph.h"

#include <algorithm>
#include <map>

#include "ir/builder.h"
#include "ir/check.h"
#include "ir/copy_node.h"
#include "ir/decoding.h"
#include "ir/scan.h"

namespace heddle::passes {
using namespace ir;

namespace {

std::string kept_name(const Graph& f, ValueId v) { return f[v].name + ".kept"; }

class Maker {
 public:
  explicit Maker(const Needs& needs) : needs_(needs), b_(done_.graph) {}

  StepGraph run() {
    done_.graph.name = "decode";
    add_inputs();
    for (const NodeId n : f().order) build(n);
    done_.graph.outputs = {made(needs_.result)};
    return std::move(done_);
  }

 private:
  const Graph& f() const { return needs_.forward; }
  const Type& type(ValueId v) const { return f()[v].type; }

  ValueId made(const Part& part) const {
    const auto found = made_.find(part);
    HEDDLE_CHECK(found != made_.end(), "parts are made before they are read");
    return found->second;
  }

  // Of a part: tokens are one, and what depends on the position alone has the rows in front.
  Dims dims_of(const Part& part) const {
    Dims dims = type(part.value).dims;
    for (size_t d = 0; d < part.roles.size(); ++d) {
      if (part.roles[d] == AxisRole::tokens) dims[d] = 1;
      if (has_rows({part.roles[d]})) dims[d] = needs_.sizes.rows;
    }
    if (has_front(part)) dims.insert(dims.begin(), needs_.sizes.rows);
    return dims;
  }

  void add_inputs() {
    Graph& g = done_.graph;
    const Value& tokens = f()[needs_.text];
    AxisRoles roles{AxisRole::rows, AxisRole::tokens};
    made_[{needs_.text, roles}] = g.add_input(tokens.name, {tokens.type.dtype, {needs_.sizes.rows, 1}}, Role::input);
    position_ = g.add_input("position", {DType::i32, {needs_.sizes.rows}}, Role::input);
    for (const ValueId v : needs_.kept) made_[{v, {}}] = g.add_input(kept_name(f(), v), type(v), Role::state);
    for (const ValueId v : f().inputs) {
      const auto found = needs_.parts.find(v);
      if (found == needs_.parts.end()) continue;
      const std::vector<Part> parts = found->second;
      for (const Part& part : parts) {
        if (v == needs_.text) continue;
        const auto [whole, is_new] = made_.try_emplace(Part{v, {}});
        if (is_new) whole->second = g.add_input(f()[v].name, f()[v].type, f()[v].role, f()[v].layout);
        if (is_whole(part)) continue;
        b_.prefix = f()[v].name + ".here";
        made_[part] = gathered(whole->second, part);
      }
    }
  }

  void build(NodeId id) {
    const Node& n = f()[id];
    b_.loc = n.loc;
    // The whole first: other parts may be taken out of it.
    for (const bool wholes : {true, false})
      for (size_t r = 0; r < n.results.size(); ++r) {
        const auto found = needs_.parts.find(n.results[r]);
        if (found == needs_.parts.end()) continue;
        b_.prefix = f()[n.results[r]].name;
        for (const Part& part : found->second)
          if (is_whole(part) == wholes && made_.count(part) == 0) build_part(n, r, part);
      }
  }

  void build_part(const Node& n, size_t result, const Part& part) {
    switch (needs_.ways.at(part)) {
      case Way::whole: return copy_whole(n);
      case Way::kept: HEDDLE_CHECK(false, "states are there before the nodes");
      case Way::gathered: made_[part] = gathered(made({part.value, {}}), part); return;
      case Way::record: made_[part] = recorded(n); return;
      case Way::turn: return take_turn(n);
      case Way::node: made_[part] = same_node(n, result, part);
    }
  }

  void copy_whole(const Node& n) {
    Values operands;
    for (const ValueId v : n.operands) operands.push_back(made({v, {}}));
    const NodeId copy = copy_node(done_.graph, f(), n, std::move(operands));
    for (size_t r = 0; r < n.results.size(); ++r) made_[{n.results[r], {}}] = done_.graph[copy].results[r];
  }

  ValueId same_node(const Node& n, size_t result, const Part& part) {
    std::vector<Part> parts;
    for (size_t i = 0; i < n.operands.size(); ++i)
      parts.push_back(part_of(n.operands[i], *operand_roles(f(), n, result, i, part.roles, needs_.sizes)));
    if (n.op->traits.spread != nullptr) return spread(n, part, parts[0]);
    Values operands;
    for (const Part& operand : parts) operands.push_back(made(operand));
    const Type expected{type(part.value).dtype, dims_of(part)};
    const Values results = b_.multi(n.op->name, operands, attributes(n, part, expected.dims), {f()[part.value].name});
    if (b_.type(results[result]) != expected) refuse_node(f(), n, "has sizes that are not known of one token");
    return results[result];
  }

  // Those that hold sizes hold the ones of the part.
  Attrs attributes(const Node& n, const Part& part, const Dims& dims) const {
    Attrs attrs = n.attrs;
    if (const auto shape = attrs.find("shape"); shape != attrs.end() && std::holds_alternative<Dims>(shape->second))
      shape->second = dims;
    if (n.op->traits.slice != nullptr) {
      Dims limits = n.op->traits.slice(n).limits;
      for (size_t d = 0; d < part.roles.size(); ++d)
        if (part.roles[d] != AxisRole::other) limits[d] = dims[d];
      attrs["limits"] = limits;
    }
    if (n.op->traits.joined_along != nullptr && has_front(part))
      attrs["axis"] = normal_axis(n.op->traits.joined_along(n), static_cast<int64_t>(part.roles.size())) + 1;
    return attrs;
  }

  // Axes of the operand, with those of its rows, go where the result has them.
  ValueId spread(const Node& n, const Part& part, const Part& operand) {
    const AxisList to = n.op->traits.spread(n);
    const int64_t shift = has_front(part) ? 1 : 0;
    ValueId v = made(operand);
    std::vector<std::pair<int64_t, int64_t>> axes;  // of the result, of the operand
    const bool front = has_front(operand);
    const bool joins = front && !has_front(part) && rows_axis(part.roles) == tokens_axis(part.roles);
    if (joins) {  // the axis of one token, which the rows' axis becomes
      Dims dims = b_.type(v).dims;
      dims.erase(dims.begin() + 1 + static_cast<std::ptrdiff_t>(tokens_axis(operand.roles)));
      v = b_.reshape(v, dims);
    }
    int64_t next = 0;
    if (front) axes.emplace_back(has_front(part) ? 0 : static_cast<int64_t>(rows_axis(part.roles)), next++);
    for (size_t i = 0; i < to.size(); ++i) {
      if (joins && i == tokens_axis(operand.roles)) continue;
      axes.emplace_back(to[i] + shift, next++);
    }
    std::ranges::sort(axes);
    AxisList perm, dims;
    for (const auto& [of_result, of_operand] : axes) {
      perm.push_back(of_operand);
      dims.push_back(of_result);
    }
    return b_("broadcast", {transposed(v, perm)}, {{"shape", dims_of(part)}, {"dims", dims}}, f()[part.value].name);
  }

  ValueId transposed(ValueId v, const AxisList& perm) {
    return std::ranges::is_sorted(perm) ? v : b_("transpose", {v}, {{"perm", perm}});
  }

  // i32 [rows]: the place of each row's token where rows and tokens lie in one axis, as `role` has them.
  ValueId place(AxisRole role, int64_t tokens) {
    if (role == AxisRole::tokens) return position_;
    const ValueId row = b_("iota", {}, {{"shape", Dims{needs_.sizes.rows}}});
    const bool rows_first = role == AxisRole::rows_tokens;
    const ValueId outer = rows_first ? row : position_, inner = rows_first ? position_ : row;
    const ValueId stride = b_.like(static_cast<double>(rows_first ? tokens : needs_.sizes.rows), outer);
    return b_("add", {b_("mul", {outer, stride}), inner});
  }

  // The part of a whole value at the rows' positions.
  ValueId gathered(ValueId whole, const Part& part) {
    const Dims dims = b_.type(whole).dims;
    const auto rank = static_cast<int64_t>(dims.size());
    const auto axis = static_cast<int64_t>(tokens_axis(part.roles)), rows = static_cast<int64_t>(rows_axis(part.roles));
    if (rows == axis)
      return b_("gather", {whole, place(part.roles[static_cast<size_t>(axis)], needs_.sizes.tokens)}, {{"axis", axis}});
    AxisList perm, back(dims.size());
    if (!has_front(part)) perm.push_back(rows);
    perm.push_back(axis);
    for (int64_t d = 0; d < rank; ++d)
      if (d != axis && (has_front(part) || d != rows)) perm.push_back(d);
    ValueId v = transposed(whole, perm);
    if (!has_front(part)) {
      Dims joined = b_.type(v).dims;
      joined[1] *= joined[0];
      joined.erase(joined.begin());
      v = b_.reshape(v, joined);
    }
    v = b_("gather",
           {v, place(has_front(part) ? AxisRole::tokens : AxisRole::rows_tokens, dims[static_cast<size_t>(axis)])});
    Dims apart = b_.type(v).dims;  // rows, then the others in their order
    if (has_front(part)) {
      apart.insert(apart.begin() + 1 + axis, 1);
      return b_.reshape(v, apart);
    }
    apart.insert(apart.begin() + 1, 1);
    for (size_t i = 0; i < perm.size(); ++i) back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
    return transposed(b_.reshape(v, apart), back);
  }

  DecodeStep step() {
    return {
        .b = b_,
        .position = position_,
        .state = [this](const std::string& name, const Type& of) { return add_state(name, of, StepGraph::kOutermost); },
        .update =
            [this](ValueId state, ValueId next) {
              done_.graph.updates.push_back({state, next});
            }};
  }

  ValueId recorded(const Node& n) {
    Values operands;
    for (const ValueId v : n.operands) {
      AxisRoles roles(type(v).dims.size(), AxisRole::other);
      roles[0] = AxisRole::rows, roles[1] = AxisRole::tokens;
      operands.push_back(made({v, roles}));
    }
    DecodeStep to = step();
    return n.op->decoding->build(to, signature(f(), n), f()[n.results[0]].name, operands);
  }

  ValueId add_state(const std::string& name, const Type& of, int64_t axis) {
    const ValueId state = done_.graph.add_input(name, of, Role::state);
    done_.states.emplace_back(state, axis);
    return state;
  }

  // What a carry is in this turn: its start where the row begins anew.
  ValueId carried(ValueId start, ValueId state, const AxisRoles& roles) {
    const Dims dims = b_.type(state).dims;
    const ValueId first = b_("eq", {position_, b_.like(0, position_)});
    const ValueId begins =
        b_("broadcast", {first}, {{"shape", dims}, {"dims", Dims{static_cast<int64_t>(rows_axis(roles))}}});
    return b_("select", {begins, start, state});
  }

  void take_turn(const Node& n) {
    const ScanRows& rows = needs_.scans.at(n.results[0]);
    const Graph& body = rows.body();
    std::map<ValueId, ValueId> here;  // of the body, in the step
    std::vector<std::pair<ValueId, ValueId>> states;
    const Values inputs = operand_inputs(body);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Value& input = body[inputs[i]];
      if (input.role == Role::slice) {
        AxisRoles roles = rows.roles(inputs[i]);
        roles.insert(roles.begin(), AxisRole::tokens);
        here[inputs[i]] = b_.reshape(made(part_of(n.operands[i], roles)), input.type.dims);
        continue;
      }
      here[inputs[i]] = made({n.operands[i], {}});
      if (input.role != Role::carry) continue;
      if (!has_rows(rows.roles(inputs[i]))) refuse_node(f(), n, "carries what no text has of its own");
      const auto axis = static_cast<int64_t>(rows_axis(rows.roles(inputs[i])));
      const ValueId state = add_state(input.name + ".carried", input.type, axis);
      states.emplace_back(inputs[i], state);
      here[inputs[i]] = carried(here[inputs[i]], state, rows.roles(inputs[i]));
    }
    for (const NodeId id : body.order) {
      const Node& inner = body[id];
      Values operands;
      for (const ValueId v : inner.operands) operands.push_back(here.at(v));
      const NodeId copy = copy_node(done_.graph, body, inner, std::move(operands));
      for (size_t r = 0; r < inner.results.size(); ++r) here[inner.results[r]] = done_.graph[copy].results[r];
    }
    for (const auto& [carry, state] : states) done_.graph.updates.push_back({state, here.at(next_of(body, carry))});
    const size_t carries = inputs_with(body, Role::carry).size();
    for (size_t r = carries; r < n.results.size(); ++r) {
      const auto found = needs_.parts.find(n.results[r]);
      if (found == needs_.parts.end()) continue;
      for (const Part& part : found->second)
        made_[part] = b_.reshape(here.at(body.outputs[r - carries]), dims_of(part));
    }
  }

  const Needs& needs_;
  StepGraph done_;
  Builder b_;
  ValueId position_;
  std::map<Part, ValueId> made_;
};

}  // namespace

Graph encode_graph(const Needs& needs) {
  const Graph& f = needs.forward;
  std::vector<char> needed(f.value_count(), 0);
  for (const ValueId v : needs.kept) needed[index_of(v)] = 1;
  const auto is_needed = [&](ValueId v) { return needed[index_of(v)] != 0; };
  for (size_t i = f.order.size(); i-- > 0;) {
    const Node& n = f[f.order[i]];
    if (std::ranges::any_of(n.results, is_needed))
      for (const ValueId v : n.operands) needed[index_of(v)] = 1;
  }
  Graph g;
  g.name = "encode";
  std::map<ValueId, ValueId> made;
  for (const ValueId v : f.inputs)
    if (is_needed(v)) made[v] = g.add_input(f[v].name, f[v].type, f[v].role, f[v].layout);
  for (const NodeId id : f.order) {
    const Node& n = f[id];
    if (!std::ranges::any_of(n.results, is_needed)) continue;
    Values operands;
    for (const ValueId v : n.operands) operands.push_back(made.at(v));
    const NodeId copy = copy_node(g, f, n, std::move(operands));
    for (size_t r = 0; r < n.results.size(); ++r) made[n.results[r]] = g[copy].results[r];
  }
  for (const ValueId v : needs.kept)
    g.updates.push_back({g.add_input(kept_name(f, v), f[v].type, Role::state), made.at(v)});
  return g;
}

StepGraph step_graph(const Needs& needs) { return Maker(needs).run(); }

Graph reorder_graph(const StepGraph& step, int64_t count) {
  Graph g;
  g.name = "reorder";
  Builder b(g);
  const ValueId from = g.add_input("from", {DType::i32, {count}}, Role::input);
  for (const auto& [of_step, axis] : step.states) {
    const Value& known = step.graph[of_step];
    b.prefix = known.name + ".next";
    const ValueId state = g.add_input(known.name, known.type, Role::state);
    const Dims apart{count, known.type.elements() / count};
    const ValueId rows = axis == StepGraph::kOutermost ? b.reshape(state, apart) : state;
    const ValueId turned = b("gather", {rows, from}, {{"axis", std::max<int64_t>(axis, 0)}});
    g.updates.push_back({state, b.reshape(turned, known.type.dims)});
  }
  return g;
}

}  // namespace heddle::passes
