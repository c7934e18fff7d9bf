#include "passes/decode/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "ir/check.h"
#include "ir/copy_node.h"
#include "ir/decoding.h"
#include "ir/scan.h"
#include "passes/decode/axis_roles.h"
#include "passes/decode/scan_rows.h"
#include "passes/decompose.h"

namespace heddle::passes {
using namespace ir;

namespace {

// A part of a value that a step needs: that of its token, whose axes have these roles, or, without roles, the whole.
struct Part {
  ValueId value;
  AxisRoles roles;
  auto operator<=>(const Part&) const = default;
};

Part part_of(ValueId v, AxisRoles roles) {
  if (!has_tokens(roles)) roles.clear();
  return {v, std::move(roles)};
}
bool is_whole(const Part& part) { return part.roles.empty(); }
// Of what depends on the position and on no row: a step has it for each row, in front of its own axes.
bool has_front(const Part& part) { return has_tokens(part.roles) && !has_rows(part.roles); }

size_t tokens_axis(const AxisRoles& roles) {
  return static_cast<size_t>(std::ranges::find_if(roles, [](AxisRole role) { return has_tokens({role}); }) -
                             roles.begin());
}
size_t rows_axis(const AxisRoles& roles) {
  return static_cast<size_t>(std::ranges::find_if(roles, [](AxisRole role) { return has_rows({role}); }) -
                             roles.begin());
}

// How a part is made.
enum class Way {
  whole,    // as it is in the forward graph
  node,     // by the same operator, of parts of its operands
  record,   // by the operator's record of decoding
  turn,     // by the body of a scan
  gathered  // out of the whole
};

class Decoder {
 public:
  Decoder(const Module& m, const Graph& forward, size_t result) : m_(m), f_(forward), b_(done_.graph) {
    decompose_nodes(f_, [&](NodeId n) { return f_[n].op->decoding == nullptr; });
    for (const ValueId v : f_.inputs)
      if (f_[v].role == Role::input) tokens_ = v;
    result_ = f_.outputs[result];
    const Dims& dims = f_[tokens_].type.dims;
    sizes_ = {.rows = dims[0], .tokens = dims[1]};
  }

  Decoded run() {
    find_dependent();
    AxisRoles roles(f_[result_].type.dims.size(), AxisRole::other);
    roles[0] = AxisRole::rows, roles[1] = AxisRole::tokens;
    const Part last = part_of(result_, roles);
    ask(last, {});
    for (size_t i = f_.order.size(); i-- > 0;) ask_operands(f_.order[i]);
    if (fault_) throw UserError(*fault_);
    done_.graph.name = "decode";
    add_inputs();
    for (const NodeId n : f_.order) build(n);
    done_.graph.outputs = {made(last)};
    if (limited_) done_.context = sizes_.tokens;
    if (!states_.empty()) done_.reorder = reorder();
    return std::move(done_);
  }

 private:
  bool depends(ValueId v) const { return dependent_[index_of(v)] != 0; }
  const Type& type(ValueId v) const { return f_[v].type; }

  void find_dependent() {
    dependent_.assign(f_.value_count(), 0);
    dependent_[index_of(tokens_)] = 1;
    for (const NodeId id : f_.order) {
      const Node& n = f_[id];
      if (std::ranges::any_of(n.operands, [&](ValueId v) { return depends(v); }))
        for (const ValueId v : n.results) dependent_[index_of(v)] = 1;
    }
  }

  [[noreturn]] void refuse(const Node& n, const std::string& reason, const std::string& help = {}) const {
    throw UserError(n.loc,
                    fmt::format("'{}' {}: the next token cannot be computed alone", f_[n.results[0]].name, reason),
                    help.empty() ? "a model that generates has layers of single tokens, causal attention and recurrent "
                                   "layers in one direction"
                                 : help);
  }

  // --- which parts are needed, from the result backward

  void ask(Part part, const Node* reader) {
    if (is_whole(part) && depends(part.value)) {
      HEDDLE_CHECK(reader != nullptr, "a result has tokens");
      refuse(*reader, "reads a whole text at once");
    }
    std::vector<Part>& list = asked_[part.value];
    if (std::ranges::find(list, part) == list.end()) list.push_back(std::move(part));
  }

