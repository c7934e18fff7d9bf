// The order of training rows: a permutation keyed by (seed, epoch), the same on every machine and for any batch size.
//
//   shuffled(5, seed = 1, epoch = 0) -> {3, 0, 4, 1, 2}
#pragma once
#include <cstdint>
#include <vector>

namespace heddle::runtime::data {

// Rows are numbered in 32 bits: a table holds fewer than 2^31.
std::vector<uint32_t> shuffled(int64_t rows, uint64_t seed, uint64_t epoch);
// In [0, below): how many elements later a row begins in this epoch.
int64_t drawn_offset(uint64_t seed, uint64_t epoch, int64_t row, int64_t below);
std::vector<uint32_t> in_order(int64_t rows);

}  // namespace heddle::runtime::data
