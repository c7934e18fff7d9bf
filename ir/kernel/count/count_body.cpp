#include "ir/kernel/count/count_body.h"

#include <algorithm>
#include <tuple>

#include "ir/kernel/count/scalar_instructions.h"
#include "ir/kernel/packets.h"
#include "ir/visit.h"

namespace heddle::ir {

void CountBody::enter(const WarpTimes& times, std::vector<WarpPoint> points, Depends here) {
  times_ = times;
  points_ = std::move(points);
  here_ = here;
}

void CountBody::forget() {
  known_.clear(), met_.clear(), quotients_.clear(), sums_.clear(), addresses_.clear(), loaded_.clear(),
      conditions_.clear(), joined_.clear();
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
  std::erase_if(joined_, [&](const auto& g) { return varies(depends(g)); });
}

bool CountBody::stays_loop(Depends on) const { return ((on >> base_) & ((Depends{1} << straight_) - 1)) != 0; }

double CountBody::executions(Depends on, bool each_element) const {
  const Depends loops = on >> base_, inside = (Depends{1} << base_) - 1;
  double times = times_.launch + (before_ && on == 0 ? times_.idle : 0);
  // In a loop that is not unrolled, the elements of a packet share nothing, unless each iteration handles all of them.
  const bool own = stays_loop(on);
  const bool elements = each_element && ((own && !packets_ ? on | loops_on_ : on) & kOnColumn) != 0;
  if (own) on |= loops_on_;
  if ((on & inside) != 0) times = times_.rows;
  if ((on & inside & ~kOnRow) != 0) times = (on & inside) == kOnColumn ? times_.columns : times_.packets;
  if ((on & inside) == kOnDepth && times_.depth > 0) times = times_.depth;
  if (elements) times *= static_cast<double>(times_.packet);
  double points = 1;
  const auto deeper = [&](size_t i) { return (loops >> i & ((Depends{1} << (straight_ - i)) - 1)) != 0; };
  for (size_t i = loops_.size(); i-- > 0;)
    if ((loops >> i & 1U) != 0 || (own && i < straight_ && deeper(i))) points *= static_cast<double>(loops_[i]);
  return times * points * share_;
}

// --- values ---

// The map at each known column. The compiler reuses at one column what it has loaded at another.
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
        // A value that depends on no coordinate is computed before the loop over points. If it calls a function with
        // branches, threads without points compute it too.
        constexpr double kFunction = 10;
        const double work = scalar_instructions(kind.expr);
        const double idle = on == 0 && !before_ && work >= kFunction ? times_.idle : 0;
        to_.instructions.values += work * (executions(on) + idle);
        return on;
      },
      [&](const Lookup& kind) { return lookup(n, s, kind, at); },
      [&](const OneOf<Reduction, Contraction> auto&) { return reduce(v, n, s, at); },
      [](const OneOf<Primitive, Composite, Gradient, Call, Scan> auto&) { return Depends{0}; });
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

// Each index is loaded, compared with both bounds, and replaced by 0 if it is outside. The result is selected likewise.
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
  // A single drawn element needs one of the four words. The keys of the rounds are computed once per seed.
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
    // Neighbours share a draw. If the text does not use groups, the compiler finds the whole sharing at points whose
    // indices are not negative, else half of it.
    const bool groups = draws_ || (times_.points && times_.rest == 0 && range(linear, at.extents).low >= 0);
    if (times_.packet > 1 && neighbours_in_packets(linear, times_.packet))
      work = all / static_cast<double>(groups ? kDrawnAtOnce : kDrawnAtOnce / 2);
  }
  if (source.k) read(source_k(s, source, at));
  if (!indexed && n.operands.empty()) return 0;
  to_.instructions.values += work * executions(on);
  return on;
}

}  // namespace heddle::ir
