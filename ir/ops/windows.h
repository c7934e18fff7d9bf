// Windows along every axis of a tensor, for reductions over the elements of each window.
//
//   result element [i, j], window element (k, l)
//     ->  operand element [i * strides[0] + k * dilations[0] - pads[0], j * strides[1] + l * dilations[1] - pads[1]], or
//         the padding, which contributes nothing
#pragma once
#include "ir/ops/reduce.h"
#include "ir/ops/window.h"

namespace heddle::ir {

std::vector<Key> windows_attributes();
// One window per axis; throws InferError unless each contains at least one element.
std::vector<Window> windows(const Signature& s, const Dims& dims);
Dims windowed(const std::vector<Window>& axes);  // the dims of the result
// The domain: maps from result coordinates, then window coordinates, to the operand's element.
ReductionDomain windows_domain(const Signature& s);

// Calls f(element of an operand with these dimensions) for each element of the window at `at`, in row-major order.
template <class F>
void for_each_in_window(const std::vector<Window>& axes, const Dims& dims, const Dims& at, F&& f) {
  Dims sizes;
  for (const Window& w : axes) sizes.push_back(w.size);
  for_each_point(sizes, [&](const Dims& element) {
    Dims from(dims.size());
    for (size_t d = 0; d < dims.size(); ++d) {
      from[d] = at[d] * axes[d].stride + element[d] * axes[d].dilation - axes[d].low;
      if (from[d] < 0 || from[d] >= dims[d]) return;
    }
    f(position(dims, from));
  });
}

// The row-major position in x of the window's largest (or smallest) element; the first of equal ones.
int64_t place_in_window(const std::vector<Window>& axes, const Tensor& x, const Dims& at, bool largest);

// The samples with values far apart, so that a central difference does not change which element of a window is the
// largest.
std::vector<Sample> apart(std::vector<Sample> samples);
// Samples with windows that are disjoint, overlap, have gaps, are padded, are dilated, on one to four axes.
// `with_source`: a second operand with a number for each window.
std::vector<Sample> windows_samples(bool with_source);

}  // namespace heddle::ir
