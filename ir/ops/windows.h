// Windows along every axis of a tensor, for reductions of what each of them holds.
//
//   result element [i, j], window element (k, l)
//     ->  operand element [i * strides[0] + k * dilations[0] - pads[0], j * strides[1] + l * dilations[1] - pads[1]], or
//         the padding, which contributes nothing
#pragma once
#include "ir/ops/reduce.h"
#include "ir/ops/window.h"

namespace heddle::ir {

std::vector<Key> windows_attributes();
// One for each axis; throws InferError unless each of them holds at least one element.
std::vector<Window> windows(const Signature& s, const Dims& dims);
Dims windowed(const std::vector<Window>& axes);
// Result coordinates, then window coordinates, to the operand's element.
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

// The place, in the row-major order of x, of the first of the window's largest or smallest elements.
int64_t place_in_window(const std::vector<Window>& axes, const Tensor& x, const Dims& at, bool largest);

// Far apart, so that a central difference does not step over a change of what is the largest element of a window.
std::vector<Sample> apart(std::vector<Sample> samples);
// Disjoint, overlapping, with gaps, padded, dilated, of one to four axes. `with_source`: a second operand, a number for
// each window.
std::vector<Sample> windows_samples(bool with_source);

}  // namespace heddle::ir
