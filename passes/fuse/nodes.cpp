#include "passes/fuse/nodes.h"

#include <algorithm>

#include "ir/kernel/cost.h"
#include "ir/kernel/plan_tile.h"
#include "ir/op_def.h"
#include "ir/storage/view.h"
#include "ir/visit.h"

namespace heddle::passes {

using namespace ir;

namespace {

// The most nodes that a group may recompute to obtain one value. In a longer chain, every 32nd node is stored.
constexpr int kMostCopies = 32;
// The most stored values that a group may read to recompute one value. A node that joins hundreds of values is stored.
constexpr int kMostReads = 256;
// A broadcast repeats "few" numbers if its result has at least this many times more elements.
constexpr int64_t kFew = 16;

class Decision {
 public:
  Decision(const Graph& g, const Target& target)
      : g_(g),
        target_(target),
        free_(g.node_count(), 0),
        copies_(g.node_count(), 0),
        reads_(g.node_count(), 0),
        work_(g.node_count(), 0) {
    roles_.of.assign(g.node_count(), FusionRole::fixed);
    roles_.stored.assign(g.node_count(), 0);
    roles_.part.assign(g.node_count(), 0);
    roles_.position = g.positions();
  }

  FusionRoles run() {
    for (NodeId n : g_.order) {
      const size_t i = index_of(n);
      free_[i] = is_free(g_[n]);
      if (free_[i] && cheaper_apart(g_[n])) keep_apart(n);
      roles_.of[i] = role(n);
      bound_reads(n);
      if (roles_(n) == FusionRole::view || roles_(n) == FusionRole::copied) {
        copies_[i] = copies_below(n);
        reads_[i] = reads_below(n);
      }
      if (roles_(n) != FusionRole::copied) continue;
      copies_[i] += 1;
      work_[i] = work(g_[n]);
      if (copies_[i] > kMostCopies || reads_[i] > kMostReads) compute_once(n);
    }
    for (NodeId n : g_.order)
      if (roles_(n) == FusionRole::copied && must_be_stored(n)) roles_.stored[index_of(n)] = 1;
    return std::move(roles_);
  }

 private:
  // Whether recomputing the node causes no memory traffic: it is made from constants, scalars, or such nodes.
  bool is_free(const Node& n) const {
    return visit_kind(
        *n.op, [](const Source&) { return true; },
        [&](const OneOf<Elementwise, Movement> auto&) {
          return std::all_of(n.operands.begin(), n.operands.end(), [&](ValueId v) { return is_free(v); });
        },
        [](const OneOf<Lookup, Reduction, Contraction, Primitive, Composite, Gradient, Call, Scan> auto&) {
          return false;
        });
  }

  bool is_free(ValueId v) const {
    const NodeId def = g_[v].def;
    return g_[v].type.elements() == 1 || (def.valid() && free_[index_of(def)]);
  }

  FusionRole role(NodeId id) const {
    const Node& n = g_[id];
    if (free_[index_of(id)]) return FusionRole::copied;
    return visit_kind(
        *n.op, [&](const Movement&) { return role_of_movement(n); },
        [&](const Elementwise&) {
          const bool copied =
              is_cast_of_stored(n) || is_mask_of_stored(n) || is_distance_of_stored(n) || is_product_of_few(n);
          return copied ? FusionRole::copied : FusionRole::anchor;
        },
        [](const Lookup&) { return FusionRole::copied; },
        [](const OneOf<Reduction, Contraction> auto&) { return FusionRole::anchor; },
        [](const OneOf<Source, Primitive, Composite, Gradient, Call, Scan> auto&) { return FusionRole::fixed; });
  }

  // Readers of a cast recompute it, so that they read the stored type. Exception: if a kernel computes a wider operand,
  // such as a mean in doubles or the f32 values of a norm in bf16, its readers would read twice the bytes.
  bool is_cast_of_stored(const Node& n) const {
    if (!n.op->traits.converts) return false;
    const ValueId from = n.operands[0];
    const NodeId def = g_[from].def;
    const DType wide = g_[from].type.dtype, narrow = g_[n.results[0]].type.dtype;
    const bool halves = is_floating(wide) && is_floating(narrow) && bits(narrow) < bits(wide);
    return (wide != DType::f64 && !halves) || !def.valid() || roles_(def) != FusionRole::anchor;
  }

  // Readers of a comparison recompute it if its operand is stored for a library call anyway. A stored mask would make
  // their loops slower: compilers choose the vector width by the 1-byte elements of the mask. A loop over floats that
  // reads a mask of 16 columns takes twice as long.
  bool is_mask_of_stored(const Node& n) const {
    if (target_.gpu || g_[n.results[0]].type.dtype != DType::boolean) return false;
    return std::all_of(n.operands.begin(), n.operands.end(), [&](ValueId v) { return is_free(v) || read_by_call(v); });
  }
  // The difference between a call's result, or a stored 16-bit value, and a few numbers, such as the mean of a channel.
  // A reader that recomputes the difference reads no more bytes than one that loads it.
  bool is_distance_of_stored(const Node& n) const {
    if (n.op->traits.arithmetic != Arithmetic::difference) return false;
    const auto is_there = [&](ValueId v) {
      const NodeId def = g_[v].def;
      return def.valid() && (std::holds_alternative<Call>(g_[def].op->kind) || is_widened(g_[def]));
    };
    return (is_few(n.operands[0]) && is_there(n.operands[1])) || (is_few(n.operands[1]) && is_there(n.operands[0]));
  }
  // Whether the node casts a 16-bit value that a kernel stores to f32.
  bool is_widened(const Node& n) const {
    if (!n.op->traits.converts || g_[n.results[0]].type.dtype != DType::f32) return false;
    const Value& from = g_[n.operands[0]];
    return is_floating(from.type.dtype) && bits(from.type.dtype) < 32 && from.def.valid() &&
           roles_(from.def) == FusionRole::anchor;
  }
  // An outer product, as in the gradient of a layer with one unit.
  bool is_product_of_few(const Node& n) const {
    return n.op->traits.arithmetic == Arithmetic::product && is_few(n.operands[0]) && is_few(n.operands[1]);
  }
  bool is_few(ValueId v) const {
    const NodeId def = g_[v].def;
    return def.valid() && g_[def].op->traits.spread != nullptr &&
           g_[g_[def].operands[0]].type.elements() * kFew <= g_[v].type.elements();
  }
  bool read_by_call(ValueId v) const {
    const std::vector<NodeId>& uses = g_[v].uses;
    return std::any_of(uses.begin(), uses.end(),
                       [&](NodeId use) { return std::holds_alternative<Call>(g_[use].op->kind); });
  }

