#include "runtime/data/row_draw.h"

#include <algorithm>
#include <cmath>

#include "ir/check.h"
#include "runtime/data/keyed_random.h"

namespace heddle::runtime::data {
namespace {

uint32_t drawn_by_class(const RowDraw& draw, KeyedRandom& random) {
  const size_t c = random.below(draw.ends.size());
  const size_t begin = c == 0 ? 0 : draw.ends[c - 1];
  return draw.rows[begin + random.below(draw.ends[c] - begin)];
}

// A row of weight 0 is never drawn: its sum equals that of the row before, so it is never the first larger one. Where
// `at` rounds up to the whole sum, the first row that reaches this sum is drawn.
uint32_t drawn_by_weight(const RowDraw& draw, KeyedRandom& random) {
  const double at = static_cast<double>(random.next() >> 11) * 0x1p-53 * draw.sums.back();
  auto row = std::ranges::upper_bound(draw.sums, at);
  if (row == draw.sums.end()) row = std::ranges::lower_bound(draw.sums, draw.sums.back());
  return static_cast<uint32_t>(row - draw.sums.begin());
}

}  // namespace

RowDraw balanced_draw(const RowKinds& kinds) {
  RowDraw draw;
  draw.ends.resize(kinds.count);
  for (const uint32_t kind : kinds.of_row)
    if (kind != kNoKind) ++draw.ends.at(kind);
  HEDDLE_CHECK(!draw.ends.empty() && std::ranges::count(draw.ends, 0U) == 0, "each kind has a row");
  std::vector<size_t> next(kinds.count);
  for (size_t c = 1; c < draw.ends.size(); ++c) next[c] = draw.ends[c - 1], draw.ends[c] += draw.ends[c - 1];
  draw.rows.resize(draw.ends.back());
  for (size_t row = 0; row < kinds.of_row.size(); ++row)
    if (kinds.of_row[row] != kNoKind) draw.rows[next[kinds.of_row[row]]++] = static_cast<uint32_t>(row);
  return draw;
}

RowDraw weighted_draw(const std::vector<double>& weights) {
  RowDraw draw;
  double sum = 0;
  for (const double weight : weights) draw.sums.push_back(sum += weight);
  HEDDLE_CHECK(sum > 0 && std::isfinite(sum), "some row can be drawn");
  return draw;
}

std::vector<uint32_t> drawn_order(const RowDraw& draw, int64_t count, uint64_t seed, uint64_t epoch) {
  constexpr uint64_t kDraws = 0x64726177'6e726f77;  // not the stream of the rows' order
  const uint64_t of_epoch = KeyedRandom(seed ^ kDraws, epoch).next();
  std::vector<uint32_t> order(static_cast<size_t>(count));
  for (size_t place = 0; place < order.size(); ++place) {
    KeyedRandom random(of_epoch, place);
    order[place] = draw.sums.empty() ? drawn_by_class(draw, random) : drawn_by_weight(draw, random);
  }
  return order;
}

}  // namespace heddle::runtime::data
