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

}  // namespace heddle::runtime::data
