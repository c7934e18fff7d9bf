// ceil_div: a division that rounds up.
//
//   ceil_div(9, 4)  ->  3
#pragma once
#include <cstdint>

namespace heddle::ir {

// The least number of parts of `by` elements that hold `n` elements. Needs by > 0. If n <= 0, the result is at most 0.
constexpr int64_t ceil_div(int64_t n, int64_t by) { return n / by + (n % by > 0 ? 1 : 0); }

}  // namespace heddle::ir