  FusionRole role_of_movement(const Node& n) const {
    size_t pieces = contiguous_pieces(g_, n).size();
    // A view with further operands only waits for them. A group that computed both would depend on itself.
    if (pieces == 1 && n.operands.size() == 1) return FusionRole::view;
    if (pieces > 0) return FusionRole::fixed;
    return turn_of(g_, n) ? FusionRole::anchor : FusionRole::copied;  // a real transpose gets a kernel
  }

  bool must_be_stored(NodeId id) const {
    for (ValueId r : g_[id].results) {
      if (g_.is_output(r) || g_.is_next(r)) return true;
      for (NodeId use : g_[r].uses)
        if (roles_(use) == FusionRole::fixed || roles_(use) == FusionRole::view) return true;
    }
    return false;
  }

  void compute_once(NodeId n) {
    roles_.of[index_of(n)] = FusionRole::anchor;
    free_[index_of(n)] = 0;
    copies_[index_of(n)] = 0;
    reads_[index_of(n)] = 0;
    work_[index_of(n)] = 0;
  }

  // The number of nodes that a group recomputes for the operands of this node. A node on two paths counts twice.
  int copies_below(NodeId n) const {
    int copies = 0;
    for (ValueId v : g_[n].operands)
      if (NodeId def = g_[v].def; def.valid()) copies += copies_[index_of(def)];
    return copies;
  }

  // If recomputing the node would read too many stored values, stores the operands with the most reads, until it does
  // not.
  void bound_reads(NodeId n) {
    while (reads_below(n) > kMostReads) {
      ValueId most;
      for (ValueId v : g_[n].operands)
        if (reads_of(v) > (most.valid() ? reads_of(most) : 1)) most = v;
      if (!most.valid()) return;
      NodeId def = g_[most].def;
      for (; roles_(def) == FusionRole::view; def = g_[g_[def].operands[0]].def) reads_[index_of(def)] = 1;
      compute_once(def);
    }
  }

  // The number of stored values that are read to compute the operands.
  int reads_below(NodeId n) const {
    int reads = 0;
    for (ValueId v : g_[n].operands) reads += reads_of(v);
    return reads;
  }
  int reads_of(ValueId v) const {
    const NodeId def = g_[v].def;
    const bool inside = def.valid() && (roles_(def) == FusionRole::copied || roles_(def) == FusionRole::view);
    return inside ? reads_[index_of(def)] : 1;
  }

  // --- concatenations of computed parts ---

  // The operations to recompute one element. 0 for a value of one element, which is computed once.
  double work(const Node& n) const {
    if (g_[n.results[0]].type.elements() == 1) return 0;
    double flops = flops_per_point(*n.op);
    for (ValueId v : n.operands) flops += work_of(v);
    return flops;
  }
  double work_of(ValueId v) const { return g_[v].def.valid() ? work_[index_of(g_[v].def)] : 0; }

  // Whether separate kernels for the parts of a concatenation are cheaper. One kernel for all would compute every part
  // at every element of the result.
  bool cheaper_apart(const Node& n) const {
    if (!std::holds_alternative<Movement>(n.op->kind) || n.operands.size() < 2) return false;
    double each = 0, own = 0;
    for (ValueId v : n.operands) {
      each += work_of(v);
      own += work_of(v) * static_cast<double>(g_[v].type.elements());
    }
    const double wasted = each * static_cast<double>(g_[n.results[0]].type.elements()) - own;
    const size_t nodes = 3 * n.operands.size();  // at least a number, an operator on it, and a reshape for each part
    return wasted > 0 &&
           (nodes > kMostNodes || wasted / target_.flops > static_cast<double>(n.operands.size() - 1) * target_.launch);
  }

  // Keeps the parts in separate kernels. Each part is written to its place in the result, or to separate memory if that
  // place is not contiguous.
  void keep_apart(NodeId n) {
    free_[index_of(n)] = 0;
    roles_.apart.push_back(n);
    const bool in_place = !contiguous_pieces(g_, g_[n]).empty();
    for (ValueId v : g_[n].operands) {
      const NodeId part = g_[v].def;
      if (!part.valid() || roles_(part) != FusionRole::copied) continue;
      roles_.part[index_of(part)] = 1;
      if (!in_place && work_of(v) != 0) compute_once(part);
    }
  }

  const Graph& g_;
  const Target& target_;
  std::vector<char> free_;
  std::vector<int> copies_;   // by NodeId index, for copied nodes and views: copies_below, and the copied node itself
  std::vector<int> reads_;    // likewise: reads_below
  std::vector<double> work_;  // likewise: work
  FusionRoles roles_;
};

}  // namespace

FusionRoles decide_roles(const Graph& g, const Target& target) { return Decision(g, target).run(); }

}  // namespace heddle::passes
