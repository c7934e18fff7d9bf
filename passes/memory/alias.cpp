#include "passes/memory/alias.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "ir/kernel/plan_primitive.h"
#include "ir/storage/storage.h"
#include "ir/storage/view.h"
#include "passes/memory/in_place.h"
#include "passes/memory/old_states.h"
#include "passes/outline.h"

namespace heddle::passes {
using namespace ir;

namespace {

// Decides for one graph which values share storage. The values of one storage are listed under its root.
class Aliasing {
 public:
  Aliasing(Module& m, Graph& g, const Options& options)
      : m_(m), g_(g), options_(options), live_(live_ranges(g)), members_(g.value_count()) {
    const auto note_refusal = [&](ValueId v, const std::string& reason) { note(v, reason); };
    for (const StorageSpan& span : view_spans(g, note_refusal)) {
      members_[static_cast<size_t>(span.root.index)].push_back(ValueId{static_cast<int32_t>(slots_.size())});
      slots_.push_back({span.root, span.root, span.offset});
    }
  }

  // Returns the kernels for which at least one call was replaced by a call of an in-place variant.
  std::set<std::string> run() {
    for (NodeId n : g_.order) overwrite(g_[n]);
    for (NodeId n : g_.order) pieces(g_[n]);
    for (const Update& u : g_.updates) update(u);
    for (NodeId n : g_.order) in_place(n);
    for (size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i].root != ValueId{static_cast<int32_t>(i)})
        g_[ValueId{static_cast<int32_t>(i)}].place = {slots_[i].offset, slots_[i].root};
    return std::move(replaced_);
  }

 private:
  // `written` is the value that wrote the bytes: the value itself, or the one of which it is a view.
  struct Slot {
    ValueId root, written;
    int64_t offset = 0;
  };

  Slot& slot(ValueId v) { return slots_[static_cast<size_t>(v.index)]; }
  std::vector<ValueId>& members(ValueId root) { return members_[static_cast<size_t>(root.index)]; }
  const Type& type(ValueId v) const { return g_[v].type; }
  void note(ValueId v, std::string reason) const { options_.note("alias", g_, "%" + g_[v].name, std::move(reason)); }

  bool is_input(ValueId v) const { return !g_[v].def.valid(); }
  const LiveRange& live(ValueId v) const { return live_[static_cast<size_t>(v.index)]; }

  // Puts everything stored with `root` into the storage of `into`.
  void merge(ValueId root, ValueId into, int64_t offset) {
    most_live_.reset();
    for (ValueId v : members(root)) {
      slot(v).root = into;
      slot(v).offset += offset;
      members(into).push_back(v);
    }
    members(root).clear();
  }

  // Whether the value fills the whole of its storage and is no input, so that the storage can become part of another
  // one.
  bool movable(ValueId v) {
    const Slot& s = slot(v);
    return !is_input(s.root) && s.offset == 0 && type(s.root).bytes() == type(v).bytes();
  }

  // A kernel that changes some elements of an operand must write its result over it.
  void overwrite(const Node& n) {
    Graph* k = kernel_of(n);
    if (k == nullptr) return;
    for (const auto& [input, output] : overwritten_inputs(*k)) {
      const Slot over = slot(n.operands[input]);
      merge(n.results[output], over.root, over.offset);
      (*k)[k->outputs[output]].place = {0, k->inputs[input]};
    }
  }
  // The kernel that a node calls; nullptr if it calls none.
  Graph* kernel_of(const Node& n) {
    const auto found =
        std::find_if(m_.kernels.begin(), m_.kernels.end(), [&](const Graph& k) { return k.name == n.callee; });
    return n.callee.empty() || found == m_.kernels.end() ? nullptr : &*found;
  }

  // Places the operands of a concatenation in its storage, so that nothing is copied.
  void pieces(const Node& n) {
    if (n.operands.size() < 2) return;
    const ValueId result = n.results[0];
    for (const Piece& p : contiguous_pieces(g_, n)) {
      const ValueId operand = n.operands[p.operand];
      const int64_t offset = slot(result).offset + p.to * bits(type(result).dtype) / 8;
      if (offset % kViewAlignment != 0)
        note(operand, fmt::format("copied: {} bytes into %{} is no multiple of {}", offset, g_[slot(result).root].name,
                                  kViewAlignment));
      else if (!movable(operand) || slot(operand).root == slot(result).root || p.count != type(operand).elements())
        note(operand,
             fmt::format("copied into %{}: it is stored in %{}", g_[result].name, g_[slot(operand).root].name));
      else
        merge(slot(operand).root, slot(result).root, offset);
    }
  }

