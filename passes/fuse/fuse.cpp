#include "passes/fuse/fuse.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <set>
#include <utility>

#include "ir/check.h"
#include "ir/kernel/plan_primitive.h"
#include "passes/dead_code.h"
#include "passes/fuse/cast_for_calls.h"
#include "passes/fuse/held.h"
#include "passes/fuse/measured_schedules.h"
#include "passes/fuse/partners.h"
#include "passes/fuse/remarks.h"
#include "passes/scan/rebuild.h"

namespace heddle::passes {
namespace {

using namespace ir;

// The effort spent on refused kernels after which a group is not merged further. It bounds compile time: a
// concatenation of hundreds of values would be tried with each reader of each value.
constexpr size_t kMostSpent = 4096;

// Calls f for each value that is in both lists. The lists are sorted.
template <class F>
void for_common(const std::vector<ValueId>& a, const std::vector<ValueId>& b, const F& f) {
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] < b[j])
      ++i;
    else if (b[j] < a[i])
      ++j;
    else {
      f(a[i]);
      ++i, ++j;
    }
  }
}

bool overwrites(const Node& n) {
  const auto* primitive = std::get_if<Primitive>(&n.op->kind);
  return primitive != nullptr && !primitive->overwrites.empty();
}

int64_t common_bytes(const Graph& g, const std::vector<ValueId>& a, const std::vector<ValueId>& b) {
  int64_t bytes = 0;
  for_common(a, b, [&](ValueId v) { bytes += g[v].type.bytes(); });
  return bytes;
}

class Fuser {
 public:
  Fuser(KernelTable& kernels, Shared& shared, Graph& g, const Options& options)
      : kernels_(kernels),
        shared_(shared),
        g_(g),
        options_(options),
        groups_(g, shared, options.remark != nullptr),
        partners_(groups_),
        version_(static_cast<size_t>(count()), 0),
        spent_(static_cast<size_t>(count()), 0),
        refused_(static_cast<size_t>(count())),
        remarks_(g, groups_, refused_, options) {}

  void run() {
    for (int a = 0; a < count(); ++a)
      if (!groups_[a].fixed)
        for (int b : partners_.of(a))
          if (a < b) consider(a, b);
    while (merge_best()) {
    }
    remarks_.groups_made();
    outline();
    remarks_.tell_edges();
  }

 private:
  using Pair = std::pair<int, int>;
  // A pair of groups to merge. It is outdated if one of them has grown since; the pair has then been considered again.
  struct Choice {
    double gain;
    int64_t held;  // held_longer; of equal gains, the choice that holds less comes first
    Pair pair;
    int versions;  // the sum of both versions, which only grow
    bool operator<(const Choice& o) const {
      return gain != o.gain ? gain < o.gain : held != o.held ? held > o.held : pair > o.pair;
    }
  };

  int count() const { return groups_.count(); }
  int versions(Pair p) const {
    return version_[static_cast<size_t>(p.first)] + version_[static_cast<size_t>(p.second)];
  }
  std::map<int, std::string>& refused(int i) { return refused_[static_cast<size_t>(i)]; }

  // The bytes that one kernel for a and b saves. The saved launch counts as the bytes that take as long to move. 0: not
  // worth a try.
  double gain(int a, int b) const {
    const Group &x = groups_[a], &y = groups_[b];
    bool adjacent = groups_.readers(a).count(b) != 0 || groups_.readers(b).count(a) != 0;
    if (!adjacent && (x.part || y.part)) return 0;  // so that equal parts have equal kernels
    int64_t shared = common_bytes(g_, x.reads, y.reads);
    bool cheap = Partners::anywhere(x) || Partners::anywhere(y) || (Partners::small(x) && Partners::small(y));
    if (!adjacent && !cheap && shared * 4 < std::min(x.cost.bytes_read, y.cost.bytes_read)) return 0;
    return static_cast<double>(shared + passed_between({a, b})) + options_.target.launch * options_.target.bandwidth;
  }

