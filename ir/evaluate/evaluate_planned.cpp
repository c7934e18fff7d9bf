// Evaluation through planned memory: results are stored at their places and read back from there, bytes that die are
// poisoned. A kernel's results and workspace are poisoned before its operands are read, so that an overlap nobody
// declared as in place shows.
#include <fmt/format.h>

#include <algorithm>

#include "ir/check.h"
#include "ir/evaluate/checked_memory.h"
#include "ir/evaluate/evaluate_node.h"
#include "ir/scan.h"
#include "ir/storage/storage.h"
#include "ir/storage/view.h"

namespace heddle::ir {
namespace {

class PlannedRun {
 public:
  PlannedRun(const Module& m, const Graph& g, Precision precision)
      : m_(m), g_(g), precision_(precision), bytes_(byte_ranges(g)) {
    for (const int64_t bytes : bytes_.segments) segments_.emplace_back(bytes);
    for (const LiveRange& range : live_ranges(g)) last_use_.push_back(range.last);
  }

  std::vector<Tensor> run(const Operands& inputs, const std::vector<ValueId>& requested) {
    for (const ValueId v : requested) last_use_[index_of(v)] = static_cast<int64_t>(g_.order.size());
    for (size_t i = 0; i < inputs.size(); ++i) store(g_.inputs[i], *inputs[i]);
    live_ = g_.inputs;
    for (size_t i = 0; i < g_.order.size(); ++i) {
      step(g_[g_.order[i]]);
      bury(static_cast<int64_t>(i));
    }
    std::vector<Tensor> results;
    results.reserve(requested.size());
    for (const ValueId v : requested) results.push_back(load(v));
    return results;
  }

 private:
  const ByteRange& range(ValueId v) const { return bytes_.of[index_of(v)]; }

  CheckedMemory& memory(ValueId v) { return segments_[range(v).segment]; }
  void store(ValueId v, const Tensor& t) { memory(v).write(range(v).begin, t, 0, t.elements()); }
  Tensor load(ValueId v) { return memory(v).read(range(v).begin, g_[v].type); }
  ValueId root(ValueId v) const { return storage_of(g_, v).root; }

  void step(const Node& n) {
    const std::vector<Piece> pieces = contiguous_pieces(g_, n);
    if (pieces.empty()) spoil(n);
    std::vector<Tensor> loaded;
    Operands operands;
    for (const ValueId v : n.operands) loaded.push_back(load(v));
    for (const Tensor& t : loaded) operands.push_back(&t);
    const std::vector<Tensor> results = is_scan(n) ? evaluate_scan(m_, n, operands, precision_, evaluate_planned)
                                                   : evaluate_node(m_, g_, n, operands, precision_);
    for (size_t i = 0; i < results.size(); ++i) {
      if (pieces.empty()) {
        store(n.results[i], results[i]);
      } else {
        copy_pieces(n, results[i], pieces);
      }
      live_.push_back(n.results[i]);
    }
  }

  // Poisons what a kernel may overwrite before it reads: workspace, and results that are not in place.
  void spoil(const Node& n) {
    for (const ValueId r : n.results) {
      const bool in_place =
          std::any_of(n.operands.begin(), n.operands.end(), [&](ValueId v) { return root(v) == root(r); });
      if (!in_place) memory(r).poison(range(r).begin, range(r).end());
    }
    const int64_t bytes = scratch_bytes(m_, n);
    const auto at = n.attrs.find("workspace_at");
    if (bytes == 0 || at == n.attrs.end()) return;
    const int64_t begin = std::get<int64_t>(at->second);
    segments_[0].poison(begin, begin + bytes);
  }

  // A movement that only renames bytes copies those pieces that do not lie in place already.
  void copy_pieces(const Node& n, const Tensor& result, const std::vector<Piece>& pieces) {
    const ValueId r = n.results[0];
    const int64_t size = bits(g_[r].type.dtype) / 8;
    for (const Piece& p : pieces) {
      const ByteRange& from = range(n.operands[p.operand]);
      const int64_t target = range(r).begin + p.to * size;
      if (from.segment == range(r).segment && from.begin + p.from * size == target) continue;
      memory(r).write(target, result, p.to, p.count);
    }
  }

  // Poisons the bytes of values that were used for the last time, except where a live value shares them. States stay:
  // their storage outlives the run.
  void bury(int64_t position) {
    const auto dead = [&](ValueId v) { return last_use_[index_of(v)] <= position; };
    const auto first_dead = std::stable_partition(live_.begin(), live_.end(), [&](ValueId v) { return !dead(v); });
    const std::vector<ValueId> died(first_dead, live_.end());
    live_.erase(first_dead, live_.end());
    for (const ValueId v : died)
      if (!lies_outside(g_[v])) poison_unshared(v);
  }

  void poison_unshared(ValueId v) {
    std::vector<ByteRange> shared;
    for (const ValueId other : live_)
      if (range(other).meets(range(v))) shared.push_back(range(other));
    std::sort(shared.begin(), shared.end(), [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
    int64_t at = range(v).begin;
    for (const ByteRange& e : shared) {
      if (e.begin > at) memory(v).poison(at, e.begin);
      at = std::max(at, e.end());
    }
    if (at < range(v).end()) memory(v).poison(at, range(v).end());
  }

  const Module& m_;
  const Graph& g_;
  Precision precision_;
  ByteRanges bytes_;
  std::vector<CheckedMemory> segments_;
  std::vector<int64_t> last_use_;
  std::vector<ValueId> live_;
};

}  // namespace

std::vector<Tensor> evaluate_planned(const Module& m, const Graph& g, const Operands& inputs,
                                     const std::vector<ValueId>& requested, Precision precision) {
  if (g.arena_bytes < 0) throw UserError(ExitCode::failed, fmt::format("the memory of @{} is not planned", g.name));
  return PlannedRun(m, g, precision).run(inputs, requested);
}

}  // namespace heddle::ir
