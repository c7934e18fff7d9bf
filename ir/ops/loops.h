// Row-major loops over coordinates, for the oracles. They share no code with index maps, which the oracles check.
//
//   for_each_point({2,3}, f)   ->   f({0,0}), f({0,1}), f({0,2}), f({1,0}), ...
#pragma once
#include "ir/type.h"

namespace heddle::ir {

// Calls f(const Dims&) at every point below `extents`. The last coordinate varies fastest. No call if an extent is 0.
template <class F>
void for_each_point(const Dims& extents, F&& f) {
  Dims at(extents.size(), 0);
  for (int64_t left = product(extents); left > 0; --left) {
    f(static_cast<const Dims&>(at));
    for (size_t d = extents.size(); d-- > 0;) {
      if (++at[d] < extents[d]) break;
      at[d] = 0;
    }
  }
}

// The row-major position of a point.
inline int64_t position(const Dims& dims, const Dims& at) {
  int64_t p = 0;
  for (size_t d = 0; d < dims.size(); ++d) p = p * dims[d] + at[d];
  return p;
}

}  // namespace heddle::ir