  void ask_operands(NodeId id) {
    const Node& n = f_[id];
    for (size_t r = 0; r < n.results.size(); ++r) {
      const auto found = asked_.find(n.results[r]);
      if (found == asked_.end()) continue;
      try {
        for (size_t i = 0; i < found->second.size(); ++i) {  // a part may ask for the whole, behind it
          const Part part = found->second[i];
          ways_[part] = ask_for(n, r, part);
        }
      } catch (const UserError& error) {  // the first node of the model is told, which is the last one here
        fault_ = error;
      }
    }
  }

  Way ask_for(const Node& n, size_t result, const Part& part) {
    if (is_whole(part)) return ask_whole(n);
    if (n.op->traits.splat != nullptr) return Way::node;
    if (!depends(part.value)) return ask_position(n, result, part);
    if (n.op->decoding != nullptr) return ask_record(n, result, part, *n.op->decoding);
    if (is_scan(n)) return ask_turn(n, result, part);
    for (size_t i = 0; i < n.operands.size(); ++i) {
      const auto roles = operand_roles(f_, n, result, i, part.roles, sizes_);
      if (!roles) refuse(n, "reads other tokens than its own, or other texts");
      const Part operand = part_of(n.operands[i], *roles);
      if (has_front(operand) && (depends(operand.value) || n.op->traits.spread == nullptr))
        refuse(n, "mixes tokens and positions in a way that is not known");
      ask(operand, &n);
    }
    return Way::node;
  }

  Way ask_whole(const Node& n) {
    for (const ValueId v : n.operands) ask({v, {}}, &n);
    return Way::whole;
  }

  // Of what does not depend on the tokens. Operators that only bring it into shape stay, the rest is computed for all
  // positions: then the one that is there is taken out.
  Way ask_position(const Node& n, size_t result, const Part& part) {
    std::vector<Part> operands;
    bool stays = std::holds_alternative<Elementwise>(n.op->kind) || n.op->traits.spread != nullptr ||
                 n.op->traits.reshapes || (n.op->traits.joined_along != nullptr && has_front(part));
    for (size_t i = 0; stays && i < n.operands.size(); ++i) {
      const auto roles = operand_roles(f_, n, result, i, part.roles, sizes_);
      stays = roles.has_value();
      if (!stays) break;
      operands.push_back(part_of(n.operands[i], *roles));
      const bool front = has_front(operands.back()), whole = is_whole(operands.back());
      stays = n.op->traits.spread != nullptr || (front == has_front(part) && !whole);
    }
    if (!stays) {
      limited_ = true;
      ask({part.value, {}}, &n);
      return Way::gathered;
    }
    for (const Part& operand : operands) ask(operand, &n);
    return Way::node;
  }

  Way ask_record(const Node& n, size_t result, const Part& part, const Decoding& decoding) {
    const DecodeRefusal refusal = decoding.refusal(signature(f_, n));
    if (!refusal.reason.empty()) refuse(n, refusal.reason, refusal.help);
    AxisRoles roles(part.roles.size(), AxisRole::other);
    roles[0] = AxisRole::rows, roles[1] = AxisRole::tokens;
    if (result != 0 || part.roles != roles) refuse(n, "has results that are read across tokens");
    for (const ValueId v : n.operands) {
      AxisRoles own(type(v).dims.size(), AxisRole::other);
      if (own.size() < 2 || !depends(v)) refuse(n, "reads what is no sequence");
      own[0] = AxisRole::rows, own[1] = AxisRole::tokens;
      ask({v, own}, &n);
    }
    limited_ = true;
    return Way::record;
  }