  void update(const Update& u) {
    const ValueId root = slot(u.next).root;
    if (root == u.state) return;
    if (!movable(u.next))
      return note(u.state, fmt::format("copied: %{} is stored in %{}", g_[u.next].name, g_[root].name));
    for (ValueId v : members(root))
      for (ValueId old : members(u.state))
        if (slot(v).written == v && !may_overwrite(v, old))
          return note(u.state, fmt::format("copied: %{} is read after %{} is computed", g_[old].name, g_[v].name));
    merge(root, u.state, 0);
    for (ValueId v : members(u.state)) mark(v);
  }

  void in_place(NodeId id) {
    const Node& n = g_[id];
    for (ValueId result : n.results) {
      for (size_t i = 0; i < n.operands.size() && slot(result).root == result; ++i) {
        if (!can_take_over(n.operands[i], result)) continue;
        merge(result, slot(n.operands[i]).root, 0);
        mark(result);
      }
      for (size_t i = 0; i < n.operands.size() && slot(result).root != result; ++i) {
        const ValueId root = slot(n.operands[i]).root, into = slot(result).root;
        if (!can_begin_in(n.operands[i], result) || !worth_joining(n, root, into, slot(result).offset)) continue;
        merge(root, into, slot(result).offset);
        mark(result);
      }
    }
  }

  // Whether the operand may be computed where the result lies already: in a part of a larger storage.
  bool can_begin_in(ValueId operand, ValueId result) {
    const ValueId root = slot(operand).root, into = slot(result).root;
    if (!movable(operand) || root == into || is_input(into) || type(root).bytes() != type(result).bytes()) return false;
    const auto& olds = members(root);
    const auto& others = members(into);
    const int64_t at = live(result).first, from = slot(result).offset, to = from + type(result).bytes();
    const bool is_read_before = std::all_of(olds.begin(), olds.end(), [&](ValueId old) {
      if (live(old).first >= at || live(old).last > at) return false;
      return live(old).last < at || (slot(old).offset == 0 && reads_in_step(g_[g_[result].def], root, result));
    });
    return is_read_before && std::none_of(others.begin(), others.end(), [&](ValueId other) {
             const int64_t begin = slot(other).offset, end = begin + type(other).bytes();
             return live(other).first < at && begin < to && from < end;
           });
  }

  // A primitive in place does less work.
  bool worth_joining(const Node& n, ValueId root, ValueId into, int64_t offset) {
    const Graph* k = kernel_of(n);
    if (!most_live_) most_live_ = most_live({}, {}, 0);
    const int64_t joined = most_live(root, into, offset);
    return joined < *most_live_ || (joined == *most_live_ && k != nullptr && can_be_in_place(*k));
  }

  // The peak of the values' bytes if `root` were stored in `into`, at the offset.
  int64_t most_live(ValueId root, ValueId into, int64_t offset) {
    const auto values = values_by_root(g_, [&](ValueId v) -> StorageSpan {
      const Slot& s = slot(v);
      return s.root == root ? StorageSpan{into, s.offset + offset} : StorageSpan{s.root, s.offset};
    });
    std::vector<Interval> all;
    for (const auto& [storage, of_storage] : values)
      if (!lies_outside(g_[storage]))
        for (const BufferPart& part : parts_of(of_storage)) all.push_back(part.live);
    return max_live_bytes(all, /*alignment=*/1);
  }

  bool can_take_over(ValueId operand, ValueId result) {
    const ValueId root = slot(operand).root;
    if (!movable(operand) || root == result || type(root).bytes() != type(result).bytes()) return false;
    return std::all_of(members(root).begin(), members(root).end(),
                       [&](ValueId old) { return live(old).first < live(result).first && may_overwrite(result, old); });
  }

  // Whether `v` may be written where `old` is stored: the last reader of `old` has run, or it is the node that writes
  // `v` and reads each element before it writes it, or the two do not overlap.
  bool may_overwrite(ValueId v, ValueId old) {
    const int64_t from = slot(old).offset, to = slot(v).offset;
    if (from + type(old).bytes() <= to || to + type(v).bytes() <= from) return true;
    const int64_t at = live(v).first, last = live(old).last;
    if (last != at || at < 0) return last < at;
    return from == to && reads_in_step(g_[g_[v].def], slot(old).root, v);
  }

