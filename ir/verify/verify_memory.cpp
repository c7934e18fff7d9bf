#include "ir/verify/verify_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "ir/kernel/plan_primitive.h"
#include "ir/op_def.h"
#include "ir/scan.h"
#include "ir/storage/storage.h"
#include "ir/storage/view.h"
#include "ir/verify/written_bytes.h"

namespace heddle::ir {
namespace {

// The state of an execution, shared by a graph and the bodies in it: memory, and the values that writers stand for.
struct Execution {
  const Module* m;
  const FindTurnPlaces& places;
  std::vector<WrittenBytes> memory = {};  // by segment
  std::vector<std::string> problems = {};

  struct Values {  // of one graph, or of one turn of a body
    const Graph* graph;
    std::string turn;  // "turn 1 of @cell"; empty: of the graph that is verified
    Writer first;
  };
  std::vector<Values> known = {};
  Writer next = 0;

  Writer add(const Graph& g, std::string turn) {
    known.push_back({&g, std::move(turn), next});
    next += static_cast<Writer>(g.value_count());
    return known.back().first;
  }
  // The name of value w in messages. Values of the same graph as `reader` have only their name; others also the turn.
  std::string name(Writer w, Writer reader) const {
    const auto of = std::prev(std::ranges::upper_bound(known, w, {}, &Values::first));
    const std::string plain = "%" + (*of->graph)[ValueId{w - of->first}].name;
    return of->first == reader || of->turn.empty() ? plain : plain + " of " + of->turn;
  }
};

constexpr std::array<int64_t, 3> kFirstTurns = {0, 1, 2};

std::vector<int64_t> executed_turns(int64_t count) {
  std::vector<int64_t> list;
  for (const int64_t t : kFirstTurns)
    if (t < count) list.push_back(t);
  if (list.back() + 1 < count) list.push_back(count - 1);
  return list;
}

class MemoryVerifier {
 public:
  MemoryVerifier(Execution& e, const Graph& g, ByteRanges bytes, std::string turn)
      : e_(e),
        g_(g),
        m_(e.m),
        content_(g.value_count()),
        bytes_(std::move(bytes)),
        turn_(std::move(turn)),
        first_(e.add(g, turn_)) {}

  // The whole graph, on its own.
  void run() {
    for_each_value([&](ValueId v) {
      if (bytes(v).segment == 0 && !in_arena(bytes(v))) problem("%{} lies outside the arena", name(v));
    });
    if (e_.problems.empty()) execute();
  }

 private:
  template <class... Args>
  void problem(fmt::format_string<Args...> text, Args&&... args) {
    const std::string what = fmt::format(text, std::forward<Args>(args)...);
    e_.problems.push_back(turn_.empty() ? what : fmt::format("in {}, {}", turn_, what));
  }
  const std::string& name(ValueId v) const { return g_[v].name; }
  const ByteRange& bytes(ValueId v) const { return bytes_.of[index_of(v)]; }
  WrittenBytes& memory(const ByteRange& b) { return e_.memory[b.segment]; }
  Content& content(ValueId v) { return content_[index_of(v)]; }
  Content whole(ValueId v) const { return {{bytes(v).size, first_ + v.index, 0}}; }
  template <class F>
  void for_each_value(F f) const {
    for (const ValueId v : g_.inputs) f(v);
    for (const NodeId n : g_.order)
      for (const ValueId v : g_[n].results) f(v);
  }

  bool in_arena(const ByteRange& b) const {
    return b.begin >= 0 && b.begin <= g_.arena_bytes && b.size <= g_.arena_bytes - b.begin;
  }

  // --- The plan, executed ---
  void execute() {
    e_.memory.resize(bytes_.segments.size());
    for (const ValueId v : g_.inputs) {
      for (const Run& run : memory(bytes(v)).read(bytes(v).begin, bytes(v).size))
        if (run.writer != kNobody) problem("{} and %{} overlap", e_.name(run.writer, first_), name(v));
      write(v, whole(v));
    }
    for (const NodeId n : g_.order) step(g_[n]);
    for (const Update& u : g_.updates) expect(u.next, "it updates %" + name(u.state));
    if (g_.arena_bytes >= 0) updates();
    for (const ValueId v : g_.outputs) expect(v, "the graph returns it");
  }

  // Next values that were not computed in their state are copied there at the end, in any order. Outputs are read after
  // that.
  void updates() {
    std::set<ValueId> copied;
    for (const Update& u : g_.updates)
      if (!(bytes(u.next) == bytes(u.state))) copied.insert(u.state);
    for (const Update& u : g_.updates)
      if (const ValueId root = storage_of(g_, u.next).root; root != u.state && copied.count(root))
        problem("%{} lies in %{}, which another update overwrites", name(u.next), name(root));
    for (const Update& u : g_.updates) memory(bytes(u.state)).write(bytes(u.state).begin, content(u.next));
  }

