#include "passes/mixed_precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "ir/builder.h"
#include "ir/evaluate/tensor.h"
#include "ir/mixed_precision.h"
#include "ir/ops/precision.h"
#include "passes/rewrite.h"

namespace heddle::passes {
using namespace ir;

namespace {

bool is_narrow(DType dtype) { return dtype == DType::bf16 || dtype == DType::f16; }
bool may_change(DType dtype) { return dtype == DType::f32 || is_narrow(dtype); }

std::optional<DType> mixed_type_of(const Node& n) {
  const auto at = n.attrs.find("precision");
  return at == n.attrs.end() ? std::nullopt : mixed_type(std::get<std::string>(at->second));
}

class Mixing {
 public:
  Mixing(Graph& g, const Options& options) : g_(g), options_(options), b_(g) {
    for (const ValueId v : g.outputs) outputs_.push_back(g[v].type);
    for (const Update& u : g.updates) next_.push_back(g[u.next].type);
  }

  bool run() {
    rewrite_nodes(g_, [&](NodeId n) { return visit(n), false; });
    keep_results();
    return changed_;
  }

 private:
  // Casts the operands as the rule of the operator says. The types of the results follow from the operands.
  void visit(NodeId id) {
    const OpDef& op = *g_[id].op;
    if (op.traits.converts) return;
    const std::optional<DType> mixed = mixed_type_of(g_[id]);
    switch (mixed_precision(op).rule) {
      case MixedRule::narrow: return mixed ? narrow(id, *mixed) : widen(id);
      case MixedRule::follows: return follow(id);
      case MixedRule::wide:
        if (mixed) permit(id, *mixed);
        return widen(id);
      case MixedRule::restores: return restore(id);
      case MixedRule::fixed:
        // Casts only the loss of a gradient. The second operand must stay the value that the loss depends on.
        if (std::holds_alternative<Gradient>(op.kind)) cast_operand(id, 0, DType::f32, "a loss is of f32");
        return infer(id);
    }
  }

  void narrow(NodeId id, DType dtype) {
    g_[id].attrs.erase("precision");
    changed_ = true;
    cast_operands(id, dtype, fmt::format("{} reads {}, and sums in f32", g_[id].op->name, to_string(dtype)));
  }

  void follow(NodeId id) {
    const std::optional<DType> dtype = narrowest(g_[id]);
    if (!dtype) return;
    const bool counts = !is_floating(g_[g_[id].results[0]].type.dtype);  // a comparison, whose sides both become f32
    if (counts) return widen(id);
    if (std::ranges::any_of(g_[id].operands, [&](ValueId v) { return would_round(v, *dtype); }))
      return restore_as(id, *dtype, "with a number that 16 bits do not hold");
    cast_operands(id, *dtype, fmt::format("{} has an operand of {}", g_[id].op->name, to_string(*dtype)));
  }

  void widen(NodeId id) { cast_operands(id, DType::f32, fmt::format("{} computes in f32", g_[id].op->name)); }

  void restore(NodeId id) {
    const DType dtype = seen(g_[id].operands[0]);
    is_narrow(dtype) ? restore_as(id, dtype, "and leaves 16 bits") : widen(id);
  }
  // The result stays f32. `left_` notes that readers which follow their operands may read it in 16 bits.
  void restore_as(NodeId id, DType dtype, const char* why) {
    cast_operands(id, DType::f32, fmt::format("{} computes in f32, {}", g_[id].op->name, why));
    left_[g_[id].results[0]] = dtype;
  }

  // The operator computes in f32, but the products inside of it may round their operands to bf16.
  void permit(NodeId id, DType dtype) {
    g_[id].attrs.erase("precision");
    if (dtype == DType::bf16) g_[id].attrs["precision"] = to_string(dtype);
    changed_ = true;
  }

  // --- types as seen by operators that follow their operands

  DType seen(ValueId v) const {
    const auto at = left_.find(v);
    return at == left_.end() ? g_[v].type.dtype : at->second;
  }
  std::optional<DType> narrowest(const Node& n) const {
    for (const ValueId v : n.operands)
      if (is_narrow(seen(v))) return seen(v);
    return std::nullopt;
  }
  // Whether `v` is a constant that `dtype` cannot hold exactly. Rounding it would give each element the same relative
  // error.
  bool would_round(ValueId v, DType dtype) const {
    const Node* n = g_.def(v);
    if (n == nullptr || n->op->traits.splat == nullptr || g_[v].type.dtype != DType::f32) return false;
    const double value = n->op->traits.splat(*n);
    return value == value && round_to(dtype, value) != round_to(DType::f32, value);
  }

  // --- casts

