// Lines: which elements of a tensor meet in one result of a reduction over some axes.
//
//   Lines({2,3,4}, {0,2}).each(f)   ->  f(element, result, term): element 13 = [1,0,1] is term 5 of result 0
#pragma once
#include <algorithm>

#include "ir/type.h"

namespace heddle::testing {

struct Lines {
  ir::Dims dims, axes;  // axes: sorted

  bool reduced(size_t d) const { return std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) != axes.end(); }
  int64_t terms() const {
    int64_t n = 1;
    for (const int64_t axis : axes) n *= dims[static_cast<size_t>(axis)];
    return n;
  }
  int64_t results() const { return ir::product(dims) / std::max<int64_t>(1, terms()); }

  template <class F>
  void each(F&& f) const {
    ir::Dims at(dims.size(), 0), step(dims.size(), 1);  // how far an axis moves the result, or the term
    for (size_t d = dims.size(); d-- > 0;)
      for (size_t inner = d + 1; inner < dims.size(); ++inner)
        if (reduced(inner) == reduced(d)) step[d] *= dims[inner];
    int64_t line = 0, term = 0;
    const int64_t elements = ir::product(dims);
    for (int64_t element = 0; element < elements; ++element) {
      f(element, line, term);
      for (size_t d = dims.size(); d-- > 0;) {
        int64_t& moved = reduced(d) ? term : line;
        moved += step[d];
        if (++at[d] < dims[d]) break;
        moved -= step[d] * dims[d];
        at[d] = 0;
      }
    }
  }
};

}  // namespace heddle::testing
