#include "passes/scan/gradient.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/check.h"
#include "ir/copy_node.h"
#include "ir/op_def.h"
#include "ir/scan.h"
#include "ir/visit.h"
#include "passes/dead_code.h"
#include "passes/scan/rebuild.h"

namespace heddle::passes {
using namespace ir;

namespace {

// The operand of the backward scan for an input of its body.
struct Source {
  enum class What { operand, saved, result_adjoint, zeros } what = What::operand;
  size_t number = 0;  // of the forward scan's operand, or of its result
};

class ScanGradient {
 public:
  ScanGradient(Sweep& outer, NodeId scan, const Values& dy)
      : outer_(outer),
        g_(outer.b.graph),
        scan_(scan),
        node_(g_[scan]),
        dy_(dy),
        body_(*outer.m.find_body(node_.callee)) {
    back_.body = true;
  }

  Grads run() {
    find_path();
    clone_forward();
    declare_adjoints();
    sweep_back();
    finish();
    remove_dead_nodes(back_);
    save(chosen_values());
    remove_dead_nodes(back_);
    back_.remove_inputs(unread_inputs(back_));
    return add_backward_scan();
  }

 private:
  size_t carry_count() const { return inputs_with(body_, Role::carry).size(); }

  // --- the inputs that need a gradient, and the path from them to the results ---

  void find_path() {
    const std::vector<ValueId> inputs = operand_inputs(body_);
    std::vector<char> varies(inputs.size(), 0);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const size_t v = index_of(node_.operands[i]);
      const bool asked = v >= outer_.depends.size() || outer_.depends[v] != 0;
      varies[i] = asked && is_floating(body_[inputs[i]].type.dtype);
    }
    // A carry that starts as a constant still varies from the second turn on, if its next value varies.
    for (bool again = true; again;) {
      again = false;
      path_ = path_of(inputs, varies);
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (varies[i] || body_[inputs[i]].role != Role::carry || !is_floating(body_[inputs[i]].type.dtype)) continue;
        varies[i] = path_.depends[index_of(next_of(body_, inputs[i]))];
        again |= varies[i] != 0;
      }
      if (!again) again = decompose_on_path(body_, path_.nodes);
    }
    leave_out_unread_carries(inputs, varies);
    path_ = path_of(inputs, varies);
    for (size_t i = 0; i < inputs.size(); ++i)
      if (varies[i]) wanted_.push_back(inputs[i]);
  }