  int64_t passed_between(Pair pair) const {
    const Group &x = groups_[pair.first], &y = groups_[pair.second];
    return passed_bytes(pair, x, y) + passed_bytes(pair, y, x);
  }

  // The bytes that one group writes and the other reads. One kernel saves the read, and also the write if there is no
  // other reader.
  int64_t passed_bytes(Pair pair, const Group& writer, const Group& reader) const {
    int64_t bytes = 0;
    for_common(writer.writes, reader.reads, [&](ValueId v) {
      bytes += g_[v].type.bytes() * (groups_.needed_beside(v, pair.first, pair.second) ? 1 : 2);
    });
    return bytes;
  }

  // Whether one kernel would hold much more memory than it saves in bytes moved.
  bool holds_much(Pair pair, int64_t held) const {
    if (held < kMuchHeld) return false;
    const int64_t shared = common_bytes(g_, groups_[pair.first].reads, groups_[pair.second].reads);
    return (shared + passed_between(pair)) * kLeastSaved < held;
  }

  // Whether the iteration spaces may fit together. A quick test; plan_kernel decides.
  static bool fits(const Group& a, const Group& b) {
    const Group& big = a.points >= b.points ? a : b;
    const Group& small = a.points >= b.points ? b : a;
    if (a.product || b.product) return true;
    return small.points == big.points || small.points == big.rows || small.points == big.columns || small.points == 1 ||
           big.points % small.points == 0;
  }

  void consider(int a, int b) {
    if (!fits(groups_[a], groups_[b]) || refused(a).count(b)) return;
    if (double g = gain(a, b); g > 0) choices_.push({g, held_longer(g_, groups_, a, b), {a, b}, versions({a, b})});
  }

  bool merge_best() {
    while (!choices_.empty()) {
      const Choice best = choices_.top();
      choices_.pop();
      auto [a, b] = best.pair;
      if (!groups_[a].alive || !groups_[b].alive || versions(best.pair) != best.versions) continue;
      // A path between a and b can only disappear when one of them grows. Then the pair is considered again.
      const GroupOrder::Separation separation = groups_.separation(a, b);
      if (separation.answer != GroupOrder::Separation::Answer::apart || !try_merge(best, separation)) continue;
      for (int i : partners_.of(a)) consider(std::min(i, a), std::max(i, a));
      return true;
    }
    return false;
  }

  // Whether one kernel would take longer than two. All three costs use the same bandwidth, so that two kernels do not
  // win only because each of them fits the cache.
  bool slower(const Cost& merged, const Cost& a, const Cost& b) const {
    const Target& t = options_.target;
    double bandwidth = merged.bytes() <= t.cache_bytes ? t.cache_bandwidth : t.bandwidth;
    auto seconds = [&](const Cost& c) {
      return std::max(static_cast<double>(c.bytes()) / bandwidth, c.compute_seconds) + t.launch;
    };
    return seconds(merged) > seconds(a) + seconds(b);
  }

  bool try_merge(const Choice& choice, const GroupOrder::Separation& separation) {
    const Pair pair = choice.pair;
    const int64_t held = choice.held;
    auto [a, b] = pair;
    if (groups_[a].size + groups_[b].size > kMostNodes)
      return refuse(pair, fmt::format("the kernel would have more than {} operators", kMostNodes));
    const size_t pointers =
        groups_[a].reads.size() + groups_[a].writes.size() + groups_[b].reads.size() + groups_[b].writes.size();
    if (pointers > kMostPointers)
      return refuse(pair, fmt::format("the kernel might take more than {} pointers", kMostPointers));
    if (holds_much(pair, held)) return refuse(pair, "what each of them reads would lie in memory at the same time");
    if (std::max(spent(a), spent(b)) > kMostSpent) return refuse(pair, "too many others were tried before");
    Groups::Candidate c = groups_.candidate(a, b);
    if (!c.reason.empty()) return refuse_tried(pair, c.reason);
    if (slower(c.group.cost, groups_[a].cost, groups_[b].cost)) return refuse_tried(pair, "it would take longer");
    partners_.remove(a);
    partners_.remove(b);
    groups_.merge(a, b, separation, std::move(c.group));
    partners_.add(a);
    ++version_[static_cast<size_t>(a)];
    spent(a) = std::max(spent(a), spent(b));
    inherit_refusals(a, b);
    return true;
  }

