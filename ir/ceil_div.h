// ceil_div: how many parts of a size hold so many.
//
//   ceil_div(9, 4)  ->  3
#pragma once
#include <cstdint>

namespace heddle::ir {

// `by` is above 0; of an `n` that is not, the result is at most 0.
constexpr int64_t ceil_div(int64_t n, int64_t by) { return n / by + (n % by > 0 ? 1 : 0); }

}  // namespace heddle::ir