  // Finds carries that no result with an adjoint depends on. Their gradient is 0, so no turn computes it: 0 * inf would
  // give nan.
  void leave_out_unread_carries(const std::vector<ValueId>& inputs, std::vector<char>& varies) const {
    const std::vector<ValueId> carries = inputs_with(body_, Role::carry);
    std::vector<ValueId> open;
    for (size_t k = 0; k < dy_.size(); ++k)
      if (dy_[k].valid())
        open.push_back(k < carries.size() ? next_of(body_, carries[k]) : body_.outputs[k - carries.size()]);
    std::vector<char> read(body_.value_count(), 0);
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      if (read[index_of(v)]) continue;
      read[index_of(v)] = 1;
      if (const Node* n = body_.def(v); n != nullptr)
        open.insert(open.end(), n->operands.begin(), n->operands.end());
      else if (body_[v].role == Role::carry)
        open.push_back(next_of(body_, v));
    }
    for (size_t k = 0; k < carries.size(); ++k)
      if (dy_[k].valid()) read[index_of(carries[k])] = 1;  // even if no turn reads the carry
    for (size_t i = 0; i < inputs.size(); ++i)
      if (body_[inputs[i]].role == Role::carry && !read[index_of(inputs[i])]) varies[i] = 0;
  }

  Path path_of(const std::vector<ValueId>& inputs, const std::vector<char>& varies) const {
    Values wanted, reached;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!varies[i]) continue;
      wanted.push_back(inputs[i]);
      if (body_[inputs[i]].role == Role::carry) reached.push_back(next_of(body_, inputs[i]));
    }
    for (size_t k = 0; k < body_.outputs.size(); ++k)
      if (dy_[carry_count() + k].valid()) reached.push_back(body_.outputs[k]);
    return path_between(body_, wanted, reached);
  }

  // --- a copy of the forward turn in the backward body; unused nodes are removed later ---

  void clone_forward() {
    const std::vector<ValueId> inputs = operand_inputs(body_);
    for (const ValueId v : body_.inputs) {
      const Value& in = body_[v];
      // The value of a carry before the turn: the forward scan saves it if it is needed.
      const Role role = in.role == Role::carry ? Role::slice : in.role;
      clone_[v] = back_.add_input(in.name, in.type, role);
      const auto at = std::ranges::find(inputs, v);
      if (at != inputs.end()) sources_[clone_[v]] = {Source::What::operand, static_cast<size_t>(at - inputs.begin())};
    }
    for (const NodeId id : body_.order) {
      const Node& n = body_[id];
      Values operands;
      for (const ValueId v : n.operands) operands.push_back(clone_.at(v));
      const NodeId copy = copy_node(back_, body_, n, std::move(operands));
      for (size_t i = 0; i < n.results.size(); ++i) clone_[n.results[i]] = back_[copy].results[i];
      copies_[id] = copy;
    }
    for (const auto& [original, copy] : clone_) original_[copy] = original;
    first_node_ = back_.node_count();
  }

  // --- adjoints ---

  ValueId new_input(const std::string& name, const Type& type, Role role, const Source& source) {
    const ValueId v = back_.add_input(name, type, role);
    sources_[v] = source;
    return v;
  }

  // Adjoints of carries and sums for fixed operands become carries. The adjoint of a stacked result becomes a slice.
  void declare_adjoints() {
    const std::vector<ValueId> carries = inputs_with(body_, Role::carry);
    for (const ValueId v : wanted_) {
      const Value& in = body_[v];
      if (in.role == Role::slice) continue;
      Source source{Source::What::zeros, 0};
      if (in.role == Role::carry) {
        const size_t k = number_in(carries, v);
        if (dy_[k].valid()) source = {Source::What::result_adjoint, k};
      }
      carried_[v] = new_input(in.name + ".grad", in.type, Role::carry, source);
    }
    for (size_t k = 0; k < body_.outputs.size(); ++k)
      if (const size_t r = carries.size() + k; dy_[r].valid())
        rows_[k] = new_input(body_[body_.outputs[k]].name + ".grad", body_[body_.outputs[k]].type, Role::slice,
                             {Source::What::result_adjoint, r});
  }

  void sweep_back() {
    Builder b(back_);
    Sweep inner{outer_.m, b, {}, {}, back_.value_count()};
    for (const auto& [original, copy] : clone_) {
      if (index_of(copy) >= inner.depends.size()) inner.depends.resize(index_of(copy) + 1);
      inner.depends[index_of(copy)] = path_.depends[index_of(original)];
    }
    b.loc = node_.loc;
    for (const ValueId v : wanted_)
      if (body_[v].role == Role::carry) inner.add(clone_.at(next_of(body_, v)), carried_.at(v));
    for (const auto& [k, row] : rows_) inner.add(clone_.at(body_.outputs[k]), row);
    for (size_t i = path_.nodes.size(); i-- > 0;) inner.back_through(copies_.at(path_.nodes[i]));
    b.loc = node_.loc;
    for (const ValueId v : wanted_) {
      ValueId found = inner.adjoint(clone_.at(v));
      const Role role = body_[v].role;
      if (role == Role::carry) {
        b.prefix = body_[v].name + ".grad";
        nexts_[v] = found.valid() ? found : b.like(0, clone_.at(v));
      } else if (role == Role::slice) {
        if (found.valid()) nexts_[v] = found;
      } else if (found.valid()) {
        nexts_[v] = b("add", {carried_.at(v), found}, {}, body_[v].name + ".sum");
      }
    }
  }

  void finish() {
    std::vector<ValueId> lost;
    for (const ValueId v : wanted_) {
      const auto next = nexts_.find(v);
      if (next == nexts_.end()) {
        if (carried_.contains(v)) lost.push_back(carried_.at(v));
      } else if (body_[v].role == Role::slice) {
        back_.outputs.push_back(next->second);
      } else {
        back_.updates.push_back({carried_.at(v), next->second});
      }
    }
    for (const ValueId v : lost) sources_.erase(v);
    back_.remove_inputs(lost);
  }

  // --- the values that the forward scan saves ---

  // Whether to compute the node again instead of saving its result: the cost is small compared with a read.
  bool is_cheap(const Node& n) const {
    return visit_kind(
        *n.op, [](const OneOf<ir::Source, Elementwise, Movement> auto&) { return true; },
        [](const OneOf<Lookup, Reduction, Contraction, Primitive, Composite, Gradient, Call, Scan> auto&) {
          return false;
        });
  }
  bool is_forward(ValueId v) const { return original_.contains(v); }
  bool is_there(ValueId v) const {  // an input that the backward scan has anyway: fixed, slice or index
    return !back_[v].def.valid() && body_[original_.at(v)].role != Role::carry;
  }

  // The values of the forward turn that the adjoints read.
  std::vector<ValueId> read_forward() const {
    std::vector<char> seen(back_.value_count(), 0);
    std::vector<ValueId> read;
    const auto meet = [&](ValueId v) {
      if (is_forward(v) && !is_there(v) && !seen[index_of(v)]) seen[index_of(v)] = 1, read.push_back(v);
    };
    for (const NodeId id : back_.order)
      if (index_of(id) >= first_node_)
        for (const ValueId v : back_[id].operands) meet(v);
    for (const ValueId v : back_.outputs) meet(v);
    for (const Update& u : back_.updates) meet(u.next);
    std::ranges::sort(read);
    return read;
  }

  // The values from which everything in `read` can be computed cheaply, besides `saved`, which are available.
  std::vector<ValueId> frontier(const std::vector<ValueId>& read, const std::vector<ValueId>& saved = {}) const {
    std::vector<char> seen(back_.value_count(), 0);
    for (const ValueId v : saved) seen[index_of(v)] = 1;
    std::vector<ValueId> open = read, found;
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      // A value outside of the forward turn belongs to an inner scan, which the backward turn runs again.
      if (seen[index_of(v)] || !is_forward(v) || is_there(v)) continue;
      seen[index_of(v)] = 1;
      const Node* n = back_.def(v);
      if (n == nullptr || !is_cheap(*n))
        found.push_back(v);
      else
        open.insert(open.end(), n->operands.begin(), n->operands.end());
    }
    std::ranges::sort(found);
    return found;
  }

  int64_t bytes_of(const std::vector<ValueId>& values) const {
    int64_t bytes = 0;
    for (const ValueId v : values) bytes += back_[v].type.bytes();
    return bytes;
  }

  // Removes values that can be computed cheaply from the other values of the list or from operands, the last ones
  // first.
  std::vector<ValueId> without_derived(std::vector<ValueId> list) const {
    for (size_t i = list.size(); i-- > 0;) {
      std::vector<ValueId> others = list;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      if (frontier({list[i]}, others).empty()) list = std::move(others);
    }
    return list;
  }

  // The values to save: either those that the adjoints read, or those from which these are cheap to compute, whichever
  // take fewer bytes. On a tie the former, because then less is computed again.
  std::vector<ValueId> chosen_values() const {
    const std::vector<ValueId> read = read_forward();
    const std::vector<ValueId> made_of = frontier(read), kept = without_derived(read);
    return bytes_of(made_of) < bytes_of(kept) ? made_of : kept;
  }

  void save(const std::vector<ValueId>& values) {
    if (values.empty()) return;
    const size_t carries = carry_count(), before = body_.outputs.size();
    std::vector<int> from;
    for (size_t i = 0; i < carries + before; ++i) from.push_back(static_cast<int>(i));
    for (const ValueId v : values) {
      const ValueId original = original_.at(v);
      const auto known = std::ranges::find(body_.outputs, original);
      const auto k = static_cast<size_t>(known - body_.outputs.begin());
      if (known == body_.outputs.end()) {
        body_.outputs.push_back(original);
        from.push_back(-1);
      }
      const Source source{Source::What::saved, carries + k};
      if (!back_[v].def.valid()) {
        sources_[v] = source;  // the value of a carry before the turn
        continue;
      }
      const std::string name = back_[v].name;
      const ValueId row = new_input(name + ".saved", back_[v].type, Role::slice, source);
      back_.replace_uses(v, row);
    }
    if (body_.outputs.size() == before) return;
    body_.name = free_body_name(outer_.m, node_.callee + ".forward");
    outer_.m.bodies.push_back(body_);
    scan_ = replace_scan(g_, scan_, body_, node_.operands, from);
    for (size_t i = 0; i < carries + before; ++i) {  // the results keep their adjoints
      const ValueId old = node_.results[i], fresh = g_[scan_].results[i];
      if (index_of(fresh) >= outer_.adjoints.size()) outer_.adjoints.resize(index_of(fresh) + 1);
      outer_.adjoints[index_of(fresh)] = outer_.adjoint(old);
    }
    for (size_t i = carries + before; i < g_[scan_].results.size(); ++i)
      g_.rename(g_[scan_].results[i],
                fmt::format("{}.{}", g_[g_[scan_].results[0]].name, body_[body_.outputs[i - carries]].name));
  }

  // --- the backward scan ---

  ValueId operand(ValueId input) {
    const Source& s = sources_.at(input);
    const Node& n = g_[scan_];
    switch (s.what) {
      case Source::What::operand: return n.operands[s.number];
      case Source::What::saved: return n.results[s.number];
      case Source::What::result_adjoint: return dy_[s.number];
      case Source::What::zeros: break;
    }
    outer_.b.prefix = back_[input].name + ".start";
    return outer_.b.constant(0, back_[input].type);
  }

  Grads add_backward_scan() {
    Grads grads(node_.operands.size());
    const std::vector<ValueId> inputs = operand_inputs(body_), carries = inputs_with(back_, Role::carry);
    if (carries.empty() && back_.outputs.empty()) return grads;
    back_.name = free_body_name(outer_.m, node_.callee + ".backward");
    Values operands;
    for (const ValueId v : operand_inputs(back_)) operands.push_back(operand(v));
    std::vector<std::string> names;
    std::vector<size_t> answers;  // by result of the backward scan: the forward operand whose gradient it is
    const auto name_of = [&](ValueId v) {
      const size_t i = number_in(inputs, v);
      names.push_back(g_[node_.operands[i]].name + ".grad");
      answers.push_back(i);
    };
    for (const ValueId c : carries)
      for (const auto& [v, carried] : carried_)
        if (carried == c) name_of(v);
    for (const ValueId v : wanted_)
      if (body_[v].role == Role::slice && nexts_.contains(v)) name_of(v);
    const NodeId n = add_scan(g_, back_, operands, scan_attrs(turns(node_), !is_reversed(node_)), names, node_.loc);
    for (size_t i = 0; i < answers.size(); ++i) grads[answers[i]] = g_[n].results[i];
    outer_.m.bodies.push_back(std::move(back_));
    return grads;
  }

  Sweep& outer_;
  Graph& g_;
  NodeId scan_;
  const Node node_;  // a copy of the scan before it is replaced
  const Values& dy_;
  Graph body_;  // the forward body; saved values are added to its outputs
  Graph back_;
  Path path_;                         // of body_
  Values wanted_;                     // inputs of body_
  std::map<ValueId, ValueId> clone_;  // value of body_ -> of back_
  std::map<ValueId, ValueId> original_;
  std::map<NodeId, NodeId> copies_;
  std::map<ValueId, Source> sources_;   // by input of back_
  std::map<ValueId, ValueId> carried_;  // input of body_ -> carry of back_ with its adjoint or the sum of its gradient
  std::map<size_t, ValueId> rows_;      // number of a stacked output -> the slice of its adjoint
  std::map<ValueId, ValueId> nexts_;    // input of body_ -> next value of its carry in back_; of a slice: its gradient
  size_t first_node_ = 0;               // nodes of back_ from this one on compute adjoints
};

}  // namespace

Grads scan_gradient(Sweep& sweep, NodeId scan, const Values& dy) { return ScanGradient(sweep, scan, dy).run(); }

}  // namespace heddle::passes