  bool refuse(Pair pair, const std::string& reason) {
    refused(pair.first).emplace(pair.second, reason);
    refused(pair.second).emplace(pair.first, reason);
    return false;
  }

  bool refuse_tried(Pair pair, const std::string& reason) {
    const size_t effort = this->effort(pair.first) + this->effort(pair.second);
    spent(pair.first) += effort;
    spent(pair.second) += effort;
    return refuse(pair, reason);
  }

  // The effort to plan a kernel: proportional to its operators and operands.
  size_t effort(int i) const { return groups_[i].size + groups_[i].reads.size(); }
  size_t& spent(int i) { return spent_[static_cast<size_t>(i)]; }

  // A group that could not be merged with b cannot be merged with a, which now contains b.
  void inherit_refusals(int a, int b) {
    for (const auto& [other, reason] : std::exchange(refused(b), {})) {
      refused(other).erase(b);
      refuse({a, other}, reason);
    }
  }

  // The groups with producers first. If a group returns a node that other groups copy, groups outlined later read it
  // from the group's call. In another order that could close a cycle.
  std::vector<int> groups_in_order() const {
    std::vector<int> waiting(static_cast<size_t>(count()), 0), order;
    std::set<int> ready;
    for (int i = 0; i < count(); ++i)
      for (int reader : groups_.readers(i)) ++waiting[static_cast<size_t>(reader)];
    for (int i = 0; i < count(); ++i)
      if (waiting[static_cast<size_t>(i)] == 0) ready.insert(i);
    while (!ready.empty()) {
      const int next = *ready.begin();
      ready.erase(ready.begin());
      order.push_back(next);
      for (int reader : groups_.readers(next))
        if (--waiting[static_cast<size_t>(reader)] == 0) ready.insert(reader);
    }
    return order;
  }

  void outline() {
    for (int i : groups_in_order())
      if (groups_[i].alive && !groups_[i].fixed) outline(groups_[i].owned);
    // Nodes that overwrite operands have few readers. They come last, so that the sort does not move other nodes
    // forward for them.
    std::stable_partition(g_.order.begin(), g_.order.end(), [&](NodeId n) { return !overwrites(g_[n]); });
    sort_topologically(g_);
  }

  // Outlines a group. A value that the group copied when its schedule was found may be in memory by now, because
  // another kernel returns it. So the kernel is assessed again. If the remaining nodes have no schedule together, each
  // one becomes a kernel.
  void outline(std::vector<NodeId> owned) {
    const Sketch s = groups_.sketch(owned);
    Assessment& a = shared_.assessor.assess(g_, s);
    if (!a.schedule && owned.size() > 1) {
      remarks_.split(groups_.of(owned.front()), a.reason);
      const std::vector<int>& position = groups_.roles().position;
      std::sort(owned.begin(), owned.end(),
                [&](NodeId x, NodeId y) { return position[index_of(x)] < position[index_of(y)]; });
      for (const NodeId n : owned) outline({n});
      return;
    }
    HEDDLE_CHECK(a.schedule, "a group has no schedule: " + a.reason);
    remarks_.outlined(owned, s);
    if (a.kernel.empty()) {
      Graph kernel = extract(g_, s.nodes, s.results).kernel;
      kernel.schedule = a.schedule;
      a.kernel = kernels_.add(std::move(kernel));
    }
    remarks_.kernel_made(groups_.of(owned.front()), a.kernel);
    replace_by_call(g_, members_of(s), s.operands, s.results, a.kernel);
  }