  void write(ValueId v, Content written) {
    memory(bytes(v)).write(bytes(v).begin, written);
    content(v) = std::move(written);
  }

  // Checks that the bytes of the value still hold what was written.
  void expect(ValueId v, const std::string& reader) {
    const Content now = memory(bytes(v)).read(bytes(v).begin, bytes(v).size);
    if (now == content(v)) return;
    const auto other = std::find_if(now.begin(), now.end(), [&](const Run& run) {
      return std::none_of(content(v).begin(), content(v).end(),
                          [&](const Run& own) { return own.writer == run.writer; });
    });
    const std::string by = other == now.end()         ? "a copy"
                           : other->writer != kNobody ? e_.name(other->writer, first_)
                                                      : "scratch";
    problem("%{} is overwritten by {} before {}", name(v), by, reader);
    content(v) = now;  // one complaint a value
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
    if (is_scan(n)) turns_of(n);
    for (const ValueId r : n.results) write(r, whole(r));
  }

  void results_apart(const Node& n, size_t r) {
    for (size_t other = 0; other < r; ++other)
      if (bytes(n.results[r]).meets(bytes(n.results[other])))
        problem("%{} and %{} overlap", name(n.results[other]), name(n.results[r]));
  }

  // Whether a result may lie over this operand: only if its kernel declares that it reads the operand in step.
  bool in_step(const Node& n, size_t operand, size_t result) const {
    if (!(bytes(n.operands[operand]) == bytes(n.results[result]))) return false;
    if (is_scan(n)) return m_ != nullptr && starts_carry(*m_, n, operand, result);
    const Graph* k = n.callee.empty() || m_ == nullptr ? nullptr : m_->find_kernel(n.callee);
    if (k == nullptr) return n.callee.empty() && std::holds_alternative<Elementwise>(n.op->kind);
    return (*k)[k->outputs[result]].place.base == k->inputs[operand];
  }

  // A kernel in place touches only some rows. The other rows are the operand's, so the result must lie over the
  // operand.
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

  static int64_t workspace_at(const Node& n) { return std::get<int64_t>(attribute(*n.op, n.attrs, "workspace_at")); }

  void scratch(const Node& n) {
    const int64_t needed = m_ == nullptr ? 0 : scratch_bytes(*m_, n);
    if (needed == 0 || g_.arena_bytes < 0) return;
    ByteRange at{0, workspace_at(n), needed};
    if (!in_arena(at)) return problem("the workspace of {} @{} lies outside the arena", n.op->name, n.callee);
    at.begin += arena_;
    for (const auto* values : {&n.operands, &n.results})
      for (const ValueId v : *values)
        if (bytes(v).meets(at)) problem("the workspace of {} @{} overlaps %{}", n.op->name, n.callee, name(v));
    e_.memory[0].write(at.begin, {{at.size, kNobody, 0}});
  }

  // A movement that only renames bytes. Pieces that are not in place are copied, one by one.
  void move(const Node& n, const std::vector<Piece>& pieces) {
    const ValueId result = n.results[0];
    const int64_t size = bits(g_[result].type.dtype) / 8;
    std::map<int64_t, Content> found;  // by the first byte of the result
    for (const Piece& p : pieces) {
      const ValueId operand = n.operands[p.operand];
      const int64_t from = bytes(operand).begin + p.from * size, to = bytes(result).begin + p.to * size;
      const bool stays = bytes(operand).segment == bytes(result).segment && from == to;
      const Content moved = slice(content(operand), p.from * size, p.count * size);
      if (memory(bytes(operand)).read(from, p.count * size) != moved)
        problem("%{} is overwritten while {} copies it into %{}", name(operand), n.op->name, name(result));
      if (!stays) memory(bytes(result)).write(to, moved);
      found[p.to * size] = moved;
    }
    Content& all = content(result);
    for (const auto& [at, runs] : found)
      for (const Run& run : runs) append(all, run);
  }

  // --- A scan, some turns of it ---

  // Memory is planned here and in the body. A body that is wrong on its own is told where it stands.
  const Graph* planned_body(const Node& n) const {
    const Graph* body = m_ == nullptr || g_.arena_bytes < 0 ? nullptr : m_->find_body(n.callee);
    if (body == nullptr || body->arena_bytes < 0) return nullptr;
    return verify_memory(*body, m_, e_.places).empty() ? body : nullptr;
  }

