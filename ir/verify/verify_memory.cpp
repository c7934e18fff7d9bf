#include "ir/verify/verify_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ir/kernel/plan_primitive.h"
#include "ir/op_def.h"
#include "ir/scan.h"
#include "ir/storage/storage.h"
#include "ir/storage/view.h"

namespace heddle::ir {
namespace {

// Neighbouring bytes that one value wrote, from `from` on in it.
struct Run {
  int64_t bytes = 0;
  ValueId writer;  // invalid: nobody, or a kernel's scratch
  int64_t from = 0;
  bool operator==(const Run&) const = default;
};
using Content = std::vector<Run>;

void append(Content& content, const Run& run) {
  if (run.bytes == 0) return;
  if (!content.empty()) {
    Run& back = content.back();
    const bool goes_on = back.writer == run.writer && (!run.writer.valid() || back.from + back.bytes == run.from);
    if (goes_on) {
      back.bytes += run.bytes;
      return;
    }
  }
  content.push_back(run);
}

Content slice(const Content& content, int64_t begin, int64_t bytes) {
  Content part;
  int64_t at = 0;
  for (const Run& run : content) {
    const int64_t low = std::max(at, begin), high = std::min(at + run.bytes, begin + bytes);
    if (low < high) append(part, {high - low, run.writer, run.from + low - at});
    at += run.bytes;
  }
  return part;
}

// Who wrote each byte of one segment.
class Writers {
 public:
  void write(int64_t at, const Content& content) {
    for (const Run& run : content) {
      clear(at, at + run.bytes);
      runs_[at] = run;
      at += run.bytes;
    }
  }
  Content read(int64_t begin, int64_t bytes) const {
    Content content;
    const int64_t end = begin + bytes;
    int64_t at = begin;
    auto it = runs_.upper_bound(begin);
    if (it != runs_.begin()) --it;
    for (; it != runs_.end() && it->first < end; ++it) {
      const int64_t low = std::max(at, it->first), high = std::min(it->first + it->second.bytes, end);
      if (low >= high) continue;
      append(content, {low - at, {}, 0});
      append(content, {high - low, it->second.writer, it->second.from + low - it->first});
      at = high;
    }
    append(content, {end - at, {}, 0});
    return content;
  }

 private:
  // Cuts the runs at both ends, so that [begin, end) holds none.
  void clear(int64_t begin, int64_t end) {
    cut(begin);
    cut(end);
    runs_.erase(runs_.lower_bound(begin), runs_.lower_bound(end));
  }
  void cut(int64_t at) {
    auto it = runs_.lower_bound(at);
    if (it == runs_.begin()) return;
    --it;
    const int64_t end = it->first + it->second.bytes;
    if (end <= at) return;
    const int64_t kept = at - it->first;
    runs_[at] = {end - at, it->second.writer, it->second.from + kept};
    it->second.bytes = kept;
  }

  std::map<int64_t, Run> runs_;  // by their first byte
};

class MemoryVerifier {
 public:
  MemoryVerifier(const Graph& g, const Module* m) : g_(g), m_(m), content_(g.value_count()) {}

  std::vector<std::string> run() {
    for_each_value([&](ValueId v) { place(v); });
    if (!problems_.empty()) return std::move(problems_);
    bytes_ = byte_ranges(g_);
    for_each_value([&](ValueId v) {
      if (bytes(v).segment == 0 && !in_arena(bytes(v))) problem("%{} lies outside the arena", name(v));
    });
    if (problems_.empty()) execute();
    return std::move(problems_);
  }

 private:
  template <class... Args>
  void problem(fmt::format_string<Args...> text, Args&&... args) {
    problems_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }
  const std::string& name(ValueId v) const { return g_[v].name; }
  const ByteRange& bytes(ValueId v) const { return bytes_.of[index_of(v)]; }
  template <class F>
  void for_each_value(F f) const {
    for (const ValueId v : g_.inputs) f(v);
    for (const NodeId n : g_.order)
      for (const ValueId v : g_[n].results) f(v);
  }

  // --- Bytes of each value ---
  bool bases_end(ValueId v) {
    std::set<ValueId> seen{v};
    while (g_[v].place.base.valid())
      if (!seen.insert(v = g_[v].place.base).second) return false;
    return true;
  }

  void place(ValueId v) {
    const Value& value = g_[v];
    const Place& at = value.place;
    const bool outside = lies_outside(value);
    if (outside && (at.placed() || at.base.valid()))
      return problem("%{} {}, and has a place", value.name, is_state(value) ? "is a state" : "lies outside the body");
    if (!bases_end(v)) return problem("the places of %{} form a cycle", value.name);
    if (at.base.valid()) {
      const int64_t room = g_[at.base].type.bytes() - value.type.bytes();
      if (at.offset < 0 || at.offset > room)
        return problem("%{} at %{} + {} lies outside it", value.name, name(at.base), at.offset);
    }
    const ValueId root = storage_of(g_, v).root;
    if (stacked_.empty()) stacked_ = stacked_in_place(g_);
    const bool elsewhere = lies_outside(g_[root]) || stacked_[index_of(root)] >= 0;
    if (g_.arena_bytes >= 0 && !elsewhere && !g_[root].place.placed())
      problem("memory is planned, but %{} has no place", value.name);
  }

