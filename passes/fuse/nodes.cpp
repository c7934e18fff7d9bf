#include "passes/fuse/nodes.h"

#include <set>

#include "ir/kernel/plan_tile.h"
#include "ir/op_def.h"
#include "ir/view.h"
#include "ir/visit.h"

namespace heddle::passes {

using namespace ir;

namespace {

size_t index(NodeId n) { return static_cast<size_t>(n.index); }

class Decision {
 public:
  Decision(const Graph& g, const Target& target)
      : g_(g), target_(target), free_(g.node_count(), 0), work_(g.node_count(), 0) {
    fates_.of.assign(g.node_count(), Fate::fixed);
    fates_.wanted.assign(g.node_count(), 0);
    fates_.part.assign(g.node_count(), 0);
    fates_.position = g.positions();
  }

  Fates run() {
    for (NodeId n : g_.order) {
      free_[index(n)] = is_free(g_[n]);
      if (free_[index(n)] && cheaper_apart(g_[n])) keep_apart(n);
      fates_.of[index(n)] = fate(n);
      if (fates_(n) == Fate::copied) work_[index(n)] = work(g_[n]);
    }
    for (NodeId n : g_.order)
      if (fates_(n) == Fate::copied && is_wanted(n)) fates_.wanted[static_cast<size_t>(n.index)] = 1;
    return std::move(fates_);
  }

 private:
  // Costs no memory traffic: made from nothing, from scalars, or from such values.
  bool is_free(const Node& n) const {
    const auto free_operand = [&](ValueId v) {
      NodeId def = g_[v].def;
      return g_[v].type.elements() == 1 || (def.valid() && free_[static_cast<size_t>(def.index)]);
    };
    return visit_kind(
        *n.op, [](const Source&) { return true; },
        [&](const OneOf<Elementwise, Movement> auto&) {
          return std::all_of(n.operands.begin(), n.operands.end(), free_operand);
        },
        [](const OneOf<Reduction, Contraction, Composite, Gradient, Call> auto&) { return false; });
  }

  Fate fate(NodeId id) const {
    const Node& n = g_[id];
    if (free_[static_cast<size_t>(id.index)]) return Fate::copied;
    return visit_kind(
        *n.op, [&](const Movement&) { return fate_of_movement(n); },
        [&](const Elementwise&) { return n.op->name == "cast" ? Fate::copied : Fate::anchor; },
        [](const OneOf<Reduction, Contraction> auto&) { return Fate::anchor; },
        [](const OneOf<Source, Composite, Gradient, Call> auto&) { return Fate::fixed; });
  }

  Fate fate_of_movement(const Node& n) const {
    size_t pieces = contiguous_pieces(g_, n).size();
    if (pieces == 1) return Fate::view;
    if (pieces > 1) return Fate::fixed;
    return turn_of(g_, n) ? Fate::anchor : Fate::copied;  // reading across is worth a kernel of its own
  }

  bool is_wanted(NodeId id) const {
    for (ValueId r : g_[id].results) {
      if (g_.is_output(r) || g_.is_next(r)) return true;
      for (NodeId use : g_[r].uses)
        if (fates_(use) == Fate::fixed || fates_(use) == Fate::view) return true;
    }
    return false;
  }

  // --- concatenations of computed parts ---

  // Operations for an element of a copied node; what has one element is computed once.
  double work(const Node& n) const {
    if (g_[n.results[0]].type.elements() == 1) return 0;
    double flops = std::holds_alternative<Movement>(n.op->kind) ? 0 : n.op->flops;
    for (ValueId v : n.operands) flops += work_of(v);
    return flops;
  }
  double work_of(ValueId v) const { return g_[v].def.valid() ? work_[index(g_[v].def)] : 0; }

  // A kernel that holds several parts computes each of them for every element of the whole.
  bool cheaper_apart(const Node& n) const {
    if (!std::holds_alternative<Movement>(n.op->kind) || n.operands.size() < 2) return false;
    double each = 0, own = 0;
    for (ValueId v : n.operands) {
      each += work_of(v);
      own += work_of(v) * static_cast<double>(g_[v].type.elements());
    }
    const double wasted = each * static_cast<double>(g_[n.results[0]].type.elements()) - own;
    const size_t nodes = 3 * n.operands.size();  // a number, what is done to it, and its reshape: at least
    return wasted > 0 &&
           (nodes > kMostNodes || wasted / target_.flops > static_cast<double>(n.operands.size() - 1) * target_.launch);
  }

  // Each part is written where the concatenation has it, or, where that is no run of bytes, into memory of its own.
  void keep_apart(NodeId n) {
    free_[index(n)] = 0;
    fates_.apart.push_back(n);
    const bool in_place = !contiguous_pieces(g_, g_[n]).empty();
    for (ValueId v : g_[n].operands) {
      const NodeId part = g_[v].def;
      if (!part.valid() || fates_(part) != Fate::copied) continue;
      fates_.part[index(part)] = 1;
      if (in_place || work_of(v) == 0) continue;
      fates_.of[index(part)] = Fate::anchor;
      work_[index(part)] = 0;
    }
  }

  const Graph& g_;
  const Target& target_;
  std::vector<char> free_;
  std::vector<double> work_;  // by NodeId index, of those that are copied
  Fates fates_;
};

class Collection {
 public:
  Collection(const Graph& g, const Fates& fates, const std::vector<NodeId>& owned)
      : g_(g), fates_(fates), inside_(owned.begin(), owned.end()) {
    for (NodeId n : owned) operands(n);
  }

  std::vector<NodeId> sorted() const {
    std::vector<NodeId> members(inside_.begin(), inside_.end());
    std::sort(members.begin(), members.end(), [&](NodeId a, NodeId b) { return at(a) < at(b); });
    return members;
  }

 private:
  int at(NodeId n) const { return fates_.position[static_cast<size_t>(n.index)]; }

  void operands(NodeId n) {
    for (ValueId v : g_[n].operands) visit(v);
  }
  void visit(ValueId v) {
    NodeId def = g_[v].def;
    if (!def.valid() || inside_.count(def)) return;
    bool take = fates_(def) == Fate::copied || (fates_(def) == Fate::view && computed_inside(g_[def].operands[0]));
    if (!take) return;
    inside_.insert(def);
    operands(def);
  }
  bool computed_inside(ValueId v) const {
    NodeId def = g_[v].def;
    if (!def.valid()) return false;
    if (inside_.count(def)) return true;
    if (fates_(def) == Fate::view) return computed_inside(g_[def].operands[0]);
    const std::vector<ValueId>& from = g_[def].operands;
    return fates_(def) == Fate::copied &&
           std::any_of(from.begin(), from.end(), [&](ValueId o) { return computed_inside(o); });
  }

  const Graph& g_;
  const Fates& fates_;
  std::set<NodeId> inside_;
};

}  // namespace

Fates decide_fates(const Graph& g, const Target& target) { return Decision(g, target).run(); }

std::vector<NodeId> members_of(const Graph& g, const Fates& fates, const std::vector<NodeId>& owned) {
  return Collection(g, fates, owned).sorted();
}

}  // namespace heddle::passes