  void turns_of(const Node& n) {
    const Graph* body = planned_body(n);
    if (body == nullptr) return;
    const std::vector<ValueId> inputs = operand_inputs(*body), carries = inputs_with(*body, Role::carry);
    const size_t before = e_.problems.size();
    std::vector<Content> carried;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if ((*body)[inputs[i]].role != Role::carry) continue;
      const ValueId start = n.operands[i], becomes = n.results[carried.size()];
      expect(start, "a carry of @" + n.callee + " starts with it");
      memory(bytes(becomes)).write(bytes(becomes).begin, content(start));
      carried.push_back(content(start));
    }
    for (const int64_t t : executed_turns(turns(n))) {
      MemoryVerifier turn(e_, *body, turn_bytes(*body, n, t), fmt::format("turn {} of @{}", t, n.callee));
      turn.arena_ = arena_ + workspace_at(n);
      take(turn, n, t, carried);
      for (const NodeId id : body->order) turn.step((*body)[id]);
      for (const Update& u : body->updates) turn.expect(u.next, "it updates %" + turn.name(u.state));
      turn.updates();
      leave(turn, n, t, carries.size());
      for (size_t c = 0; c < carries.size(); ++c) carried[c] = turn.content(next_of(*body, carries[c]));
      if (e_.problems.size() > before) return;  // the next turn would say the same
    }
    for (size_t c = 0; c < carries.size(); ++c)
      if (const ValueId r = n.results[c]; memory(bytes(r)).read(bytes(r).begin, bytes(r).size) != carried[c])
        problem("%{} is not what the last turn of @{} leaves in %{}", name(r), n.callee, (*body)[carries[c]].name);
    rows_stay(n, carries.size());
  }

  // Where the body's values lie in turn t, in this graph's segments.
  ByteRanges turn_bytes(const Graph& body, const Node& n, int64_t t) {
    const TurnPlaces places = e_.places(body, n);
    ByteRanges ranges{byte_ranges(body).of, bytes_.segments};
    const auto locate = [&](ValueId v) {
      ByteRange& range = ranges.of[index_of(v)];
      const StorageSpan span = storage_of(body, v);
      const auto outside = places.find(span.root);
      if (outside == places.end()) {
        range.begin += arena_ + workspace_at(n);
        return;
      }
      const TurnPlace& place = outside->second;
      const ValueId array = (place.of_result ? n.results : n.operands)[place.number];
      const ByteRange& given = bytes(array);
      range.segment = given.segment;
      range.begin = given.begin + place.at.offset + t * place.at.stride + span.offset;
      if (range.begin < given.begin || range.end() > given.end())
        problem("in turn {} of @{}, %{} lies outside %{}", t, body.name, body[v].name, name(array));
    };
    for (const ValueId v : body.inputs) locate(v);
    for (const NodeId id : body.order)
      for (const ValueId v : body[id].results) locate(v);
    return ranges;
  }

  // The row of turn t, counted from the first one of the array.
  static int64_t row_of(const Node& n, int64_t t) { return is_reversed(n) ? turns(n) - 1 - t : t; }

  // What the turn finds in its inputs; rows that are copied into the body's arena are copied.
  void take(MemoryVerifier& turn, const Node& n, int64_t t, const std::vector<Content>& carried) {
    const Graph& body = turn.g_;
    const std::vector<ValueId> inputs = operand_inputs(body);
    size_t carry = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const ValueId in = inputs[i];
      const Value& value = body[in];
      const int64_t size = value.type.bytes();
      Content& found = turn.content(in);
      found = value.role == Role::carry   ? carried[carry++]
              : value.role == Role::slice ? slice(content(n.operands[i]), row_of(n, t) * size, size)
                                          : content(n.operands[i]);
      ByteRange from = turn.bytes(in);
      if (!lies_outside(value)) {
        const RowPlace place = row_place(value.type, n);
        from = bytes(n.operands[i]);
        from.begin += place.offset + t * place.stride;
        memory(turn.bytes(in)).write(turn.bytes(in).begin, found);
      }
      if (memory(from).read(from.begin, size) != found)
        turn.problem("{} %{} is not found where it lies", to_string(value.role), value.name);
    }
    for (const ValueId in : inputs_with(body, Role::index)) turn.write(in, turn.whole(in));
  }

