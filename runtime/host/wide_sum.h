// Adds arrays of floats in doubles, and rounds the sums once.
//
//   add_wide(total, a, n, true); add_wide(total, b, n, false); round_wide(y, total, n);   ->  y = a + b, rounded once
#pragma once
#include <cstdint>

namespace heddle::runtime {

// add_wide: total = from where `first`, else total += from. round_wide: to = total, rounded.
void add_wide(double* total, const float* from, int64_t count, bool first);
void round_wide(float* to, const double* total, int64_t count);

}  // namespace heddle::runtime
