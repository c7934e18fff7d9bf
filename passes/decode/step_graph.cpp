#include "passes/decode/step_graph.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "ir/builder.h"
#include "ir/check.h"
#include "ir/copy_node.h"
#include "ir/decoding.h"
#include "ir/scan.h"
#include "passes/decode/state_graphs.h"

namespace heddle::passes {
using namespace ir;

namespace {

class Maker {
 public:
  Maker(const Needs& needs, int64_t tokens)
      : needs_(needs), rows_(needs.sizes.rows), tokens_(tokens), b_(done_.graph) {}

  StepGraph run() {
    done_.graph.name = tokens_ == 1 ? "decode" : "prefill";
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

  // The shape of a part: with the tokens of the step, and an axis of rows in front if it depends on the position alone.
  Dims dims_of(const Part& part) const {
    Dims dims = type(part.value).dims;
    for (size_t d = 0; d < part.roles.size(); ++d) {
      if (part.roles[d] == AxisRole::other) continue;
      dims[d] = (has_rows({part.roles[d]}) ? rows_ : 1) * (has_tokens({part.roles[d]}) ? tokens_ : 1);
    }
    if (has_front(part)) dims.insert(dims.begin(), rows_);
    return dims;
  }

  void add_inputs() {
    Graph& g = done_.graph;
    const Value& tokens = f()[needs_.text];
    AxisRoles roles{AxisRole::rows, AxisRole::tokens};
    made_[{needs_.text, roles}] = g.add_input(tokens.name, {tokens.type.dtype, {rows_, tokens_}}, Role::input);
    position_ = g.add_input("position", {DType::i32, {rows_}}, Role::input);
    if (tokens_ > 1) count_ = g.add_input("count", {DType::i32, {rows_}}, Role::input);
    places_ = places();
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

  // i32 [rows,tokens]: the position of each token. The positions of tokens behind `count` are clamped to valid ones.
  ValueId places() {
    b_.prefix = "places";
    const Dims dims{rows_, tokens_};
    if (tokens_ == 1) return b_.reshape(position_, dims);
    const ValueId first = b_("broadcast", {position_}, {{"shape", dims}, {"dims", Dims{0}}});
    const ValueId place = b_("add", {first, b_("iota", {}, {{"shape", dims}, {"axis", int64_t{1}}})});
    return needs_.limited ? b_("min", {place, b_.like(static_cast<double>(needs_.sizes.tokens - 1), place)}) : place;
  }

  void build(NodeId id) {
    const Node& n = f()[id];
    b_.loc = n.loc;
    // The whole value first: other parts may be gathered from it.
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

  // The attributes of the node, with the sizes of the part.
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

  // A broadcast: moves the axes of the operand, including an axis of rows, to their places in the result.
  ValueId spread(const Node& n, const Part& part, const Part& operand) {
    const AxisList to = n.op->traits.spread(n);
    const int64_t shift = has_front(part) ? 1 : 0;
    ValueId v = made(operand);
    std::vector<std::pair<int64_t, int64_t>> axes;  // of the result, of the operand
    const bool front = has_front(operand);
    const bool joins = front && !has_front(part) && rows_axis(part.roles) == tokens_axis(part.roles);
    if (joins) v = joined(v, operand, part.roles[rows_axis(part.roles)]);
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

  // Merges rows and tokens of a part with the rows in front into one leading axis, in this order.
  ValueId joined(ValueId v, const Part& part, AxisRole order) {
    const auto tokens = static_cast<int64_t>(tokens_axis(part.roles)) + 1;
    AxisList perm{0, tokens};
    if (order == AxisRole::tokens_rows) std::swap(perm[0], perm[1]);
    for (int64_t d = 1; d < static_cast<int64_t>(b_.type(v).dims.size()); ++d)
      if (d != tokens) perm.push_back(d);
    v = transposed(v, perm);
    Dims dims = b_.type(v).dims;
    dims.erase(dims.begin());
    dims[0] = rows_ * tokens_;
    return b_.reshape(v, dims);
  }

  ValueId transposed(ValueId v, const AxisList& perm) {
    return std::ranges::is_sorted(perm) ? v : b_("transpose", {v}, {{"perm", perm}});
  }

  // i32 [rows * tokens]: the indices of the step's tokens along an axis of the whole value with this role.
  ValueId place(AxisRole role, int64_t tokens) {
    const Dims all{rows_ * tokens_};
    if (role == AxisRole::tokens) return b_.reshape(places_, all);
    const ValueId row = b_("iota", {}, {{"shape", Dims{rows_, tokens_}}, {"axis", int64_t{0}}});
    const bool rows_first = role == AxisRole::rows_tokens;
    const ValueId outer = rows_first ? row : places_, inner = rows_first ? places_ : row;
    const ValueId stride = b_.like(static_cast<double>(rows_first ? tokens : rows_), outer);
    const ValueId at = b_("add", {b_("mul", {outer, stride}), inner});
    return b_.reshape(rows_first || tokens_ == 1 ? at : transposed(at, {1, 0}), all);
  }

  // Gathers the part at the current positions from a whole value.
  ValueId gathered(ValueId whole, const Part& part) {
    const Dims dims = b_.type(whole).dims;
    const auto rank = static_cast<int64_t>(dims.size());
    const auto axis = static_cast<int64_t>(tokens_axis(part.roles)), rows = static_cast<int64_t>(rows_axis(part.roles));
    if (rows == axis)
      return b_("gather", {whole, place(part.roles[static_cast<size_t>(axis)], needs_.sizes.tokens)}, {{"axis", axis}});
    const bool front = has_front(part);
    AxisList perm;  // moves rows and tokens to the front
    if (!front) perm.push_back(rows);
    perm.push_back(axis);
    for (int64_t d = 0; d < rank; ++d)
      if (d != axis && (front || d != rows)) perm.push_back(d);
    ValueId v = transposed(whole, perm);
    if (!front) {
      Dims both = b_.type(v).dims;
      both[1] *= both[0];
      both.erase(both.begin());
      v = b_.reshape(v, both);
    }
    v = b_("gather", {v, place(front ? AxisRole::tokens : AxisRole::rows_tokens, dims[static_cast<size_t>(axis)])});
    Dims apart = b_.type(v).dims;  // rows, tokens, then the others in their order
    apart[0] = rows_;
    apart.insert(apart.begin() + 1, tokens_);
    AxisList back(apart.size());
    if (front) perm.insert(perm.begin(), -1);  // the axis of rows, which the whole value does not have
    for (size_t i = 0; i < perm.size(); ++i)
      back[static_cast<size_t>(perm[i] + (front ? 1 : 0))] = static_cast<int64_t>(i);
    return transposed(b_.reshape(v, apart), back);
  }

  DecodeStep step() {
    return {
        .b = b_,
        .tokens = tokens_,
        .places = places_,
        .count = count_,
        .state = [this](const std::string& name, const Type& of) { return add_state(name, of, StepGraph::kOutermost); },
        .update =
            [this](ValueId state, ValueId next) {
              done_.graph.updates.push_back({state, next});
            }};
  }

  ValueId recorded(const Node& n) {
    Values operands;
    for (size_t i = 0; i < n.operands.size(); ++i) operands.push_back(made(record_part(f(), n, i, needs_.sizes)));
    DecodeStep to = step();
    return n.op->decoding->build(to, signature(f(), n), f()[n.results[0]].name, operands);
  }

  ValueId add_state(const std::string& name, const Type& of, int64_t axis) {
    const ValueId state = done_.graph.add_input(name, of, Role::state);
    done_.states.emplace_back(state, axis);
    return state;
  }

  // The value of a carry in this turn: its start value for rows at position 0, otherwise the state.
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
    std::vector<std::pair<ValueId, ValueId>> states;  // carry of the body, state of the step
    Values operands;
    for (const ValueId of_body : operand_inputs(body)) {
      const Value& input = body[of_body];
      const ValueId operand = n.operands[operands.size()];
      AxisRoles roles = rows.roles(of_body);
      if (input.role == Role::slice) {
        roles.insert(roles.begin(), AxisRole::tokens);
        operands.push_back(made(part_of(operand, roles)));
        continue;
      }
      operands.push_back(made({operand, {}}));
      if (input.role != Role::carry) continue;
      if (!has_rows(roles)) refuse_node(f(), n, "carries what no text has of its own");
      const ValueId state = add_state(input.name + ".carried", input.type, static_cast<int64_t>(rows_axis(roles)));
      states.emplace_back(of_body, state);
      operands.back() = carried(operands.back(), state, roles);
    }
    const Values results = tokens_ == 1 ? one_turn(body, std::move(operands)) : turns_of(n, rows, std::move(operands));
    for (size_t i = 0; i < states.size(); ++i) done_.graph.updates.push_back({states[i].second, results[i]});
    for (size_t r = states.size(); r < n.results.size(); ++r) {
      const auto found = needs_.parts.find(n.results[r]);
      if (found == needs_.parts.end()) continue;
      for (const Part& part : found->second) made_[part] = b_.reshape(results[r], dims_of(part));
    }
  }

  // Inlines one turn of the body. Returns the next values of the carries, then the outputs.
  Values one_turn(const Graph& body, Values operands) {
    std::map<ValueId, ValueId> here;  // value of the body -> value of the step
    const Values inputs = operand_inputs(body);
    for (size_t i = 0; i < inputs.size(); ++i) here[inputs[i]] = b_.reshape(operands[i], body[inputs[i]].type.dims);
    for (const NodeId id : body.order) {
      const Node& inner = body[id];
      Values of_inner;
      for (const ValueId v : inner.operands) of_inner.push_back(here.at(v));
      const NodeId copy = copy_node(done_.graph, body, inner, std::move(of_inner));
      for (size_t r = 0; r < inner.results.size(); ++r) here[inner.results[r]] = done_.graph[copy].results[r];
    }
    Values results;
    for (const ValueId carry : inputs_with(body, Role::carry)) results.push_back(here.at(next_of(body, carry)));
    for (const ValueId v : body.outputs) results.push_back(here.at(v));
    return results;
  }

  // Adds a scan over the tokens of the step. Behind the last valid token of a row, its carries stay unchanged.
  Values turns_of(const Node& n, const ScanRows& rows, Values operands) {
    Graph body = rows.body();
    body.name += "_prefill" + std::to_string(done_.bodies.size());
    const ValueId count = body.add_input("count", {DType::i32, {rows_}}, Role::fixed);
    const Values counted = inputs_with(body, Role::index);
    const ValueId turn = counted.empty() ? body.add_input("turn", {DType::i32, {}}, Role::index) : counted[0];
    Builder b(body);
    b.prefix = "there";
    const Dims each{rows_};
    const ValueId number = b("broadcast", {b.cast(turn, DType::i32)}, {{"shape", each}, {"dims", Dims{}}});
    const ValueId there = b("lt", {number, count});
    for (size_t i = 0; i < body.updates.size(); ++i) {
      const Update u = body.updates[i];
      const auto axis = static_cast<int64_t>(rows_axis(rows.roles(u.state)));
      const ValueId everywhere = b("broadcast", {there}, {{"shape", b.type(u.state).dims}, {"dims", Dims{axis}}});
      body.updates.set_next(i, b("select", {everywhere, u.next, u.state}));
    }
    operands.push_back(count_);
    std::vector<std::string> names;
    for (const ValueId v : n.results) names.push_back(f()[v].name);
    const NodeId scan = add_scan(done_.graph, body, operands, scan_attrs(tokens_, /*reverse=*/false), names, n.loc);
    done_.bodies.push_back(std::move(body));
    return done_.graph[scan].results;
  }

  const Needs& needs_;
  const int64_t rows_, tokens_;  // sizes of the step
  StepGraph done_;
  Builder b_;
  ValueId position_, count_;  // by row: the position of its first token; with several tokens, the number of valid ones
  ValueId places_;
  std::map<Part, ValueId> made_;
};

}  // namespace

StepGraph step_graph(const Needs& needs, int64_t tokens) { return Maker(needs, tokens).run(); }

}  // namespace heddle::passes
