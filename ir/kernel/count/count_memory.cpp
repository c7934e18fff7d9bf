// CountBody, memory: counts loads and stores, and the cost of their requests.
#include <algorithm>
#include <cmath>

#include "ir/kernel/count/count_body.h"
#include "ir/kernel/count/warp_points.h"

namespace heddle::ir {
namespace {

constexpr int64_t kWidestLoad = 16, kSectorBytes = 32;

double bytes_of(DType dtype) { return std::max<double>(1, static_cast<double>(bits(dtype)) / 8); }

}  // namespace

// Assumes that indices of lookups are scattered: each finds a pseudorandom element, which depends on the position of
// the index.
void CountBody::find_bound(WarpPoint& at) const {
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15ULL;
  for (size_t b = 0; b < bound_.size(); ++b) {
    const LaneNumbers place = evaluate(bound_[b].at, at.coordinates);
    LaneNumbers& found = at.coordinates[first_bound_ + b];
    for (size_t l = 0; l < found.size(); ++l) {
      const uint64_t drawn = (static_cast<uint64_t>(place[l]) + 1) * kGolden;
      found[l] = static_cast<int64_t>((drawn >> 32) % static_cast<uint64_t>(bound_[b].extent));
    }
  }
}

// Whether the guards hold at these counters of unrolled loops for all rows and columns.
bool CountBody::always(const std::vector<Guard>& guards, const WarpPoint& at) const {
  IndexMap point = identity_map(extents_);
  for (size_t d = 0; d < loops_.size(); ++d) point.results[base_ + d] = IndexExpr(at.coordinates[base_ + d][0]);
  return compose(point, IndexMap{extents_, {}, guards}).guards.empty();
}

// Deactivates the lanes whose column is beyond the row.
void CountBody::leave_row(WarpPoint& at) const {
  for (size_t l = 0; l < at.coordinates[kColumn].size(); ++l)
    if (at.coordinates[kColumn][l] >= times_.whole + times_.rest) at.active &= ~(1U << l);
}

CountBody::Sectors CountBody::average_sectors(const IndexExpr& linear, const std::vector<Guard>& guards, int64_t bytes,
                                              Points which, bool whole) const {
  const std::vector<Guard> known = of_known(guards, true);
  const bool loops = ((depends(linear) | depends(guards)) >> base_) != 0;
  constexpr int64_t kPlaces = 16;
  const int64_t all = loops ? product(loops_) : 1;
  const bool cut = times_.rest > 0 && !whole && ((depends(linear) | depends(guards)) & here_ & kOnColumn) != 0;
  const int64_t elements = cut || (depends(guards) & kOnColumn) != 0 ? times_.packet : 1;
  const Coefficient column = coefficient(linear, kColumn);
  const int64_t width = column.affine && column.value == 1 && (here_ & kOnColumn) != 0 ? times_.packet : 1;
  Sectors sum;
  double weight = 0;
  for (WarpPoint at : points_) {
    at.coordinates.resize(std::max(base_ + loops_.size(), first_bound_ + bound_.size()));
    for (int64_t place : some_of(all, kPlaces)) {
      for (size_t d = loops_.size(); d-- > 0; place /= std::max<int64_t>(loops_[d], 1))
        at.coordinates[base_ + d].fill(place % std::max<int64_t>(loops_[d], 1));
      if (spread_over_ > 0) {
        at.active = 0;
        LaneNumbers& turn = at.coordinates[base_];
        for (size_t l = 0; l < turn.size(); ++l) {
          turn[l] = turn[l] * kLanes + static_cast<int64_t>(l);
          if (turn[l] < spread_over_) at.active |= 1U << l;
        }
      }
      find_bound(at);
      const uint32_t active = at.active;
      for (int64_t k = 0; k < elements; ++k) {
        for (int64_t& c : at.coordinates[kColumn]) c += k > 0 ? 1 : 0;
        if (lanes_inside(known, at) == 0) continue;
        if (cut) leave_row(at);
        weight += at.weight;
        if (which != Points::all && always(guards, at) != (which == Points::always)) continue;
        const uint32_t lanes = lanes_inside(guards, at);
        if (lanes == 0) continue;
        sum.reached += at.weight;
        const LaneNumbers element = evaluate(linear, at.coordinates);
        sum.one += at.weight * sectors(element, lanes, bytes);
        sum.packet += at.weight * sectors(element, lanes, bytes, width) / static_cast<double>(width);
      }
      for (int64_t& c : at.coordinates[kColumn]) c -= elements - 1;
      at.active = active;
    }
  }
  if (weight > 0) sum.one /= weight, sum.packet /= weight, sum.reached /= weight;
  return sum;
}

double CountBody::reached(const std::vector<Guard>& guards) const {
  return guards.empty() ? 1 : average_sectors(IndexExpr(0), guards, kSectorBytes).reached;
}

void CountBody::request(ValueId v, const IndexExpr& linear, const std::vector<Guard>& guards, double requests,
                        bool read, bool whole, Points which) {
  std::vector<Guard> all = guards;
  all.insert(all.end(), around_.begin(), around_.end());
  const Sectors each = average_sectors(linear, all, static_cast<int64_t>(bytes_of(k_[v].type.dtype)), which, whole);
  to_.instructions.memory += requests * (all.empty() ? 1 : each.reached);
  (read ? to_.sectors_read : to_.sectors_written) += requests * each.one;
  if (read) to_.sectors_fetched += requests * (whole ? each.one : std::min(each.one, each.packet));
}

// Counts the elements of an incomplete last packet. One warp moves them one by one, behind branches.
void CountBody::count_rest(int64_t bytes, double& sectors) {
  constexpr double kBranches = 2;
  if (times_.rest == 0) return;
  const auto rest = static_cast<double>(times_.rest);
  to_.instructions.memory += rest;
  to_.instructions.indices += kBranches * (rest + 1);
  sectors += rest - (times_.whole * bytes % kSectorBytes == 0 ? 1 : 0);
}

void CountBody::end_pass() {
  std::erase_if(met_, [&](const Loaded& l) { return is_overwritten(k_, l.v); });
}

// The share of distinct addresses among the elements of a packet. A packet begins at a multiple of its width, so
// remainders by a divisor of the width repeat inside it.
double CountBody::distinct_in_packet(const IndexExpr& linear) const {
  int64_t most = 1;
  for (const IndexTerm& t : linear.terms) {
    const bool on_column = t.kind == IndexTerm::Kind::dim ? t.dim == kColumn : depends_on(t.inner[0], kColumn);
    if (!on_column) continue;
    const bool alone = t.kind == IndexTerm::Kind::modulo && t.inner[0].terms.size() == 1 && t.inner[0].constant == 0 &&
                       t.inner[0].terms[0].kind == IndexTerm::Kind::dim && t.inner[0].terms[0].coefficient == 1;
    if (!alone || times_.packet % t.divisor != 0) return 1;
    most = std::max(most, t.divisor);
  }
  return most == 1 ? 1 : static_cast<double>(most) / static_cast<double>(times_.packet);
}

Packets CountBody::packets() const {
  return {(here_ & kOnColumn) != 0 ? times_.packet : 1, draws_,
          [this](ValueId v) { return defined_[static_cast<size_t>(v.index)].first; }};
}

// The number of loads at known columns: elements whose guards hold, without elements that are loaded already.
std::optional<int64_t> CountBody::loads_of_known(ValueId v, const IndexExpr& linear, const std::vector<Guard>& guards) {
  const std::vector<Guard> known = of_known(guards, true);
  const Coefficient column = coefficient(linear, kColumn);
  if (times_.known == 0 || depends(known) != kOnColumn || !column.affine || !(loops_.empty() || unrolled_)) return {};
  IndexExpr rest = linear;
  std::erase_if(rest.terms, [](const IndexTerm& t) { return t.kind == IndexTerm::Kind::dim && t.dim == kColumn; });
  int64_t loads = 0;
  for (int64_t c = 0; c < times_.known; ++c) {
    const Dims at = {0, c};
    const bool inside = std::all_of(known.begin(), known.end(), [&](const Guard& g) {
      const int64_t x = evaluate(g.expr, at);
      return x >= g.low && x < g.high;
    });
    const std::pair<ValueId, IndexExpr> element{v, rest + column.value * c};
    if (!inside || std::find(loaded_.begin(), loaded_.end(), element) != loaded_.end()) continue;
    loaded_.push_back(element);
    ++loads;
  }
  return loads;
}

// Values that depend on the column alone are computed once for all rows. A load moves out of the loop over rows only if
// every iteration would execute it. It stays inside if it is under the condition that the thread has a column,
Depends CountBody::loaded_on(Depends on) const {
  const Depends inside = (Depends{1} << base_) - 1;
  return times_.ragged && (on & inside) == kOnColumn ? on | kOnRow : on;
}

// or under a condition on the row.
bool CountBody::stays_in_loop_over_rows(Depends on, const IndexMap& at) const {
  const Depends inside = (Depends{1} << base_) - 1;
  std::vector<Guard> guards = at.guards;
  guards.insert(guards.end(), around_.begin(), around_.end());
  std::erase_if(guards, [&](const Guard& g) { return is_known(g); });
  return unrolled_ && (on & inside) == kOnColumn && (depends(guards) & kOnRow) != 0 &&
         extents_.size() == base_ + loops_.size();
}

Depends CountBody::load(ValueId v, const IndexMap& at) {
  const IndexExpr linear = linear_offset(at, k_[v].type.dims);
  // Values that a store may have changed are loaded again; stores of packets follow all loads of the pass. With bound
  // coordinates of lookups, equal addresses may be different elements.
  const bool stores_follow = times_.packet > 1 && (here_ & kOnColumn) != 0;
  if ((is_overwritten(k_, v) && !stores_follow) || !bound_.empty()) return load_first(v, at, linear);
  for (const Loaded& l : met_)
    if (l.v == v && l.linear == linear && l.guards == at.guards && l.extents == at.extents) return l.on;
  const Depends on = load_first(v, at, linear);
  met_.push_back({v, linear, at.guards, at.extents, on});
  return on;
}

// Whether an element whose address does not depend on the counters of unrolled loops is loaded once, without a
// condition: that is so if one of the points needs no condition.
bool CountBody::loaded_anyway(const IndexMap& at, const IndexExpr& linear) const {
  if (straight_ == loops_.size() || at.guards.empty() || (depends(linear) & straight()) != 0) return false;
  const std::vector<std::vector<Guard>> left = left_of(at.guards, at.extents);
  return std::any_of(left.begin(), left.end(), [](const auto& guards) { return guards.empty(); });
}

Depends CountBody::load_first(ValueId v, const IndexMap& at, const IndexExpr& linear) {
  const double bytes = bytes_of(k_[v].type.dtype), packet = static_cast<double>(times_.packet);
  conditions(at.guards, at.extents);
  if (loaded_anyway(at, linear)) {
    IndexMap anywhere = at;
    anywhere.guards.clear();
    return load(v, anywhere) | depends(at.guards);
  }
  address_behind(at.guards, v, linear);
  Depends on = depends(linear) | depends(at.guards);
  const bool bound = !bound_.empty() && (on >> first_bound_) != 0;
  if (bound) on = (on & ((Depends{1} << first_bound_) - 1)) | bound_on_;
  // An element that was loaded without a condition is selected, not loaded again.
  const bool met = std::any_of(known_.begin(), known_.end(), [&](const Known& known) {
    return known.v == v && known.at.guards.empty() && known.at.results == at.results;
  });
  if (met && !at.guards.empty()) {
    to_.instructions.values += executions(on);
    return on;
  }
  const bool inside = (on >> base_) != 0;
  const bool along = !bound || (bound_on_ & ~kOnRow) == 0;  // the lookup goes along a row, not from element to element
  if (along && loads_packet(packets(), at, linear) && (!inside || packets_)) {
    const double packets = executions(loaded_on(on | kOnColumn), /*each_element=*/false);
    if (!at.guards.empty()) to_.instructions.indices += (1 + packet) * packets;  // a branch, and zeros instead
    request(v, linear, at.guards, packets * std::ceil(bytes * packet / kWidestLoad), /*read=*/true, /*whole=*/true);
    if (!inside) count_rest(static_cast<int64_t>(bytes), to_.sectors_read);
    const bool in_words = bytes < 4 || (bytes == 4 && !is_overwritten(k_, v));  // of which each element is taken
    to_.instructions.values += packets * reached(at.guards) * (in_words ? packet : 0);
    return on | kOnColumn;
  }
  const Depends here = on | (is_overwritten(k_, v) ? here_ : 0);
  // In a loop that is not unrolled, each load is inside branches, and so is each addition of a packet's element.
  constexpr double kChosen = 2, kBranches = 2;
  const double branches = kBranches + (packets_ && (here & kOnColumn) == 0 ? packet : 0);
  if (!std::all_of(at.guards.begin(), at.guards.end(), [&](const Guard& g) { return is_known(g); }))
    to_.instructions.indices += (inside && straight_ == loops_.size() ? branches : kChosen) *
                                open_share(at.guards, at.extents) * executions(here);
  double loads = executions(loaded_on(here)) * distinct_in_packet(linear);
  if (const std::optional<int64_t> known = loads_of_known(v, linear, at.guards)) {
    share_ = 1;
    loads = executions(here & ~kOnColumn) * static_cast<double>(*known);
  }
  if (stays_in_loop_over_rows(here, at)) {
    request(v, linear, at.guards, loads, /*read=*/true, /*whole=*/false, Points::always);
    const double each_row = executions(here | kOnRow) * distinct_in_packet(linear);
    request(v, linear, at.guards, each_row, /*read=*/true, /*whole=*/false, Points::sometimes);
  } else {
    request(v, linear, at.guards, loads, /*read=*/true, /*whole=*/false);
  }
  return here;
}

void CountBody::store(ValueId v, const IndexMap& at) {
  value(v, at);
  const IndexExpr linear = linear_offset(at, k_[v].type.dims);
  const double bytes = bytes_of(k_[v].type.dtype), packet = static_cast<double>(times_.packet);
  address(v, linear);
  constexpr double kPacking = 2.5;  // of an element into a word
  const bool packets = times_.packet > 1 && (here_ & kOnColumn) != 0;
  const double requests = packets ? times_.packets * std::ceil(bytes * packet / kWidestLoad) : executions(here_);
  request(v, linear, {}, requests, /*read=*/false, packets);
  if (packets) count_rest(static_cast<int64_t>(bytes), to_.sectors_written);
  if (bytes >= 4) return;
  if (!packets) to_.instructions.values += requests;
  if (packets && bytes * packet >= 4) to_.instructions.values += times_.packets * packet * kPacking;
}

}  // namespace heddle::ir