  void cast_operands(NodeId id, DType dtype, const std::string& reason) {
    for (size_t i = 0; i < g_[id].operands.size(); ++i) cast_operand(id, i, dtype, reason);
    infer(id);
  }
  void cast_operand(NodeId id, size_t i, DType dtype, const std::string& reason) {
    const ValueId v = g_[id].operands[i];
    if (g_[v].type.dtype == dtype || !may_change(g_[v].type.dtype)) return;
    b_.loc = g_[id].loc;
    g_.set_operand(id, i, as(v, dtype, reason));
    changed_ = true;
  }
  ValueId as(ValueId v, DType dtype, const std::string& reason) {
    // If v is itself a cast from `dtype` to f32, its operand is the answer.
    if (const Node* n = g_.def(v); n != nullptr && n->op->traits.converts && g_[n->operands[0]].type.dtype == dtype)
      if (g_[v].type.dtype == DType::f32 && !is_parameter(n->operands[0])) return n->operands[0];
    ValueId& known = casts_[{v, dtype}];
    if (known.valid()) return known;
    const std::string name = fmt::format("{}.{}", g_[v].name, to_string(dtype));
    known = b_("cast", {v}, {{"dtype", to_string(dtype)}}, name);
    options_.note("mixed_precision", g_, "%" + g_[known].name, reason);
    return known;
  }

  // One of 16 bits, or a loop's view of it. Gradients are by its cast to f32, and lead through there: simplify takes
  // the two casts away.
  bool is_parameter(ValueId v) const { return g_[v].role == Role::param || g_[v].role == Role::fixed; }

  void infer(NodeId id) {
    const Node& n = g_[id];
    if (std::ranges::none_of(n.operands, [&](ValueId v) { return may_change(g_[v].type.dtype); })) return;
    if (std::holds_alternative<Scan>(n.op->kind)) return;  // its body says; operands are of f32 again
    std::vector<Type> types;
    for (const ValueId v : n.operands) types.push_back(g_[v].type);
    const std::vector<Type> results = infer_types(*n.op, types, n.attrs);
    for (size_t i = 0; i < results.size(); ++i) g_[n.results[i]].type = results[i];
  }

  // --- outputs and next states

  ValueId kept(ValueId v, const Type& type, const char* what) {
    if (g_[v].type == type) return v;
    const std::string name = g_[v].name;
    const bool fresh = !casts_[{v, type.dtype}].valid();
    const ValueId wide = as(v, type.dtype, fmt::format("{} keeps its type", what));
    if (!fresh) return wide;
    g_.rename(v, fmt::format("{}.{}", name, to_string(g_[v].type.dtype)));
    g_.rename(wide, name);
    return wide;
  }
  void keep_results() {
    for (size_t i = 0; i < outputs_.size(); ++i) g_.outputs[i] = kept(g_.outputs[i], outputs_[i], "a result");
    for (size_t i = 0; i < next_.size(); ++i) g_.updates.set_next(i, kept(g_.updates[i].next, next_[i], "a state"));
  }

  Graph& g_;
  const Options& options_;
  Builder b_;
  std::vector<Type> outputs_, next_;  // types before the pass
  std::map<ValueId, DType> left_;     // f32 values that readers may take in this 16-bit type
  std::map<std::pair<ValueId, DType>, ValueId> casts_;
  bool changed_ = false;
};

// Casts that the frontend has made of parameters of 16 bits (frontend/training/stored_parameters.h).
void note_stored(const Graph& g, const Options& options) {
  for (const NodeId id : g.order) {
    const Node& n = g[id];
    if (!n.op->traits.converts || g.def(n.operands[0]) != nullptr) continue;
    const Value& from = g[n.operands[0]];
    if ((from.role == Role::param || from.role == Role::fixed) && is_narrow(from.type.dtype))
      options.note("mixed_precision", g, "%" + g[n.results[0]].name,
                   fmt::format("%{} is stored in {}", from.name, to_string(from.type.dtype)));
  }
  for (const Update& u : g.updates)
    if (const Value& state = g[u.state]; state.role == Role::param && is_narrow(state.type.dtype))
      options.note("mixed_precision", g, "%" + g[u.next].name,
                   fmt::format("%{} is stored in {}", state.name, to_string(state.type.dtype)));
}

bool begins(const Graph& g) {
  return std::ranges::any_of(g.order, [&](NodeId n) { return mixed_type_of(g[n]).has_value(); });
}

}  // namespace

bool mixed_precision(Module& m, const Options& options) {
  bool changed = false;
  for (Graph* g : m.all_graphs()) {
    note_stored(*g, options);
    if (begins(*g)) changed |= Mixing(*g, options).run();
  }
  return changed;
}

}  // namespace heddle::passes
