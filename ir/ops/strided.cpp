#include "ir/ops/strided.h"

namespace heddle::ir {

void copy_strided(Tensor& to, const Strided& write, const Tensor& from, const Strided& read, const Dims& extents) {
  Dims index(extents.size(), 0);
  int64_t target = write.offset, source = read.offset;
  for (int64_t left = product(extents); left > 0; --left) {
    to.copy(target, from, source);
    for (size_t d = extents.size(); d-- > 0;) {
      target += write.strides[d];
      source += read.strides[d];
      if (++index[d] < extents[d]) break;
      target -= write.strides[d] * extents[d];
      source -= read.strides[d] * extents[d];
      index[d] = 0;
    }
  }
}

}  // namespace heddle::ir
