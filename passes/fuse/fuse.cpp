#include "passes/fuse/fuse.h"

#include <fmt/format.h>

#include "passes/dead_code.h"
#include "passes/fuse/form.h"
#include "passes/fuse/groups.h"

namespace heddle::passes {
namespace {

using namespace ir;

constexpr int64_t kSmallPoints = 1024;  // below this a launch costs more than the work

int64_t common_bytes(const Graph& g, const std::vector<ValueId>& a, const std::vector<ValueId>& b) {
  int64_t bytes = 0;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] < b[j])
      ++i;
    else if (b[j] < a[i])
      ++j;
    else {
      bytes += g[a[i]].type.bytes();
      ++i, ++j;
    }
  }
  return bytes;
}

class Fuser {
 public:
  Fuser(Module& m, Graph& g, const Options& options)
      : m_(m), g_(g), options_(options), groups_(g, options.target), edges_(edges()) {}

  void run() {
    for (int a = 0; a < count(); ++a)
      for (int b = a + 1; b < count(); ++b) consider(a, b);
    while (merge_best()) {
    }
    note_edges();
    outline();
  }

 private:
  using Pair = std::pair<int, int>;
  struct Choice {
    double gain;
    Pair pair;
    bool operator<(const Choice& o) const { return gain != o.gain ? gain > o.gain : pair < o.pair; }
  };

  int count() const { return static_cast<int>(groups_.all().size()); }

  // Producer and consumer of each value that connects two groups at the start: what a user may ask about.
  std::vector<std::pair<NodeId, NodeId>> edges() const {
    std::vector<std::pair<NodeId, NodeId>> list;
    for (size_t i = 0; i < groups_.all().size(); ++i)
      for (int reader : groups_.readers(static_cast<int>(i)))
        if (!groups_[static_cast<int>(i)].fixed && !groups_[reader].fixed)
          list.emplace_back(groups_[static_cast<int>(i)].owned[0], groups_[reader].owned[0]);
    return list;
  }

  // Bytes that need not be moved when a and b are one kernel, a launch counted as the bytes that take as long; 0: not
  // worth a try.
  double gain(int a, int b) const {
    const Group &x = groups_[a], &y = groups_[b];
    bool adjacent = groups_.readers(a).count(b) != 0 || groups_.readers(b).count(a) != 0;
    if (!adjacent && (x.part || y.part)) return 0;  // so that equal parts have equal kernels
    int64_t shared = common_bytes(g_, x.reads, y.reads);
    bool small = x.points == 1 || y.points == 1 || (x.points <= kSmallPoints && y.points <= kSmallPoints);
    if (!adjacent && !small && shared * 4 < std::min(x.cost.bytes_read, y.cost.bytes_read)) return 0;
    int64_t passed = common_bytes(g_, x.writes, y.reads) + common_bytes(g_, y.writes, x.reads);
    return static_cast<double>(shared + 2 * passed) + options_.target.launch * options_.target.bandwidth;
  }

  // Whether the iteration spaces can be one; plan_kernel has the last word.
  static bool fits(const Group& a, const Group& b) {
    const Group& big = a.points >= b.points ? a : b;
    const Group& small = a.points >= b.points ? b : a;
    return small.points == big.points || small.points == big.rows || small.points == big.columns || small.points == 1 ||
           big.points % small.points == 0;
  }

  void consider(int a, int b) {
    const Group &x = groups_[a], &y = groups_[b];
    if (!x.alive || !y.alive || x.fixed || y.fixed || !fits(x, y) || refused_.count({a, b})) return;
    if (double g = gain(a, b); g > 0) choices_.insert({g, {a, b}});
  }

  bool merge_best() {
    while (!choices_.empty()) {
      auto [a, b] = choices_.begin()->pair;
      choices_.erase(choices_.begin());
      // Only when a or b grows can a path between them go away; the pair is considered again then.
      if (groups_.path_between(a, b) || groups_.path_between(b, a) || !try_merge({a, b})) continue;
      reconsider(a, b);
      return true;
    }
    return false;
  }

