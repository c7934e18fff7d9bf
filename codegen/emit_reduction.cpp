// Reductions inside a point: a window, a short axis, a contraction without a library, as sequential loops.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/emit_body.h"
#include "codegen/scalar_functions.h"
#include "ir/check.h"
#include "ir/kernel/long_sums.h"
#include "ir/kernel/plan_reductions.h"

namespace heddle::codegen {

using namespace ir;  // NOLINT: this file speaks of little else

void Body::make_single(const loop::Single& single) {
  spread_ = true;
  define(single.value, value(single.value, single.at).text);
  spread_ = false;
}

// Written in the outermost scope that knows what it reads, so that nothing repeats it.
Operand Body::reduce(ValueId v, const Node& n, const Signature& s, const IndexMap& at) {
  ReductionDomain d;
  HEDDLE_CHECK(reduction_domain(s, d) != nullptr, "an operator of a kind that kernels do not hold: " + n.op->name);
  size_t covers = covers_below(n);
  const auto add = [&](const IndexExpr& e) {
    for (size_t c = covers; c < at.extents.size(); ++c)  // of the reduction's own loops nothing is known yet
      if (depends_on(e, static_cast<int>(c))) covers = c + 1;
  };
  const ReductionAccess access = inner_reduction(s, d, at);
  for (const IndexMap& operand : access.operands) {
    for (const IndexExpr& e : operand.results) add(e);
    for (const Guard& g : operand.guards) add(g.expr);
  }
  add(access.k);
  Operand result;
  in_scope(scope_for(covers, covers > kColumn), [&] { result = reduce_here(v, n, s, at); });
  return result;
}

// As if the scopes inside of this one were not open.
void Body::in_scope(size_t scope, const std::function<void()>& write) {
  std::vector<Scope> inner(std::make_move_iterator(scopes_.begin() + static_cast<std::ptrdiff_t>(scope) + 1),
                           std::make_move_iterator(scopes_.end()));
  scopes_.resize(scope + 1);
  std::vector<Known> hidden;
  for (const Known& known : known_)
    if (known.operand.scope > scope) hidden.push_back(known);
  std::erase_if(known_, [&](const Known& known) { return known.operand.scope > scope; });
  write();
  known_.insert(known_.end(), hidden.begin(), hidden.end());
  scopes_.insert(scopes_.end(), std::make_move_iterator(inner.begin()), std::make_move_iterator(inner.end()));
}

// What the defined values that the node is computed from need: a reduction over nothing reads the row's own result.
size_t Body::covers_below(const Node& n) const {
  std::vector<size_t> covers(k_.value_count(), 0);
  const auto most = [&](const Node& node) {
    size_t sum = 0;
    for (const ValueId o : node.operands) sum = std::max(sum, covers[static_cast<size_t>(o.index)]);
    return sum;
  };
  for (const NodeId id : k_.order) {
    const size_t operands = most(k_[id]);
    for (const ValueId r : k_[id].results)
      covers[static_cast<size_t>(r.index)] = defined_.contains(r) ? defined_covers(r) : operands;
  }
  return most(n);
}

Operand Body::reduce_here(ValueId v, const Node& n, const Signature& s, const IndexMap& at) {
  ReductionDomain d;
  reduction_domain(s, d);
  const ReductionAccess access = spread_ ? single_reduction(s, d, text_.plan.space()) : inner_reduction(s, d, at);
  Running running{
      .accumulator = text_.names.fresh(k_[n.results[0]].name + "_acc"),
      .valid = finish_needs_valid(s) ? text_.names.fresh(k_[n.results[0]].name + "_valid") : "",
      .packets = reduces_packets(packets(scopes_.size() > 1 && scopes_[scopes_.size() - 2].packet), k_, n, access),
      .runs = is_long_sum(s, d, spread_)};
  // Before the loop over the packet's points.
  in_scope(scopes_.size() - (running.packets ? 2 : 1), [&] { reduce_loops(n, s, access, running); });
  Operand asked;
  for (size_t r = 0; r < n.results.size(); ++r) {
    if (k_[n.results[r]].uses.empty() && !k_.is_output(n.results[r])) continue;
    const std::string finish =
        finish_call(s, r, running.at(running.accumulator), access.count, running.at(running.valid));
    const Operand result = named(n.results[r], finish, scopes_.size() - 1, n.loc);
    if (n.results[r] == v)
      asked = result;
    else
      know(n.results[r], at, result);
  }
  return asked;
}

// The statement that adds one point; `condition` is where it contributes.
std::string Body::add_text(const Node& n, const Signature& s, const ReductionAccess& access,
                           const std::string& accumulator, std::string& condition) {
  std::vector<std::string> arguments, guards;
  for (size_t i = 0; i < n.operands.size(); ++i) {
    arguments.push_back(value(n.operands[i], access.operands[i]).text);
    const std::string guard = condition_text(access.operands[i]);
    if (!guard.empty() && std::find(guards.begin(), guards.end(), guard) == guards.end()) guards.push_back(guard);
  }
  condition = joined(guards, " && ");
  const std::string k = element_needs_k(s) ? index(access.k, access.operands[0].extents) : "";
  const bool indexed = monoid_of(*s.op).indexed;
  return fmt::format("{}.add({}{});", accumulator, element_call(s, arguments, k), indexed ? ", " + k : "");
}

// One point of the loops: of a packet, all of its elements.
std::vector<std::string> Body::reduce_point(const Node& n, const Signature& s, const ReductionAccess& access,
                                            const Running& running) {
  if (running.packets) open(2 + access.loops.size(), /*packet=*/true);
  open(2 + access.loops.size());
  const std::string valid = running.at(running.valid);
  std::string condition;
  const std::string add = add_text(n, s, access, running.at(running.accumulator), condition);
  line(condition.empty() ? add : fmt::format("if ({}) {}", condition, add));
  if (!valid.empty()) line(condition.empty() ? valid + " += 1;" : fmt::format("{} += {} ? 1 : 0;", valid, condition));
  std::vector<std::string> elements = close();
  if (!running.packets) return elements;
  lines(block(each_of_packet(), elements));
  return close();
}

// Behind a turn of the loop that `counter` counts.
std::string Body::end_run(int64_t turns, const std::string& accumulator, const std::string& counter) const {
  std::string flush = fmt::format("hd::flush({});", accumulator);
  if (turns == 1) return flush;
  const std::string turn = spread_ ? fmt::format("HD_SPREAD_TURN({})", counter) : counter;
  return fmt::format("if ({} % {} == {}) {}", turn, turns, turns - 1, flush);
}

void Body::reduce_loops(const Node& n, const Signature& s, const ReductionAccess& access, const Running& running) {
  const auto declare = [&](const std::string& type, const std::string& name, const char* value) {
    const std::string packet = fmt::format("hd::Packet<{}, {}>", type, text_.vector_width);
    line(fmt::format("{} {}{};", running.packets ? packet : type, name, value));
  };
  declare(running.runs ? fmt::format("hd::Long<{}>", monoid(s)) : monoid(s), running.accumulator, "");
  if (!running.valid.empty()) declare("hd::i64", running.valid, running.packets ? "{}" : " = 0");
  const size_t outer = coordinates_.size();
  for (size_t i = 0; i < access.loops.size(); ++i)
    coordinates_.push_back(access.loops[i] == 1 ? "0" : text_.names.fresh(fmt::format("i{}", i)));
  std::vector<std::string> inside = reduce_point(n, s, access, running);
  const bool unrolled = product(access.loops) <= kUnrolledPoints;
  const RunOfLoops run = run_of_loops(access.loops);
  for (size_t i = access.loops.size(); i-- > 0;) {
    if (access.loops[i] == 1) continue;
    const std::string& c = coordinates_[outer + i];
    const bool ends = running.runs && i == run.loop;
    if (ends) inside.push_back(end_run(run.turns, running.accumulator, c));
    if (spread_) {
      inside = block(fmt::format("HD_SPREAD({}, {}, {})", text_.index_type, c, access.loops[i]), inside);
      continue;
    }
    inside = block(fmt::format("for ({0} {1} = 0; {1} < {2}; ++{1})", text_.index_type, c, access.loops[i]), inside);
    inside.insert(inside.begin(), unrolled ? "HD_UNROLL" : "HD_LOOP");
    if (ends && access.loops[i] % run.turns != 0 && i > 0) inside.push_back(end_run(1, running.accumulator, c));
  }
  coordinates_.resize(outer);
  lines(inside);
  if (spread_) line(fmt::format("{0} = hd::merge_lanes<1>({0});", running.accumulator));
}

}  // namespace heddle::codegen
