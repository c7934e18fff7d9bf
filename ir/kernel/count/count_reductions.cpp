// CountBody, reductions inside a point: counts their loops and additions.
#include <algorithm>
#include <cmath>
#include <utility>

#include "ir/kernel/count/count_body.h"
#include "ir/kernel/count/scalar_instructions.h"
#include "ir/kernel/long_sums.h"
#include "ir/kernel/plan_reductions.h"

namespace heddle::ir {

void CountBody::make_single(const loop::Single& single, double warps) {
  const WarpTimes times = std::exchange(times_, {.launch = warps});
  spreads_ = true;
  value(single.value, single.at);
  define(single.value, 0);
  spreads_ = false;
  times_ = times;
}

// The coordinates on which the defined operands of a reduction depend.
Depends CountBody::defined_below(const Node& n) const {
  Depends on = 0;
  for (const ValueId o : n.operands) {
    const auto& [is, known] = defined_[static_cast<size_t>(o.index)];
    if (is) on |= known;
    if (const Node* def = k_.def(o); def != nullptr && !is) on |= defined_below(*def);
  }
  return on;
}

// The number of loads and elementwise operations from which the node's operands are computed inside the loops.
double CountBody::work_below(const Node& n) const {
  std::vector<char> seen(k_.value_count(), 0);
  std::vector<ValueId> open = n.operands;
  double work = 0;
  while (!open.empty()) {
    const ValueId v = open.back();
    open.pop_back();
    const auto i = static_cast<size_t>(v.index);
    if (std::exchange(seen[i], 1) || defined_[i].first) continue;
    const Node* def = k_.def(v);
    const auto* elementwise = def != nullptr ? std::get_if<Elementwise>(&def->op->kind) : nullptr;
    work += def == nullptr || elementwise != nullptr ? 1 : 0;
    if (def != nullptr) open.insert(open.end(), def->operands.begin(), def->operands.end());
  }
  return work;
}

// The loops from there on are unrolled: all where codegen asks for it, else as many of the
// innermost ones as make no more instructions than so many. Of each element: what is loaded and
// what is computed of it, a product and a sum, and a zero, a branch and a choice.
size_t CountBody::find_straight(const Node& n, const ReductionAccess& access) const {
  if (product(loops_) <= kUnrolledPoints) return 0;
  if (spread_over_ > 0) return loops_.size();
  constexpr double kMost = 130;
  const bool guarded = std::any_of(access.operands.begin(), access.operands.end(),
                                   [](const IndexMap& operand) { return !operand.guards.empty(); });
  double each = work_below(n) + 2 + (guarded ? 3 : 0);
  if (packets_) each *= static_cast<double>(times_.packet);
  size_t first = loops_.size();
  for (; first > 0; --first) {
    each *= static_cast<double>(loops_[first - 1]);
    if (each > kMost) break;
  }
  return first;
}

Depends CountBody::reduce(ValueId v, const Node& n, const Signature& s, const IndexMap& at) {
  ReductionDomain d;
  reduction_domain(s, d);
  const ReductionAccess access =
      spreads_ ? single_reduction(s, d, {at.extents[kRow], at.extents[kColumn]}) : inner_reduction(s, d, at);
  Depends on = defined_below(n) | depends(access.k);
  for (const IndexMap& operand : access.operands) on |= depends(operand);
  const Depends inside = (Depends{1} << base_) - 1;
  on &= inside;
  double points = static_cast<double>(product(access.loops));
  loops_ = access.loops;
  extents_ = access.operands[0].extents;
  loops_on_ = on;
  constexpr int64_t kSteps = 5;
  if (spreads_) {
    spread_over_ = std::exchange(loops_[0], (loops_[0] + kLanes - 1) / kLanes);
    to_.instructions.values += kSteps * (3 + add_work(n)) * executions(0);
  }
  packets_ = spread_over_ == 0 && reduces_packets(packets(), k_, n, access);
  straight_ = find_straight(n, access);
  unrolled_ = straight_ == 0;
  Depends all = on;
  for (size_t i = 0; i < loops_.size(); ++i)
    if (loops_[i] > 1) all |= Depends{1} << (base_ + i);
  accumulate(n, access, all);
  if (is_long_sum(s, d, spreads_))
    to_.instructions.values += (flush_instructions(s.operands[0].dtype) + 2) * executions(all) / kRun;
  if (!unrolled_) {
    constexpr double kLoop = 4;
    if (spread_over_ > 0) points = static_cast<double>(product(loops_));
    double turns = std::ceil(points / kTurnsAtOnce);
    if (straight_ < loops_.size())
      turns = static_cast<double>(product({loops_.begin(), loops_.begin() + static_cast<std::ptrdiff_t>(straight_)}));
    to_.instructions.indices += kLoop * (1 + turns) * executions(on, !packets_);
    turns_ += turns * executions(on, !packets_) / times_.launch;
  }
  if (!unrolled_) std::erase_if(known_, [&](const Known& known) { return (known.on >> base_) != 0; });
  const auto of_loop = [&](const IndexExpr& e) { return (depends(e) >> base_) != 0; };
  std::erase_if(met_, [&](const Loaded& l) { return of_loop(l.linear) || (depends(l.guards) >> base_) != 0; });
  std::erase_if(quotients_, of_loop);
  std::erase_if(conditions_, [&](const Guard& g) { return of_loop(g.expr); });
  std::erase_if(joined_, [&](const auto& g) { return (depends(g) >> base_) != 0; });
  loops_.clear(), extents_.clear();
  spread_over_ = 0;
  unrolled_ = strides_ = packets_ = false;
  straight_ = 0;
  finish(n, executions(on));
  for (const ValueId r : n.results)
    if (r != v) known_.push_back({r, at, on});
  return on;
}

// A product and a sum, or what the element and the monoid ask for. The best of a straight line begins with its first
// element; which one it was is followed where somebody asks.
double CountBody::add_work(const Node& n) const {
  const auto* reduction = std::get_if<Reduction>(&n.op->kind);
  if (reduction == nullptr) return 2;
  double add = reduction->monoid.add, valid = 0;
  for (size_t r = 0; r < n.results.size(); ++r) {
    const bool used = k_.is_output(n.results[r]) || !k_[n.results[r]].uses.empty();
    if (used && reduction->finish[r].find("acc.index") != std::string::npos) add += 1;
    if (used && mentions(reduction->finish[r], "valid")) valid = 1;
  }
  const auto points = static_cast<double>(product(loops_));
  if (unrolled_ && add > 1 && points > 0) add *= (points - 1) / points;
  return scalar_instructions(reduction->element) + add + valid;
}

// Whether an element is added is chosen: of neighbours of a straight line under the same conditions once, unless
// something is loaded between them.
double CountBody::choices(const Node& n, const ReductionAccess& access, const std::vector<Guard>& guards) const {
  double each = open_share(guards, access.operands[0].extents);
  for (size_t i = 0; i < n.operands.size(); ++i)
    if (packets_ && depends_on(access.operands[i], kColumn) &&
        !reads_packets(packets(), k_, n.operands[i], access.operands[i]))
      return each;
  const Depends on = depends(guards) >> base_;
  for (size_t i = loops_.size(); i-- > straight_ && (on >> i & 1U) == 0;) each /= static_cast<double>(loops_[i]);
  return each;
}

void CountBody::accumulate(const Node& n, const ReductionAccess& access, Depends at) {
  Depends on = at;
  std::vector<Guard> known;
  for (const IndexMap& operand : access.operands)
    known.insert(known.end(), operand.guards.begin(), operand.guards.end());
  if (unrolled_)
    for (const IndexMap& operand : access.operands)
      around_.insert(around_.end(), operand.guards.begin(), operand.guards.end());
  bool guarded = false;
  double some = 1;  // of the warps that add anything
  for (size_t i = 0; i < n.operands.size(); ++i) {
    on |= value(n.operands[i], access.operands[i]);
    conditions(access.operands[i].guards, access.operands[i].extents);
    guarded = guarded || !std::all_of(access.operands[i].guards.begin(), access.operands[i].guards.end(),
                                      [&](const Guard& g) { return is_known(g); });
    some = std::min(some, reached(access.operands[i].guards));
  }
  around_.clear();
  const double outside = std::exchange(share_, known_share(known));
  to_.instructions.values += ((guarded ? choices(n, access, known) : 0) + add_work(n) * some) * executions(on);
  share_ = outside;
}

void CountBody::finish(const Node& n, double times) {
  const auto* reduction = std::get_if<Reduction>(&n.op->kind);
  if (reduction == nullptr) return;
  for (const std::string& text : reduction->finish)
    to_.instructions.values +=
        text.starts_with("acc") && text.find(' ') == std::string::npos ? 0 : scalar_instructions(text) * times;
}

}  // namespace heddle::ir