  // Rows that were not made in their place are copied there. From here on they are rows of the scan's results.
  void leave(MemoryVerifier& turn, const Node& n, int64_t t, size_t carries) {
    const Graph& body = turn.g_;
    for (size_t k = 0; k < body.outputs.size(); ++k) {
      const ValueId v = body.outputs[k];
      turn.expect(v, "the turn leaves it");
      ByteRange to = bytes(n.results[carries + k]);
      const RowPlace place = row_place(body[v].type, n);
      to.begin += place.offset + t * place.stride;
      memory(to).write(to.begin, turn.content(v));
    }
    for (size_t k = 0; k < body.outputs.size(); ++k) {
      const ValueId v = body.outputs[k], all = n.results[carries + k];
      const int64_t size = body[v].type.bytes(), from = row_of(n, t) * size, at = bytes(all).begin + from;
      if (memory(bytes(all)).read(at, size) != turn.content(v))
        turn.problem("%{} is not left in its row of %{}", turn.name(v), name(all));
    }
    for (size_t k = 0; k < body.outputs.size(); ++k) {
      const ValueId all = n.results[carries + k];
      const int64_t size = body[body.outputs[k]].type.bytes(), from = row_of(n, t) * size;
      memory(bytes(all)).write(bytes(all).begin + from, {{size, first_ + all.index, from}});
    }
  }

  // No later turn has overwritten the rows of an earlier one.
  void rows_stay(const Node& n, size_t carries) {
    for (size_t r = carries; r < n.results.size(); ++r) {
      const ValueId all = n.results[r];
      const int64_t size = bytes(all).size / turns(n);
      for (const int64_t t : executed_turns(turns(n))) {
        const int64_t from = row_of(n, t) * size;
        if (memory(bytes(all)).read(bytes(all).begin + from, size) != Content{{size, first_ + all.index, from}})
          problem("the row of turn {} of %{} is overwritten by a later turn of @{}", t, name(all), n.callee);
      }
    }
  }

  Execution& e_;
  const Graph& g_;
  const Module* m_;
  std::vector<Content> content_;  // by ValueId index, once it is computed
  ByteRanges bytes_;
  std::string turn_;
  Writer first_ = 0;   // the number of its first value
  int64_t arena_ = 0;  // where the graph's own begins in segment 0
};

// --- Places, before anything is executed ---

bool bases_end(const Graph& g, ValueId v) {
  std::set<ValueId> seen{v};
  while (g[v].place.base.valid())
    if (!seen.insert(v = g[v].place.base).second) return false;
  return true;
}

std::string place_problem(const Graph& g, ValueId v, const std::vector<int>& stacked) {
  const Value& value = g[v];
  const Place& at = value.place;
  if (lies_outside(value) && (at.placed() || at.base.valid()))
    return fmt::format("%{} {}, and has a place", value.name, is_state(value) ? "is a state" : "lies outside the body");
  if (at.base.valid()) {
    const int64_t room = g[at.base].type.bytes() - value.type.bytes();
    if (at.offset < 0 || at.offset > room)
      return fmt::format("%{} at %{} + {} lies outside it", value.name, g[at.base].name, at.offset);
  }
  const ValueId root = storage_of(g, v).root;
  const bool elsewhere = lies_outside(g[root]) || stacked[index_of(root)] >= 0;
  if (g.arena_bytes >= 0 && !elsewhere && !g[root].place.placed())
    return fmt::format("memory is planned, but %{} has no place", value.name);
  return {};
}

std::vector<std::string> place_problems(const Graph& g) {
  std::vector<std::string> problems;
  std::vector<ValueId> all = g.inputs;
  for (const NodeId n : g.order) all.insert(all.end(), g[n].results.begin(), g[n].results.end());
  for (const ValueId v : all)
    if (!bases_end(g, v)) problems.push_back(fmt::format("the places of %{} form a cycle", g[v].name));
  if (!problems.empty()) return problems;
  const std::vector<int> stacked = stacked_in_place(g);
  for (const ValueId v : all)
    if (std::string text = place_problem(g, v, stacked); !text.empty()) problems.push_back(std::move(text));
  return problems;
}

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

std::vector<std::string> verify_memory(const Graph& g, const Module* m, const FindTurnPlaces& places) {
  for (const NodeId id : g.order)
    if (const Node& n = g[id]; says_in_place(n) && !(is_in_place(g) && lies_over_operand(g, n)))
      return {fmt::format("%{} is computed in place, and no kernel's result over its operand", g[n.results[0]].name)};
  if (!has_places(g)) return {};
  if (g.schedule) return verify_kernel_places(g);
  if (std::vector<std::string> problems = place_problems(g); !problems.empty()) return problems;
  Execution execution{.m = m, .places = places};
  MemoryVerifier(execution, g, byte_ranges(g), "").run();
  return std::move(execution.problems);
}

}  // namespace heddle::ir
