// Sums of floats in doubles, which lose nothing that a float could hold.
//
//   add_wide(total, a, n, true); add_wide(total, b, n, false); round_wide(y, total, n);   ->  y = a + b, rounded once
#pragma once
#include <cstdint>

namespace heddle::runtime {

// total = from where it is the first, else total + from.
void add_wide(double* total, const float* from, int64_t count, bool first);
void round_wide(float* to, const double* total, int64_t count);

}  // namespace heddle::runtime