  bool in_arena(const ByteRange& b) const {
    return b.begin >= 0 && b.begin <= g_.arena_bytes && b.size <= g_.arena_bytes - b.begin;
  }

  // --- The plan, executed ---
  void execute() {
    memory_.resize(bytes_.segments.size());
    for (const ValueId v : g_.inputs) {
      for (const Run& run : memory_[bytes(v).segment].read(bytes(v).begin, bytes(v).size))
        if (run.writer.valid()) problem("%{} and %{} overlap", name(run.writer), name(v));
      write(v, {{bytes(v).size, v, 0}});
    }
    for (const NodeId n : g_.order) step(g_[n]);
    for (const Update& u : g_.updates) expect(u.next, "it updates %" + name(u.state));
    if (g_.arena_bytes >= 0) updates();
    for (const ValueId v : g_.outputs) expect(v, "the graph returns it");
  }

  // What was not computed in its state is copied there at the end, in any order; outputs are read after that.
  void updates() {
    std::set<ValueId> copied;
    for (const Update& u : g_.updates)
      if (!(bytes(u.next) == bytes(u.state))) copied.insert(u.state);
    for (const Update& u : g_.updates)
      if (const ValueId root = storage_of(g_, u.next).root; root != u.state && copied.count(root))
        problem("%{} lies in %{}, which another update overwrites", name(u.next), name(root));
    for (const Update& u : g_.updates)
      memory_[bytes(u.state).segment].write(bytes(u.state).begin, content_[index_of(u.next)]);
  }

  void write(ValueId v, Content content) {
    memory_[bytes(v).segment].write(bytes(v).begin, content);
    content_[index_of(v)] = std::move(content);
  }

  // The value's elements are where they were written.
  void expect(ValueId v, const std::string& reader) {
    const Content now = memory_[bytes(v).segment].read(bytes(v).begin, bytes(v).size);
    if (now == content_[index_of(v)]) return;
    const auto other = std::find_if(now.begin(), now.end(), [&](const Run& run) {
      return std::none_of(content_[index_of(v)].begin(), content_[index_of(v)].end(),
                          [&](const Run& own) { return own.writer == run.writer; });
    });
    const std::string by = other == now.end()      ? "a copy"
                           : other->writer.valid() ? "%" + name(other->writer)
                                                   : "scratch";
    problem("%{} is overwritten by {} before {}", name(v), by, reader);
    content_[index_of(v)] = now;  // one complaint a value
  }

  void step(const Node& n) {
    const std::string reader = n.op->name + (n.callee.empty() ? "" : " @" + n.callee) + " reads it";
    for (const ValueId v : n.operands) expect(v, reader);
    const std::vector<Piece> pieces = contiguous_pieces(g_, n);
    if (!pieces.empty()) return move(n, pieces);
    scratch(n);
    in_place(n);
    for (size_t r = 0; r < n.results.size(); ++r) {
      results_apart(n, r);
      for (size_t i = 0; i < n.operands.size(); ++i)
        if (bytes(n.results[r]).meets(bytes(n.operands[i])) && !in_step(n, i, r))
          problem("%{} is computed over %{}, which {} still reads", name(n.results[r]), name(n.operands[i]),
                  n.callee.empty() ? n.op->name : "@" + n.callee);
    }
    for (const ValueId r : n.results) write(r, {{bytes(r).size, r, 0}});
  }

  void results_apart(const Node& n, size_t r) {
    for (size_t other = 0; other < r; ++other)
      if (bytes(n.results[r]).meets(bytes(n.results[other])))
        problem("%{} and %{} overlap", name(n.results[other]), name(n.results[r]));
  }

  // A result may lie over the operand that its kernel says it reads in step, and over no other.
  bool in_step(const Node& n, size_t operand, size_t result) const {
    if (!(bytes(n.operands[operand]) == bytes(n.results[result]))) return false;
    if (is_scan(n)) return m_ != nullptr && starts_carry(*m_, n, operand, result);
    const Graph* k = n.callee.empty() || m_ == nullptr ? nullptr : m_->find_kernel(n.callee);
    if (k == nullptr) return n.callee.empty() && std::holds_alternative<Elementwise>(n.op->kind);
    return (*k)[k->outputs[result]].place.base == k->inputs[operand];
  }