  void reconsider(int merged, int gone) {
    std::erase_if(choices_, [&](const Choice& c) {
      auto touches = [&](int i) { return c.pair.first == i || c.pair.second == i; };
      return touches(merged) || touches(gone);
    });
    for (int i = 0; i < count(); ++i)
      if (i != merged) consider(std::min(i, merged), std::max(i, merged));
  }

  // All three at one bandwidth: two kernels do not pay because each of them alone would fit a cache.
  bool slower(const Cost& merged, const Cost& a, const Cost& b) const {
    const Target& t = options_.target;
    double bandwidth = merged.bytes() <= t.cache_bytes ? t.cache_bandwidth : t.bandwidth;
    auto seconds = [&](const Cost& c) {
      return std::max(static_cast<double>(c.bytes()) / bandwidth, c.flops / t.flops) + t.launch;
    };
    return seconds(merged) > seconds(a) + seconds(b);
  }

  bool try_merge(Pair pair) {
    auto [a, b] = pair;
    if (groups_[a].size + groups_[b].size > kMostNodes) {
      refused_[pair] = fmt::format("the kernel would have more than {} operators", kMostNodes);
      return false;
    }
    Groups::Candidate c = groups_.candidate(a, b);
    if (c.reason.empty() && slower(c.group.cost, groups_[a].cost, groups_[b].cost)) c.reason = "it would take longer";
    if (!c.reason.empty()) {
      refused_[pair] = c.reason;
      return false;
    }
    groups_.merge(a, b, std::move(c.group));
    inherit_refusals(a, b);
    return true;
  }

  // What did not fit one part does not fit the whole.
  void inherit_refusals(int a, int b) {
    std::vector<std::pair<Pair, std::string>> moved;
    for (const auto& [pair, reason] : refused_) {
      if (pair.first != b && pair.second != b) continue;
      int other = pair.first == b ? pair.second : pair.first;
      moved.emplace_back(std::minmax(a, other), reason);
    }
    for (auto& [pair, reason] : moved) refused_.emplace(pair, reason);
  }

  void note_edges() const {
    for (NodeId n : groups_.fates().apart)
      options_.note("fuse", g_, "%" + g_[g_[n].results[0]].name,
                    "its parts have kernels of their own: one kernel would compute each of them for every element");
    for (auto [from, to] : edges_) {
      int a = groups_.of(from), b = groups_.of(to);
      if (a == b) continue;
      auto refused = refused_.find(std::minmax(a, b));
      std::string reason = refused != refused_.end() ? refused->second
                           : groups_.path_between(a, b) || groups_.path_between(b, a)
                               ? "another kernel lies between"
                               : "their elements do not correspond";
      options_.note("fuse", g_, fmt::format("%{} -> %{}", g_[g_[from].results[0]].name, g_[g_[to].results[0]].name),
                    "not fused: " + reason);
    }
  }

  // Producers first. A copied node that one group also returns is read from that group's call by the groups outlined
  // after it: in any other order that could close a cycle.
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
    for (int i : groups_in_order()) {
      const Group& group = groups_[i];
      if (!group.alive || group.fixed) continue;
      Members members = groups_.members(group.owned);
      Extract e = extract(g_, members);
      choose_form(e.kernel, options_.target);
      replace_by_call(m_, g_, members, std::move(e));
    }
    sort_topologically(g_);
  }

  Module& m_;
  Graph& g_;
  const Options& options_;
  Groups groups_;
  std::vector<std::pair<NodeId, NodeId>> edges_;
  std::set<Choice> choices_;
  std::map<Pair, std::string> refused_;
};

}  // namespace

bool fuse(Module& m, const Options& options) {
  bool changed = false;
  for (Graph& g : m.graphs) {
    changed |= remove_dead_nodes(g);
    size_t before = g.node_count();
    Fuser(m, g, options).run();
    changed |= g.node_count() != before;
  }
  return changed;
}

}  // namespace heddle::passes
