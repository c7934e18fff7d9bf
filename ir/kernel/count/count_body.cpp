#include "ir/kernel/count/count_body.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

#include "ir/kernel/count/scalar_instructions.h"
#include "ir/kernel/plan_singles.h"
#include "ir/visit.h"

namespace heddle::ir {
namespace {

// What codegen unrolls of loops inside a point; the compiler unrolls others by about as many turns.
constexpr int64_t kUnrolledPoints = 16, kTurnsAtOnce = 12;

}  // namespace

void CountBody::enter(const WarpTimes& times, std::vector<WarpPoint> points, Depends here) {
  times_ = times;
  points_ = std::move(points);
  here_ = here;
}

void CountBody::forget() {
  known_.clear(), met_.clear(), quotients_.clear(), sums_.clear(), addresses_.clear(), loaded_.clear(),
      conditions_.clear();
}

void CountBody::next_pass(const std::vector<KeptValue>& kept) {
  const auto varies = [](Depends on) { return (on & ~kOnRow) != 0; };
  std::erase_if(known_, [&](const Known& known) {
    const auto same = [&](const KeptValue& k) { return k.value == known.v && k.at == known.at; };
    return varies(known.on) && std::none_of(kept.begin(), kept.end(), same);
  });
  const auto on_column = [&](const IndexExpr& e) { return varies(depends(e)); };
  std::erase_if(quotients_, on_column);
  std::erase_if(sums_, on_column);
  loaded_.clear();
  std::erase_if(met_, [&](const Loaded& l) { return varies(l.on); });
  std::erase_if(addresses_, [&](const auto& a) { return varies(depends(a.second)); });
  std::erase_if(conditions_, [&](const Guard& g) { return varies(depends(g.expr)); });
}

double CountBody::executions(Depends on, bool each_element) const {
  const Depends loops = on >> base_, inside = (Depends{1} << base_) - 1;
  double times = times_.launch + (before_ && on == 0 ? times_.idle : 0);
  // In a loop that is no straight line nothing is shared by the elements of a packet, unless it goes round them all.
  const bool own = loops != 0 && !unrolled_;
  const bool elements = each_element && ((own && !packets_ ? on | loops_on_ : on) & kOnColumn) != 0;
  if (own) on |= loops_on_;
  if ((on & inside) != 0) times = times_.rows;
  if ((on & inside & ~kOnRow) != 0) times = (on & inside) == kOnColumn ? times_.columns : times_.packets;
  if ((on & inside) == kOnDepth && times_.depth > 0) times = times_.depth;
  if (elements) times *= static_cast<double>(times_.packet);
  double points = 1;
  for (size_t i = loops_.size(); i-- > 0;)
    if ((loops >> i & 1U) != 0 || (!unrolled_ && points > 1)) points *= static_cast<double>(loops_[i]);
  return times * points * share_;
}

bool CountBody::is_known(const Guard& g) const {
  Depends known = times_.known > 0 ? kOnColumn : 0;
  for (size_t i = 0; i < loops_.size(); ++i)
    if (unrolled_ || (i + 1 == loops_.size() && loops_[i] <= kTurnsAtOnce)) known |= Depends{1} << (base_ + i);
  return (depends(g.expr) & ~known) == 0;
}

double CountBody::known_share(const std::vector<Guard>& guards) const {
  std::vector<Guard> known;
  std::copy_if(guards.begin(), guards.end(), std::back_inserter(known), [&](const Guard& g) { return is_known(g); });
  if (known.empty()) return 1;
  Depends on = depends(known);
  Dims extents(base_, 1);
  if ((on & kOnColumn) != 0) extents[kColumn] = times_.known;
  for (size_t i = 0; i < loops_.size(); ++i) extents.push_back((on >> (base_ + i) & 1U) != 0 ? loops_[i] : 1);
  const int64_t all = product(extents);
  int64_t inside = 0;
  for (int64_t place = 0; place < all; ++place) {
    Dims at(extents.size(), 0);
    int64_t rest = place;
    for (size_t d = extents.size(); d-- > 0; rest /= extents[d]) at[d] = rest % extents[d];
    inside += std::all_of(known.begin(), known.end(), [&](const Guard& g) {
      const int64_t x = evaluate(g.expr, at);
      return x >= g.low && x < g.high;
    });
  }
  return static_cast<double>(inside) / static_cast<double>(all);
}

// --- values ---

void CountBody::reduce_singles(const KernelPlan& plan, double warps) {
  const WarpTimes times = std::exchange(times_, {.launch = warps});
  spreads_ = true;
  for (const NodeId n : plan_singles(k_, plan))
    for (const ValueId v : k_[n].results) {
      if (k_[v].uses.empty() && !k_.is_output(v)) continue;
      value(v, access_at(plan.space(), 0, k_[v].type.dims));
      define(v, 0);
    }
  spreads_ = false;
  times_ = times;
}

// Where the text names each column, the compiler finds at one what it has met at another.
std::vector<IndexMap> CountBody::places_of(const IndexMap& at) const {
  std::vector<IndexMap> places;
  if (times_.known == 0 || (depends(at) & kOnColumn) == 0) return places;
  for (int64_t c = 0; c < times_.known; ++c) {
    const auto excludes = [&](const Guard& g) {
      const bool of_column = is_known(g) && depends(g.expr) == kOnColumn;
      const int64_t x = of_column ? evaluate(g.expr, {0, c}) : g.low;
      return x < g.low || x >= g.high;
    };
    if (std::any_of(at.guards.begin(), at.guards.end(), excludes)) continue;
    IndexMap column = identity_map(at.extents);
    column.results[kColumn] = IndexExpr(c);
    places.push_back(compose(column, at));
  }
  return places;
}

Depends CountBody::value(ValueId v, const IndexMap& wanted) {
  const IndexMap at = computed_at(wanted, k_[v].type.dims);
  std::vector<IndexMap> places = places_of(at);
  for (const Known& known : known_) {
    const auto met = [&](const IndexMap& place) {
      return std::find(known.places.begin(), known.places.end(), place) != known.places.end();
    };
    if (known.v != v) continue;
    if (known.at == at || (!places.empty() && std::all_of(places.begin(), places.end(), met))) return known.on;
  }
  const Node* n = k_.def(v);
  std::vector<Guard> guards = around_;
  guards.insert(guards.end(), at.guards.begin(), at.guards.end());
  const double outside = std::exchange(share_, known_share(guards));
  const Depends on = n == nullptr ? load(v, at) : compute(v, *n, at);
  share_ = outside;
  known_.push_back({v, at, on, std::move(places)});
  return on;
}

Depends CountBody::compute(ValueId v, const Node& n, const IndexMap& at) {
  if (const auto& [is, on] = defined_[static_cast<size_t>(v.index)]; is) return on;
  const Signature s = signature(k_, n);
  return visit_kind(
      *n.op, [&](const Movement&) { return move(n, s, at); },
      [&](const Source& kind) { return source(n, s, kind, at); },
      [&](const Elementwise& kind) {
        Depends on = 0;
        for (const ValueId o : n.operands) on |= value(o, at);
        // Before the loop over points, where a function with branches holds it, it is computed by threads without any.
        constexpr double kFunction = 10;
        const double work = scalar_instructions(kind.expr);
        const double idle = on == 0 && !before_ && work >= kFunction ? times_.idle : 0;
        to_.instructions.values += work * (executions(on) + idle);
        return on;
      },
      [&](const Lookup& kind) { return lookup(n, s, kind, at); },
      [&](const OneOf<Reduction, Contraction> auto&) { return reduce(v, n, s, at); },
      [](const OneOf<Primitive, Composite, Gradient, Call> auto&) { return Depends{0}; });
}

Depends CountBody::move(const Node& n, const Signature& s, const IndexMap& at) {
  const std::vector<IndexMap> accesses = operand_accesses(s, std::get<Movement>(n.op->kind), at);
  Depends on = 0;
  for (size_t i = 0; i < accesses.size(); ++i) {
    on |= value(n.operands[i], accesses[i]);
    if (accesses[i].guards.empty()) break;
    conditions(accesses[i].guards, accesses[i].extents);
    on |= depends(accesses[i].guards);
    const std::vector<Guard>& guards = accesses[i].guards;
    const bool chosen = std::all_of(guards.begin(), guards.end(), [&](const Guard& g) { return is_known(g); });
    const bool at_once = std::all_of(guards.begin(), guards.end(), [&](const Guard& g) { return of_whole_packets(g); });
    if (!chosen) to_.instructions.values += executions(on, !at_once);
  }
  return on;
}

// Each index is loaded, compared with both ends, and chosen or replaced by 0; so is the result.
Depends CountBody::lookup(const Node& n, const Signature& s, const Lookup& lookup, const IndexMap& at) {
  constexpr double kBind = 4;
  const LookupAccess access = lookup_access(s, lookup, at);
  const size_t first = at.extents.size();
  std::vector<Bound> bound;
  Depends on = 0;
  for (size_t b = 0; b < access.bound.size(); ++b) {
    const Depends index = value(n.operands[1], access.indices[b]);
    to_.instructions.values += kBind * executions(index);
    bound.push_back({linear_offset(access.indices[b], s.operands[1].dims), access.bound[b]});
    on |= index;
  }
  const auto of_bound = [&](const Known& known) { return (depends(known.at) >> first) != 0; };
  std::vector<Known> hidden;
  std::copy_if(known_.begin(), known_.end(), std::back_inserter(hidden), of_bound);
  std::erase_if(known_, of_bound);
  const auto before = std::make_tuple(bound_, first_bound_, bound_on_);
  if (bound_.empty()) first_bound_ = first;
  bound_.resize(first - first_bound_);
  bound_.insert(bound_.end(), bound.begin(), bound.end());
  bound_on_ |= on;
  const Depends element = value(n.operands[0], access.element);
  std::tie(bound_, first_bound_, bound_on_) = before;
  std::erase_if(known_, of_bound);
  known_.insert(known_.end(), hidden.begin(), hidden.end());
  on |= element & ((Depends{1} << first) - 1);
  to_.instructions.values += executions(on);
  return on;
}

Depends CountBody::source(const Node& n, const Signature& s, const Source& source, const IndexMap& at) {
  Depends on = 0;
  // An element that is drawn by itself takes one of four words. Of one seed the rounds' keys are found once.
  constexpr double kOfOneWord = 0.76, kKeys = 20;
  double work = scalar_instructions(source.expr);
  if (!n.operands.empty()) {
    if (std::find(seeds_.begin(), seeds_.end(), n.operands[0]) != seeds_.end()) work -= kKeys;
    seeds_.push_back(n.operands[0]);
  }
  const double all = work;
  if (!n.operands.empty() && times_.packet > 1) work *= kOfOneWord;
  bool indexed = false;
  for (size_t i = 0; i < n.operands.size(); ++i)
    on |= value(n.operands[i], access_at(at.extents, 0, s.operands[i].dims));
  const auto read = [&](const IndexExpr& e) {
    address(n.results[0], e, /*wide=*/false);
    on |= depends(e);
    indexed = true;
  };
  if (mentions(source.expr, "i")) {
    const IndexExpr linear = linear_offset(at, s.results[0].dims);
    read(linear);
    // Neighbours share the draw of their words. Where groups are not asked for the compiler finds all of it at points
    // whose numbers are not negative, else half.
    const bool groups = draws_ || (times_.points && times_.rest == 0 && range(linear, at.extents).low >= 0);
    if (times_.packet > 1 && neighbours_in_packets(linear))
      work = all / static_cast<double>(groups ? kDrawnAtOnce : kDrawnAtOnce / 2);
  }
  if (source.k) read(source_k(s, source, at));
  if (!indexed && n.operands.empty()) return 0;
  to_.instructions.values += work * executions(on);
  return on;
}

// What the defined values that a reduction is computed from depend on.
Depends CountBody::defined_below(const Node& n) const {
  Depends on = 0;
  for (const ValueId o : n.operands) {
    const auto& [is, known] = defined_[static_cast<size_t>(o.index)];
    if (is) on |= known;
    if (const Node* def = k_.def(o); def != nullptr && !is) on |= defined_below(*def);
  }
  return on;
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
  packets_ = spread_over_ == 0 && goes_round_packets(n, access);
  unrolled_ = product(loops_) <= kUnrolledPoints;
  Depends all = on;
  for (size_t i = 0; i < loops_.size(); ++i)
    if (loops_[i] > 1) all |= Depends{1} << (base_ + i);
  accumulate(n, access, all);
  if (!unrolled_) {
    constexpr double kLoop = 4;
    if (spread_over_ > 0) points = static_cast<double>(product(loops_));
    const double turns = std::ceil(points / kTurnsAtOnce);
    to_.instructions.indices += kLoop * (1 + turns) * executions(on, !packets_);
    turns_ += turns * executions(on, !packets_) / times_.launch;
  }
  if (!unrolled_) std::erase_if(known_, [&](const Known& known) { return (known.on >> base_) != 0; });
  const auto of_loop = [&](const IndexExpr& e) { return (depends(e) >> base_) != 0; };
  std::erase_if(met_, [&](const Loaded& l) { return of_loop(l.linear) || (depends(l.guards) >> base_) != 0; });
  std::erase_if(quotients_, of_loop);
  std::erase_if(conditions_, [&](const Guard& g) { return of_loop(g.expr); });
  loops_.clear(), extents_.clear();
  spread_over_ = 0;
  unrolled_ = strides_ = packets_ = false;
  finish(n, on);
  for (const ValueId r : n.results)
    if (r != v) known_.push_back({r, at, on});
  return on;
}

// A product and a sum, or what the element and the monoid ask for. The best of a straight line begins with its first
// element; which one it was is followed where somebody asks.
double CountBody::add_work(const Node& n) const {
  const auto* reduction = std::get_if<Reduction>(&n.op->kind);
  if (reduction == nullptr) return 2;
  double add = add_instructions(reduction->monoid), valid = 0;
  for (size_t r = 0; r < n.results.size(); ++r) {
    const bool used = k_.is_output(n.results[r]) || !k_[n.results[r]].uses.empty();
    if (used && reduction->finish[r].find("acc.index") != std::string::npos) add += 1;
    if (used && mentions(reduction->finish[r], "valid")) valid = 1;
  }
  const auto points = static_cast<double>(product(loops_));
  if (unrolled_ && add > 1 && points > 0) add *= (points - 1) / points;
  return scalar_instructions(reduction->element) + add + valid;
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
  to_.instructions.values += ((guarded ? 1 : 0) + add_work(n) * some) * executions(on);
  share_ = outside;
}

void CountBody::finish(const Node& n, Depends at) {
  const auto* reduction = std::get_if<Reduction>(&n.op->kind);
  if (reduction == nullptr) return;
  for (const std::string& text : reduction->finish)
    to_.instructions.values +=
        text.starts_with("acc") && text.find(' ') == std::string::npos ? 0 : scalar_instructions(text) * executions(at);
}

}  // namespace heddle::ir