  // All stacked results of a scan are asked for before its operands: their parts agree, or the scan is refused.
  Way ask_turn(const Node& n, size_t result, const Part& part) {
    if (is_reversed(n))
      refuse(n, "goes from the last token to the first", "leave \"reverse\" and \"bidirectional\" out");
    if (part.roles[0] != AxisRole::tokens) refuse(n, "does not take a token in each of its turns");
    const auto [at, is_new] = scans_.try_emplace(n.results[0], *m_.find_body(n.callee), sizes_.rows);
    ScanRows& rows = at->second;
    const size_t carries = inputs_with(rows.body(), Role::carry).size();
    HEDDLE_CHECK(result >= carries, "a carry's last value has no tokens");
    if (!rows.ask(result - carries, {part.roles.begin() + 1, part.roles.end()}))
      refuse(n, "computes across texts, or in a way that is not known");
    if (rows.reads_index()) refuse(n, "reads the number of its turn");
    const Values inputs = operand_inputs(rows.body());
    for (size_t i = 0; i < inputs.size(); ++i) {
      AxisRoles roles;
      if (rows.body()[inputs[i]].role == Role::slice) {
        roles = rows.roles(inputs[i]);
        roles.insert(roles.begin(), AxisRole::tokens);
        if (depends(n.operands[i]) && !has_rows(roles))
          refuse(n, "computes across texts, or in a way that is not known");
      }
      const Part operand = part_of(n.operands[i], roles);
      if (has_front(operand)) refuse(n, "takes slices that are the same for all texts");
      ask(operand, &n);
    }
    return Way::turn;
  }

  // --- the graph of a step, forward

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
      if (has_rows({part.roles[d]})) dims[d] = sizes_.rows;
    }
    if (has_front(part)) dims.insert(dims.begin(), sizes_.rows);
    return dims;
  }

  void add_inputs() {
    Graph& g = done_.graph;
    const Value& tokens = f_[tokens_];
    AxisRoles roles{AxisRole::rows, AxisRole::tokens};
    made_[{tokens_, roles}] = g.add_input(tokens.name, {tokens.type.dtype, {sizes_.rows, 1}}, Role::input);
    position_ = g.add_input("position", {DType::i32, {sizes_.rows}}, Role::input);
    for (const ValueId v : f_.inputs) {
      const auto found = asked_.find(v);
      if (found == asked_.end()) continue;
      const std::vector<Part> parts = found->second;
      for (const Part& part : parts) {
        if (v == tokens_ && part.roles != roles)
          throw UserError(Location{}, fmt::format("input '{}' is not read token by token", tokens.name));
        if (v == tokens_) continue;
        const auto [whole, is_new] = made_.try_emplace(Part{v, {}});
        if (is_new) whole->second = g.add_input(f_[v].name, f_[v].type, f_[v].role, f_[v].layout);
        if (is_whole(part)) continue;
        limited_ = true;
        b_.prefix = f_[v].name + ".here";
        made_[part] = gathered(whole->second, part);
      }
    }
  }

  void build(NodeId id) {
    const Node& n = f_[id];
    b_.loc = n.loc;
    // The whole first: other parts may be taken out of it.
    for (const bool wholes : {true, false})
      for (size_t r = 0; r < n.results.size(); ++r) {
        const auto found = asked_.find(n.results[r]);
        if (found == asked_.end()) continue;
        b_.prefix = f_[n.results[r]].name;
        for (const Part& part : found->second)
          if (is_whole(part) == wholes && made_.count(part) == 0) build_part(n, r, part);
      }
  }

  void build_part(const Node& n, size_t result, const Part& part) {
    switch (ways_.at(part)) {
      case Way::whole: return copy_whole(n);
      case Way::gathered: made_[part] = gathered(made({part.value, {}}), part); return;
      case Way::record: made_[part] = recorded(n); return;
      case Way::turn: return take_turn(n);
      case Way::node: made_[part] = same_node(n, result, part);
    }
  }

  void copy_whole(const Node& n) {
    Values operands;
    for (const ValueId v : n.operands) operands.push_back(made({v, {}}));
    const NodeId copy = copy_node(done_.graph, f_, n, std::move(operands));
    for (size_t r = 0; r < n.results.size(); ++r) made_[{n.results[r], {}}] = done_.graph[copy].results[r];
  }

  ValueId same_node(const Node& n, size_t result, const Part& part) {
    std::vector<Part> parts;
    for (size_t i = 0; i < n.operands.size(); ++i)
      parts.push_back(part_of(n.operands[i], *operand_roles(f_, n, result, i, part.roles, sizes_)));
    if (n.op->traits.spread != nullptr) return spread(n, part, parts[0]);
    Values operands;
    for (const Part& operand : parts) operands.push_back(made(operand));
    const Type expected{type(part.value).dtype, dims_of(part)};
    const Values results = b_.multi(n.op->name, operands, attributes(n, part, expected.dims), {f_[part.value].name});
    if (b_.type(results[result]) != expected) refuse(n, "has sizes that are not known of one token");
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
    return b_("broadcast", {transposed(v, perm)}, {{"shape", dims_of(part)}, {"dims", dims}}, f_[part.value].name);
  }