  KernelTable& kernels_;
  Shared& shared_;
  Graph& g_;
  const Options& options_;
  Groups groups_;
  Partners partners_;
  std::priority_queue<Choice> choices_;
  std::vector<int> version_;   // by group: how often it has grown
  std::vector<size_t> spent_;  // by group: effort spent on refused kernels
  Refusals refused_;
  FusionRemarks remarks_;
};

void outline_primitive(KernelTable& kernels, Graph& g, const std::vector<NodeId>& nodes, const Options& options) {
  std::vector<ValueId> results;
  for (const NodeId n : nodes)
    for (const ValueId v : g[n].results)
      if (n == nodes.back() ||
          std::ranges::none_of(g[v].uses, [&](NodeId use) { return std::ranges::count(nodes, use) > 0; }))
        results.push_back(v);
  Extract e = extract(g, nodes, results);
  e.kernel.schedule = primitive_schedule(e.kernel, options.target);
  replace_by_call(g, {nodes}, e.operands, results, kernels.add(std::move(e.kernel)));
}

// Makes a kernel of each primitive, which a function of the preamble executes. The groups then see only its call.
bool outline_primitives(KernelTable& kernels, Graph& g, const Options& options) {
  bool changed = false;
  for (const NodeId n : std::vector<NodeId>(g.order)) {
    if (!std::holds_alternative<Primitive>(g[n].op->kind) || overwrites(g[n])) continue;
    note_primitive(g, g[n], options);
    outline_primitive(kernels, g, {n}, options);
    changed = true;
  }
  if (changed) sort_topologically(g);
  return changed;
}

// The next primitive to join with this one: the only reader of a result that it writes over an operand, with the same
// operator. Invalid if there is none.
NodeId joined_to(const Graph& g, NodeId id) {
  const Node& n = g[id];
  const auto& primitive = std::get<Primitive>(n.op->kind);
  if (!primitive.joins) return {};
  for (const Overwrite& o : primitive.overwrites) {
    const NodeId use = g.only_use(n.results[o.result]);
    if (use.valid() && g[use].op == n.op && g[use].operands[o.operand] == n.results[o.result]) return use;
  }
  return {};
}

// The same for primitives that overwrite operands. A chain of primitives that join becomes one kernel. Runs after the
// groups are made, because the rules of groups expect that calls go to libraries or other primitives.
bool outline_overwriting(KernelTable& kernels, Graph& g, const Options& options) {
  bool changed = false;
  for (const NodeId first : std::vector<NodeId>(g.order)) {
    if (g[first].erased || !overwrites(g[first])) continue;
    std::vector<NodeId> nodes{first};
    for (NodeId next = joined_to(g, first); next.valid(); next = joined_to(g, next)) nodes.push_back(next);
    for (const NodeId n : nodes) note_primitive(g, g[n], options);
    outline_primitive(kernels, g, nodes, options);
    changed = true;
  }
  if (changed) sort_topologically(g);
  return changed;
}

}  // namespace

bool fuse(Module& m, const Options& options) {
  bool changed = false;
  KernelTable kernels(m);
  Shared shared(options.target);
  for (Graph* graph : m.all_graphs()) {
    Graph& g = *graph;
    if (g.body) changed |= copy_returned_carries(g);
    changed |= remove_dead_nodes(g);
    changed |= cast_for_calls(g, options);
    changed |= outline_primitives(kernels, g, options);
    size_t before = g.node_count();
    Fuser(kernels, shared, g, options).run();
    changed |= outline_overwriting(kernels, g, options);
    changed |= g.node_count() != before;
  }
  changed |= follow_measured_schedules(m, options);
  return changed;
}

}  // namespace heddle::passes
