#include "ir/kernel/count/requests.h"

#include <algorithm>
#include <bit>

namespace heddle::ir {
namespace {

constexpr int64_t kSector = 32, kWord = 4, kBanks = 32;

int64_t floor_of(int64_t a, int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

LaneNumbers atom(const IndexTerm& t, const std::vector<LaneNumbers>& coordinates) {
  if (t.kind == IndexTerm::Kind::dim) return coordinates[static_cast<size_t>(t.dim)];
  LaneNumbers x = evaluate(t.inner[0], coordinates);
  for (int64_t& v : x) {
    const int64_t quotient = floor_of(v, t.divisor);
    v = t.kind == IndexTerm::Kind::floor_div ? quotient : v - quotient * t.divisor;
  }
  return x;
}

template <class F>
void each_lane(uint32_t lanes, F f) {
  for (; lanes != 0; lanes &= lanes - 1) f(static_cast<size_t>(std::countr_zero(lanes)));
}

}  // namespace

LaneNumbers evaluate(const IndexExpr& e, const std::vector<LaneNumbers>& coordinates) {
  LaneNumbers sum{};
  sum.fill(e.constant);
  for (const IndexTerm& t : e.terms) {
    const LaneNumbers x = atom(t, coordinates);
    for (size_t l = 0; l < sum.size(); ++l) sum[l] += t.coefficient * x[l];
  }
  return sum;
}

uint32_t lanes_inside(const std::vector<Guard>& guards, const WarpPoint& at) {
  uint32_t lanes = at.active;
  for (const Guard& g : guards) {
    const LaneNumbers x = evaluate(g.expr, at.coordinates);
    each_lane(lanes, [&](size_t l) {
      if (x[l] < g.low || x[l] >= g.high) lanes &= ~(1U << l);
    });
  }
  return lanes;
}

double sectors(const LaneNumbers& element, uint32_t active, int64_t bytes, int64_t width) {
  std::vector<int64_t> seen;
  each_lane(active, [&](size_t l) {
    const int64_t first = floor_of(element[l] * bytes, kSector),
                  last = floor_of((element[l] + width) * bytes - 1, kSector);
    for (int64_t s = first; s <= last; ++s)
      if (seen.empty() || seen.back() != s) seen.push_back(s);
  });
  std::sort(seen.begin(), seen.end());
  return static_cast<double>(std::unique(seen.begin(), seen.end()) - seen.begin());
}

Wavefronts wavefronts(const LaneNumbers& byte, uint32_t active, int64_t bytes) {
  const int parts = bytes <= kWord ? 1 : static_cast<int>(bytes / kWord), size = kLanes / parts;
  Wavefronts sum;
  for (int part = 0; part < parts; ++part) {
    const uint32_t some = active & (parts == 1 ? ~0U : ((1U << size) - 1) << (part * size));
    if (some == 0) continue;
    std::array<int64_t, kLanes> words{};
    size_t count = 0;
    each_lane(some, [&](size_t l) {
      for (int64_t w = 0; w < std::max<int64_t>(1, bytes / kWord); ++w) words[count++] = byte[l] / kWord + w;
    });
    std::sort(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count));
    std::array<int, kBanks> in_bank{};
    for (size_t k = 0; k < count; ++k)
      if (k == 0 || words[k] != words[k - 1]) ++in_bank[static_cast<size_t>(words[k] % kBanks)];
    sum.all += *std::max_element(in_bank.begin(), in_bank.end());
    sum.ideal += 1;
  }
  return sum;
}

}  // namespace heddle::ir
