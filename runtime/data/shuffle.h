// shuffled: the order of training rows, a permutation keyed by (seed, epoch). It is the same on every machine and for
// any batch size.
//
//   shuffled(5, seed = 1, epoch = 0) -> {3, 0, 4, 1, 2}
#pragma once
#include <cstdint>
#include <vector>

namespace heddle::runtime::data {

// Rows have 32-bit numbers: a table holds fewer than 2^31 rows.
std::vector<uint32_t> shuffled(int64_t rows, uint64_t seed, uint64_t epoch);
// Draws by how many elements a row begins later in this epoch, a number in [0, below).
int64_t drawn_offset(uint64_t seed, uint64_t epoch, int64_t row, int64_t below);
std::vector<uint32_t> in_order(int64_t rows);

}  // namespace heddle::runtime::data
