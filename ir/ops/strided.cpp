#include "ir/ops/strided.h"

namespace heddle::ir {

void copy_strided(Tensor& to, const Strided& write, const Tensor& from, const Strided& read, const Dims& extents) {
  Dims index(extents.size(), 0);
  int64_t target = write.offset, source = read.offset;
  for (int64_t left = product(extents); left > 0; --left) {
    to.copy(target, from, source);
    for (size_t d = extents.size(); d-- > 0;) {
      // A stride may be near the integers' end when its dimension has one element: never step past the last.
      if (index[d] + 1 < extents[d]) {
        ++index[d];
        target += write.strides[d];
        source += read.strides[d];
        break;
      }
      target -= write.strides[d] * index[d];
      source -= read.strides[d] * index[d];
      index[d] = 0;
    }
  }
}

}  // namespace heddle::ir