  // Whether node n may write `result` over its operands in the storage of `root`. A kernel's text allows for one such
  // operand per result, and it must be the same operand in every call.
  bool reads_in_step(const Node& n, ValueId root, ValueId result) {
    const auto r = static_cast<size_t>(g_[result].result_index);
    const Graph* k = n.callee.empty() ? nullptr : m_.find_kernel(n.callee);
    int shared = 0;
    for (size_t i = 0; i < n.operands.size(); ++i) {
      if (slot(n.operands[i]).root != root) continue;
      if (!can_write_over(m_, g_, n, i, r, plans_)) return false;
      if (k != nullptr && ++shared > 1) return false;
      const ValueId marked = k != nullptr ? (*k)[k->outputs[r]].place.base : ValueId{};
      if (marked.valid() && marked != k->inputs[i]) return false;
    }
    return true;
  }

  // Notes in the kernel that computes `v` which operand it overwrites, if any.
  void mark(ValueId v) {
    const Node* n = g_.def(v);
    if (n == nullptr || !std::holds_alternative<Call>(n->op->kind)) return;
    Graph* k = kernel_of(*n);
    for (size_t i = 0; i < n->operands.size(); ++i) {
      if (slot(n->operands[i]).root != slot(v).root || slot(n->operands[i]).offset != slot(v).offset) continue;
      if (can_be_in_place(*k)) return mark_in_place(*k, g_[v].def);
      (*k)[k->outputs[static_cast<size_t>(g_[v].result_index)]].place = {0, k->inputs[i]};
      // A schedule that prefetches loads the last row again at the end. In place, another thread may have overwritten
      // that row by then, so prefetching is switched off.
      auto* rows = k->schedule ? std::get_if<schedules::Rows>(&k->schedule->how) : nullptr;
      if (rows != nullptr && g_[v].type.elements() > 1) rows->prefetch_distance = 1;
    }
  }

  // An in-place primitive computes something else, which is correct only in place. So calls that are in place get a
  // separate kernel.
  void mark_in_place(const Graph& kernel, NodeId call) {
    Graph own = kernel;
    own[own.order[0]].attrs.insert_or_assign(kInPlace, true);
    const std::string body = body_key(own);
    auto known = std::find_if(m_.kernels.begin(), m_.kernels.end(),
                              [&](const Graph& k) { return is_in_place(k) && body_key(k) == body; });
    if (known == m_.kernels.end()) {
      own.name = kernel.name + ".in_place";
      for (int suffix = 1; m_.find_kernel(own.name) != nullptr; ++suffix)
        own.name = fmt::format("{}.in_place.{}", kernel.name, suffix);
      known = m_.kernels.insert(m_.kernels.end(), std::move(own));
    }
    const Node& n = (*known)[known->order[0]];
    (*known)[n.results[0]].place = {0, n.operands[0]};
    if (g_[call].callee != known->name) replaced_.insert(g_[call].callee);
    g_[call].callee = known->name;
  }

  Module& m_;
  Graph& g_;
  const Options& options_;
  KernelPlans plans_;
  std::set<std::string> replaced_;             // kernels whose calls were replaced; some may be unused
  std::vector<LiveRange> live_;                // by ValueId index
  std::vector<Slot> slots_;                    // by ValueId index
  std::vector<std::vector<ValueId>> members_;  // by ValueId index of the root
  std::optional<int64_t> most_live_;           // bytes, as values are stored so far; unknown after a merge
};

std::vector<Place> places(const Module& m) {
  std::vector<Place> all;
  for (const auto* graphs : {&m.kernels, &m.bodies, &m.graphs})
    for (const Graph& g : *graphs)
      for (size_t i = 0; i < g.value_count(); ++i) all.push_back(g[ValueId{static_cast<int32_t>(i)}].place);
  return all;
}

void drop_uncalled(Module& m, std::set<std::string> names) {
  for (const Graph* g : m.all_graphs())
    for (const NodeId n : g->order) names.erase((*g)[n].callee);
  std::erase_if(m.kernels, [&](const Graph& k) { return names.count(k.name) != 0; });
}

}  // namespace

bool alias(Module& m, const Options& options) {
  const std::vector<Place> before = places(m);
  for (auto* graphs : {&m.kernels, &m.bodies, &m.graphs})
    for (Graph& g : *graphs) {
      for (size_t i = 0; i < g.value_count(); ++i) g[ValueId{static_cast<int32_t>(i)}].place = {};
      g.arena_bytes = -1;
    }
  bool copied = false;
  std::set<std::string> replaced;
  for (Graph* g : m.all_graphs()) {
    copied |= copy_old_states(*g);
    replaced.merge(Aliasing(m, *g, options).run());
  }
  drop_uncalled(m, replaced);
  return copied || !replaced.empty() || places(m) != before;
}

}  // namespace heddle::passes
