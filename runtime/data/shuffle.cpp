#include "runtime/data/shuffle.h"

#include <cstddef>
#include <numeric>
#include <utility>

#include "runtime/data/keyed_random.h"

namespace heddle::runtime::data {

std::vector<uint32_t> in_order(int64_t rows) {
  std::vector<uint32_t> order(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

std::vector<uint32_t> shuffled(int64_t rows, uint64_t seed, uint64_t epoch) {
  std::vector<uint32_t> order = in_order(rows);
  KeyedRandom random(seed, epoch);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

int64_t drawn_offset(uint64_t seed, uint64_t epoch, int64_t row, int64_t below) {
  constexpr uint64_t kOffsets = 0x6f666673657473;  // not the stream of the rows' order
  const uint64_t of_epoch = KeyedRandom(seed ^ kOffsets, epoch).next();
  return static_cast<int64_t>(KeyedRandom(of_epoch, static_cast<uint64_t>(row)).below(static_cast<uint64_t>(below)));
}

}  // namespace heddle::runtime::data