  ValueId transposed(ValueId v, const AxisList& perm) {
    return std::ranges::is_sorted(perm) ? v : b_("transpose", {v}, {{"perm", perm}});
  }

  // i32 [rows]: the place of each row's token where rows and tokens lie in one axis, as `role` has them.
  ValueId place(AxisRole role, int64_t tokens) {
    if (role == AxisRole::tokens) return position_;
    const ValueId row = b_("iota", {}, {{"shape", Dims{sizes_.rows}}});
    const bool rows_first = role == AxisRole::rows_tokens;
    const ValueId outer = rows_first ? row : position_, inner = rows_first ? position_ : row;
    const ValueId stride = b_.like(static_cast<double>(rows_first ? tokens : sizes_.rows), outer);
    return b_("add", {b_("mul", {outer, stride}), inner});
  }

  // The part of a whole value at the rows' positions.
  ValueId gathered(ValueId whole, const Part& part) {
    const Dims dims = b_.type(whole).dims;
    const auto rank = static_cast<int64_t>(dims.size());
    const auto axis = static_cast<int64_t>(tokens_axis(part.roles)), rows = static_cast<int64_t>(rows_axis(part.roles));
    if (rows == axis)
      return b_("gather", {whole, place(part.roles[static_cast<size_t>(axis)], sizes_.tokens)}, {{"axis", axis}});
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
    return {.b = b_,
            .position = position_,
            .state = [this](const std::string& name, const Type& of) { return add_state(name, of, kOutermost); },
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
    return n.op->decoding->build(to, signature(f_, n), f_[n.results[0]].name, operands);
  }

  ValueId add_state(const std::string& name, const Type& of, int64_t axis) {
    const ValueId state = done_.graph.add_input(name, of, Role::state);
    states_.emplace_back(state, axis);
    return state;
  }

  Graph reorder() const {
    Graph g;
    g.name = "reorder";
    Builder b(g);
    const ValueId from = g.add_input("from", {DType::i32, {sizes_.rows}}, Role::input);
    for (const auto& [of_step, axis] : states_) {
      const Value& known = done_.graph[of_step];
      b.prefix = known.name + ".next";
      const ValueId state = g.add_input(known.name, known.type, Role::state);
      const Dims apart{sizes_.rows, known.type.elements() / sizes_.rows};
      const ValueId rows = axis == kOutermost ? b.reshape(state, apart) : state;
      const ValueId turned = b("gather", {rows, from}, {{"axis", std::max<int64_t>(axis, 0)}});
      g.updates.push_back({state, b.reshape(turned, known.type.dims)});
    }
    return g;
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
    const ScanRows& rows = scans_.at(n.results[0]);
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
      if (!has_rows(rows.roles(inputs[i]))) refuse(n, "carries what no text has of its own");
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
      const auto found = asked_.find(n.results[r]);
      if (found == asked_.end()) continue;
      for (const Part& part : found->second)
        made_[part] = b_.reshape(here.at(body.outputs[r - carries]), dims_of(part));
    }
  }

  const Module& m_;
  Graph f_;  // the forward graph, without composites
  ValueId tokens_, result_;
  AxisSizes sizes_;
  std::vector<char> dependent_;  // on the tokens, by ValueId index
  std::map<ValueId, std::vector<Part>> asked_;
  std::map<Part, Way> ways_;
  std::map<ValueId, ScanRows> scans_;  // by their first result
  // And the axis of their rows.
  static constexpr int64_t kOutermost = -1;  // rows are the outermost part of the first axis
  std::vector<std::pair<ValueId, int64_t>> states_;
  Decoded done_;
  Builder b_;
  ValueId position_;
  std::map<Part, ValueId> made_;
  bool limited_ = false;
  std::optional<UserError> fault_;
};

}  // namespace

Decoded decode(const Module& m, const Graph& forward, size_t result) { return Decoder(m, forward, result).run(); }

}  // namespace heddle::passes
