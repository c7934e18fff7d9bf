// Text of reductions inside a point, as sequential loops: a window, a short axis, a contraction without a library.
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

// Prints the reduction in the outermost scope that has the coordinates of its operands, so that it is not repeated.
Operand Body::reduce(ValueId v, const Node& n, const Signature& s, const IndexMap& at) {
  ReductionDomain d;
  HEDDLE_CHECK(reduction_domain(s, d) != nullptr, "an operator of a kind that kernels do not hold: " + n.op->name);
  size_t covers = covers_below(n);
  const auto add = [&](const IndexExpr& e) {
    for (size_t c = covers; c < at.extents.size(); ++c)  // without the reduction's own loops, which are not open yet
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

// Runs `write` with `scope` as the innermost scope; the scopes inside it are hidden meanwhile.
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

// The coordinates that defined values need from which the node is computed. For example, a reduction of one element may
// read the result of its row.
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
      .columns = reduces_columns(access),
      .runs = is_long_sum(s, d, spread_)};
  // Before the loop over the packet's points, or over columns.
  in_scope(scopes_.size() - (running.packets || running.columns ? 2 : 1), [&] { reduce_loops(n, s, access, running); });
  Operand asked;
  for (size_t r = 0; r < n.results.size(); ++r) {
    if (k_[n.results[r]].uses.empty() && !k_.is_output(n.results[r])) continue;
    const std::string finish = finish_call(s, r, running.sum(), access.count, running.at(running.valid));
    const Operand result = named(n.results[r], finish, scopes_.size() - 1, n.loc);
    if (n.results[r] == v)
      asked = result;
    else
      know(n.results[r], at, result);
  }
  return asked;
}

// The statement that adds one point. `condition` becomes the condition under which the point contributes.
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

// Whether a long reduction loop is interchanged with the surrounding loop over columns (on the host). Then the compiler
// vectorises over the columns. Each column has an accumulator, and takes the same elements in the same order. A mean
// over positions takes a fourth of the time.
bool Body::reduces_columns(const ReductionAccess& access) const {
  constexpr int64_t kLeast = 8, kMost = 1024;
  if (generated(*k_.schedule).threads > 1 || text_.vector_width > 1 || spread_ || !behind_row_ || !text_.kept.empty())
    return false;
  if (scopes_.size() < 2 || scopes_.back().covers != kColumn + 1 || first_bound_ != SIZE_MAX) return false;
  return product(access.loops) > kUnrolledPoints && text_.plan.columns >= kLeast && text_.plan.columns <= kMost;
}

std::vector<std::string> Body::reduce_columns(const Node& n, const Signature& s, const ReductionAccess& access,
                                              const Running& running) {
  around_columns_ = reduced_columns_ = true;
  open(2 + access.loops.size());
  const std::string valid = running.at(running.valid);
  std::string condition;
  const std::string add = add_text(n, s, access, running.sum(), condition);
  const bool of_rows = std::ranges::none_of(access.operands, [](const IndexMap& at) {
    return std::ranges::any_of(at.guards, [](const Guard& g) { return depends_on(g.expr, kColumn); });
  });
  const std::string inside = condition.empty() || of_rows ? "" : fmt::format("if ({}) ", condition);
  line(inside + add);
  if (!valid.empty()) line(inside + valid + " += 1;");
  around_columns_ = false;
  const std::vector<std::string> columns =
      block(fmt::format("HD_IVDEP HD_LOOP for ({0} column = 0; column < {1}; ++column)", text_.index_type,
                        text_.plan.columns),
            close());
  return condition.empty() || !of_rows ? columns : block(fmt::format("if ({})", condition), columns);
}

// The text of one point of the loops; with packets, of all elements of a packet.
std::vector<std::string> Body::reduce_point(const Node& n, const Signature& s, const ReductionAccess& access,
                                            const Running& running) {
  if (running.columns) return reduce_columns(n, s, access, running);
  if (running.packets) open(2 + access.loops.size(), /*packet=*/true);
  open(2 + access.loops.size());
  const std::string valid = running.at(running.valid);
  std::string condition;
  const std::string add = add_text(n, s, access, running.sum(), condition);
  line(condition.empty() ? add : fmt::format("if ({}) {}", condition, add));
  if (!valid.empty()) line(condition.empty() ? valid + " += 1;" : fmt::format("{} += {} ? 1 : 0;", valid, condition));
  std::vector<std::string> elements = close();
  if (!running.packets) return elements;
  lines(block(each_of_packet(), elements));
  return close();
}

// The text after a turn of the loop with this counter: it ends a run after every `turns` turns.
std::string Body::end_run(int64_t turns, const Running& running, const std::string& counter) const {
  std::string flush =
      running.columns ? running.accumulator + ".flush();" : fmt::format("hd::flush({});", running.accumulator);
  if (turns == 1) return flush;
  const std::string turn = spread_ ? fmt::format("HD_SPREAD_TURN({})", counter) : counter;
  return fmt::format("if ({} % {} == {}) {}", turn, turns, turns - 1, flush);
}

void Body::reduce_loops(const Node& n, const Signature& s, const ReductionAccess& access, const Running& running) {
  const auto declare = [&](const std::string& type, const std::string& name, const char* value) {
    const std::string packet = fmt::format("hd::Packet<{}, {}>", type, text_.vector_width);
    const std::string all =
        running.columns && !type.starts_with("hd::Long") ? fmt::format("[{}]", text_.plan.columns) : "";
    line(fmt::format("{} {}{}{};", running.packets ? packet : type, name, all, value));
  };
  const std::string of_long = running.columns
                                  ? fmt::format("hd::LongColumnResults<{}, {}, 1, 1>", monoid(s), text_.plan.columns)
                                  : fmt::format("hd::Long<{}>", monoid(s));
  declare(running.runs ? of_long : monoid(s), running.accumulator, "");
  if (!running.valid.empty()) declare("hd::i64", running.valid, running.packets || running.columns ? "{}" : " = 0");
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
    if (ends) inside.push_back(end_run(run.turns, running, c));
    if (spread_) {
      inside = block(fmt::format("HD_SPREAD({}, {}, {})", text_.index_type, c, access.loops[i]), inside);
      continue;
    }
    inside = block(fmt::format("for ({0} {1} = 0; {1} < {2}; ++{1})", text_.index_type, c, access.loops[i]), inside);
    inside.insert(inside.begin(), unrolled ? "HD_UNROLL" : "HD_LOOP");
    if (ends && access.loops[i] % run.turns != 0 && i > 0) inside.push_back(end_run(1, running, c));
  }
  coordinates_.resize(outer);
  lines(inside);
  if (running.columns && running.runs) line(fmt::format("{0}.flush(), {0}.sums();", running.accumulator));
  if (spread_) line(fmt::format("{0} = hd::merge_lanes<1>({0});", running.accumulator));
}

}  // namespace heddle::codegen
