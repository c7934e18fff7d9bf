// relu in place over memory: numbers below 0 become 0, nan stays nan. For library calls whose own relu turns nan into
// 0.
//
//   {-1, 2, nan, -inf} -> {0, 2, nan, 0}
#pragma once
#include <cstdint>

namespace heddle::runtime {

void keep_above_zero(float* first, int64_t count);

}  // namespace heddle::runtime