  // What touches some rows only leaves the others as they are: those of its operand.
  void in_place(const Node& n) {
    const Graph* k = n.callee.empty() || m_ == nullptr ? nullptr : m_->find_kernel(n.callee);
    if (k == nullptr) return;
    if (is_in_place(*k)) lies_over(n, 0, 0);
    for (const auto& [input, output] : overwritten_inputs(*k)) lies_over(n, output, input);
  }
  void lies_over(const Node& n, size_t result, size_t operand) {
    if (bytes(n.results[result]) == bytes(n.operands[operand])) return;
    problem("@{} is executed in place, and %{} does not lie over %{}", n.callee, name(n.results[result]),
            name(n.operands[operand]));
  }

  void scratch(const Node& n) {
    const int64_t needed = m_ == nullptr ? 0 : scratch_bytes(*m_, n);
    if (needed == 0 || g_.arena_bytes < 0) return;
    const ByteRange at{0, std::get<int64_t>(attribute(*n.op, n.attrs, "workspace_at")), needed};
    if (!in_arena(at)) return problem("the workspace of {} @{} lies outside the arena", n.op->name, n.callee);
    for (const auto* values : {&n.operands, &n.results})
      for (const ValueId v : *values)
        if (bytes(v).meets(at)) problem("the workspace of {} @{} overlaps %{}", n.op->name, n.callee, name(v));
    memory_[0].write(at.begin, {{at.size, {}, 0}});
  }

  // A movement that only renames bytes: what does not lie in place is copied, piece by piece.
  void move(const Node& n, const std::vector<Piece>& pieces) {
    const ValueId result = n.results[0];
    const int64_t size = bits(g_[result].type.dtype) / 8;
    std::map<int64_t, Content> content;  // by the first byte of the result
    for (const Piece& p : pieces) {
      const ValueId operand = n.operands[p.operand];
      const int64_t from = bytes(operand).begin + p.from * size, to = bytes(result).begin + p.to * size;
      const bool in_place = bytes(operand).segment == bytes(result).segment && from == to;
      const Content moved = slice(content_[index_of(operand)], p.from * size, p.count * size);
      if (memory_[bytes(operand).segment].read(from, p.count * size) != moved)
        problem("%{} is overwritten while {} copies it into %{}", name(operand), n.op->name, name(result));
      if (!in_place) memory_[bytes(result).segment].write(to, moved);
      content[p.to * size] = moved;
    }
    Content& all = content_[index_of(result)];
    for (const auto& [at, runs] : content)
      for (const Run& run : runs) append(all, run);
  }

  const Graph& g_;
  const Module* m_;
  std::vector<Content> content_;  // by ValueId index, once it is computed
  ByteRanges bytes_;
  std::vector<int> stacked_;     // see stacked_in_place
  std::vector<Writers> memory_;  // by segment
  std::vector<std::string> problems_;
};

// What alias notes on a kernel: results that lie over an operand of equal size.
std::vector<std::string> verify_kernel_places(const Graph& k) {
  std::vector<std::string> problems;
  const auto one_of = [](const std::vector<ValueId>& list, ValueId v) {
    return std::find(list.begin(), list.end(), v) != list.end();
  };
  for (size_t i = 0; i < k.value_count(); ++i) {
    const ValueId v{static_cast<int32_t>(i)};
    const Place& at = k[v].place;
    if (!at.placed() && !at.base.valid()) continue;
    const bool right = at.base.valid() && at.offset == 0 && one_of(k.outputs, v) && one_of(k.inputs, at.base) &&
                       k[v].type.bytes() == k[at.base].type.bytes();
    if (!right) problems.push_back(fmt::format("%{} lies over no operand of its size", k[v].name));
  }
  return problems;
}

// Before memory is planned each value has bytes of its own, and nothing can go wrong.
bool has_places(const Graph& g) {
  if (g.arena_bytes >= 0) return true;
  for (size_t i = 0; i < g.value_count(); ++i)
    if (const Place& at = g[ValueId{static_cast<int32_t>(i)}].place; at.placed() || at.base.valid()) return true;
  return false;
}

bool says_in_place(const Node& n) {
  const auto found = n.attrs.find(kInPlace);
  return found != n.attrs.end() && found->second == Attr(true);
}

bool lies_over_operand(const Graph& k, const Node& n) {
  return k.schedule.has_value() && k[n.results[0]].place.base == n.operands[0];
}

}  // namespace

std::vector<std::string> verify_memory(const Graph& g, const Module* m) {
  for (const NodeId id : g.order)
    if (const Node& n = g[id]; says_in_place(n) && !(is_in_place(g) && lies_over_operand(g, n)))
      return {fmt::format("%{} is computed in place, and no kernel's result over its operand", g[n.results[0]].name)};
  if (!has_places(g)) return {};
  return g.schedule ? verify_kernel_places(g) : MemoryVerifier(g, m).run();
}

}  // namespace heddle::ir
