// Indices: addresses, conditions on coordinates, and what is known of both when the text is compiled.
#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <tuple>

#include "ir/kernel/count/count_body.h"
#include "ir/kernel/packets.h"

namespace heddle::ir {
namespace {

constexpr size_t kPoint = 2;  // coordinates of one: row and column

Depends depends(const IndexTerm& t) {
  return t.kind == IndexTerm::Kind::dim ? Depends{1} << t.dim : depends(t.inner[0]);
}

// Of some divisors, 7 among them, no 32 bits of the reciprocal are enough for all numbers: what is missing is added.
bool wants_addition(int64_t divisor) {
  const auto d = static_cast<uint64_t>(divisor);
  if (d % 2 == 0) return false;
  for (uint64_t shift = 0; uint64_t{1} << shift < d; ++shift)
    if (d - (uint64_t{1} << (32 + shift)) % d <= uint64_t{1} << shift) return false;
  return true;
}

template <class T>
bool first_time(std::vector<T>& seen, const T& what) {
  if (std::find(seen.begin(), seen.end(), what) != seen.end()) return false;
  seen.push_back(what);
  return true;
}

}  // namespace

Depends depends(const IndexExpr& e) {
  Depends on = 0;
  for (const IndexTerm& t : e.terms) on |= depends(t);
  return on;
}
Depends depends(const std::vector<Guard>& guards) {
  Depends on = 0;
  for (const Guard& g : guards) on |= depends(g.expr);
  return on;
}
Depends depends(const IndexMap& at) {
  Depends on = depends(at.guards);
  for (const IndexExpr& e : at.results) on |= depends(e);
  return on;
}

// --- addresses ---

Depends CountBody::straight() const {
  const Depends all = (Depends{1} << loops_.size()) - 1, stay = (Depends{1} << straight_) - 1;
  return (all & ~stay) << base_;
}

// Counters of loops that are unrolled, and columns that the text names.
bool CountBody::is_constant(Depends on) const {
  const Depends known = straight() | (times_.known > 0 ? kOnColumn : 0);
  return (on & ~known) == 0;
}

// Nothing that is divided is negative. In tiles, whose corners are found at run time, the compiler does not know that.
bool CountBody::is_shift(const IndexTerm& t) const {
  const IndexExpr& divided = t.inner[0];
  if (base_ != kPoint || !std::has_single_bit(static_cast<uint64_t>(t.divisor)) || stays_loop(depends(t))) return false;
  return divided.constant >= 0 && std::all_of(divided.terms.begin(), divided.terms.end(),
                                              [](const IndexTerm& inner) { return inner.coefficient > 0; });
}

// Quotients by a constant are a product's upper half and shifts; remainders are what is left. By a power of two either
// is one instruction.
void CountBody::atoms(const IndexExpr& e) {
  constexpr double kQuotient = 4, kRemainder = 2, kAddition = 3;
  for (const IndexTerm& t : e.terms) {
    if (t.kind == IndexTerm::Kind::dim) continue;
    atoms(t.inner[0]);
    IndexExpr quotient, whole;
    quotient.terms = {t}, whole.terms = {t};
    quotient.terms[0].kind = IndexTerm::Kind::floor_div;
    quotient.terms[0].coefficient = whole.terms[0].coefficient = 1;
    const double times = executions(depends(t));
    if (is_constant(depends(t))) continue;
    if (is_shift(t)) {
      if (first_time(quotients_, whole)) to_.instructions.indices += times;
      continue;
    }
    const double added = base_ == kPoint && wants_addition(t.divisor) ? kAddition : 0;
    if (first_time(quotients_, quotient)) to_.instructions.indices += (kQuotient + added) * times;
    if (t.kind == IndexTerm::Kind::modulo && first_time(quotients_, whole))
      to_.instructions.indices += kRemainder * times;
  }
}

// What is constant is part of the instruction that uses the address. A loop that stays one
// adds to the address in each turn, unless it goes to the neighbour.
void CountBody::address(ValueId v, const IndexExpr& linear, bool wide) {
  constexpr double kFar = 2.5, kFarFromKnown = 0.8, kNear = 16;
  atoms(linear);
  IndexExpr key;
  for (const IndexTerm& t : linear.terms) {
    const bool counter = t.kind == IndexTerm::Kind::dim && static_cast<size_t>(t.dim) >= base_;
    if (is_constant(depends(t))) continue;
    if (!counter) key.terms.push_back(t);
    if (!counter || unrolled_ || strides_ || std::abs(static_cast<double>(t.coefficient)) <= kNear) continue;
    strides_ = true;
    const Depends turning = depends(linear) & ~straight();
    to_.instructions.indices += (times_.far ? kFar : kFarFromKnown) * executions(turning, !packets_);
  }
  const double times = executions(depends(key), /*each_element=*/false);
  if (first_time(sums_, key)) {
    const bool first = !key.terms.empty() && key.terms[0].coefficient != 1;
    const double terms = static_cast<double>(key.terms.size()) - (first ? 0 : 1);
    to_.instructions.indices += (std::max(terms, 0.0) + (wide && !key.terms.empty() ? 1 : 0)) * times;
  }
  const std::pair<ValueId, IndexExpr> known{v, key};
  if (!wide || key.terms.empty() || std::find(addresses_.begin(), addresses_.end(), known) != addresses_.end()) return;
  addresses_.push_back(known);
  to_.instructions.indices += times;
}

// In the tile of a product an element that may lie outside is loaded behind branches: what its address is made of is
// found there, by the warps that get so far, and again behind the next ones.
void CountBody::address_behind(const std::vector<Guard>& guards, ValueId v, const IndexExpr& linear) {
  if (times_.depth == 0 || guards.empty()) return address(v, linear);
  const auto found = std::make_tuple(quotients_, sums_, addresses_);
  const double outside = std::exchange(share_, share_ * reached(guards)), depth = std::exchange(times_.depth, 0);
  address(v, linear);
  std::tie(quotients_, sums_, addresses_) = found;
  share_ = outside, times_.depth = depth;
}

// --- conditions ---

bool CountBody::is_known(const Guard& g) const {
  Depends known = times_.known > 0 ? kOnColumn : 0;
  for (size_t i = 0; i < loops_.size(); ++i)
    if (i >= straight_ || (i + 1 == loops_.size() && loops_[i] <= kTurnsAtOnce)) known |= Depends{1} << (base_ + i);
  return (depends(g.expr) & ~known) == 0;
}

std::vector<Guard> CountBody::of_known(std::vector<Guard> guards, bool known) const {
  std::erase_if(guards, [&](const Guard& g) { return is_known(g) != known; });
  return guards;
}

double CountBody::known_share(const std::vector<Guard>& guards) const {
  const std::vector<Guard> known = of_known(guards, true);
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

// Packets begin at multiples of their width: where the bounds do, too, a condition holds of all elements of one or of
// none.
bool CountBody::of_whole_packets(const Guard& g) const {
  const Coefficient column = coefficient(g.expr, kColumn);
  return times_.packet > 1 && column.affine && column.value == 1 && (g.expr.constant - g.low) % times_.packet == 0 &&
         (g.high - g.low) % times_.packet == 0 && in_whole_packets(g.expr - IndexExpr(g.expr.constant), times_.packet);
}

// What is left of guards at each point of the loops that are unrolled, whatever row and column are.
std::vector<std::vector<Guard>> CountBody::left_of(const std::vector<Guard>& guards, const Dims& extents) const {
  Dims points(loops_.size(), 1);
  for (size_t i = straight_; i < loops_.size(); ++i)
    if ((depends(guards) >> (base_ + i) & 1U) != 0) points[i] = loops_[i];
  std::vector<std::vector<Guard>> left;
  IndexMap point = identity_map(extents);
  for (int64_t place = 0; place < product(points); ++place) {
    int64_t rest = place;
    for (size_t i = points.size(); i-- > straight_; rest /= points[i])
      if (points[i] > 1) point.results[base_ + i] = IndexExpr(rest % points[i]);
    left.push_back(compose(point, IndexMap{extents, {}, guards}).guards);
  }
  return left;
}

// Of the points of the loops that are unrolled, those at which the guards ask something.
double CountBody::open_share(const std::vector<Guard>& guards, const Dims& extents) const {
  if (straight_ == loops_.size()) return 1;
  const std::vector<std::vector<Guard>> left = left_of(of_known(guards, false), extents);
  const auto open = std::count_if(left.begin(), left.end(), [](const auto& some) { return !some.empty(); });
  return static_cast<double>(open) / static_cast<double>(left.size());
}

// What changes from element to element of a packet, and from turn to turn, is asked behind the
// branches of what does not: for the element's load, and again where it is added.
void CountBody::element_conditions(const std::vector<Guard>& guards) {
  constexpr double kTimes = 2, kOfElement = 2;
  if (!first_time(joined_, guards)) return;
  Depends on = kOnColumn;
  for (size_t i = 0; i < loops_.size(); ++i) on |= Depends{1} << (base_ + i);
  const auto changing =
      std::count_if(guards.begin(), guards.end(), [](const Guard& g) { return depends_on(g.expr, kColumn); });
  const double each = kOfElement * static_cast<double>(changing) + static_cast<double>(guards.size());
  to_.instructions.indices += kTimes * each * executions(on);
}

// In straight lines each set of conditions that occurs is found once: a sum where there are two
// sides, what several have in common; and compared as it is and the other way round, in each turn
// of the loops around the line.
void CountBody::straight_conditions(const std::vector<Guard>& guards, const Dims& extents) {
  constexpr double kComparisons = 2;
  if (packets_ && straight_ > 0 && (depends(guards) & kOnColumn) != 0) return element_conditions(guards);
  const Depends turns = ((Depends{1} << straight_) - 1) << base_;
  for (const Guard& asked : guards) {
    const Range r = range(asked.expr, extents);
    const double both = r.low < asked.low && r.high >= asked.high ? 1 : 0;
    for (const std::vector<Guard>& left : left_of({asked}, extents)) {
      if (left.empty() || !first_time(conditions_, left[0])) continue;
      atoms(left[0].expr);
      const double terms = std::max<double>(static_cast<double>(left[0].expr.terms.size()) - 1, 0);
      to_.instructions.indices += (1 + both + terms) * executions(depends(left), !of_whole_packets(left[0]));
    }
  }
  for (const std::vector<Guard>& left : left_of(guards, extents)) {
    if (left.empty() || !first_time(joined_, left)) continue;
    const bool each = !std::all_of(left.begin(), left.end(), [&](const Guard& g) { return of_whole_packets(g); });
    to_.instructions.indices += static_cast<double>(left.size()) * executions(depends(left), each);
    if (straight_ > 0) to_.instructions.indices += kComparisons * executions(depends(left) | turns, each);
  }
}

void CountBody::conditions(const std::vector<Guard>& guards, const Dims& extents) {
  if (straight_ < loops_.size()) return straight_conditions(of_known(guards, false), extents);
  for (const Guard& g : of_known(guards, false)) {
    if (!first_time(conditions_, g)) continue;
    const Range r = range(g.expr, extents);
    const double sides = (r.low < g.low ? 1 : 0) + (r.high >= g.high ? 1 : 0);
    atoms(g.expr);
    const double terms = std::max<double>(static_cast<double>(g.expr.terms.size()) - 1, 0);
    to_.instructions.indices += (2 * sides - 1 + terms) * executions(depends(g.expr), !of_whole_packets(g));
  }
}

}  // namespace heddle::ir
