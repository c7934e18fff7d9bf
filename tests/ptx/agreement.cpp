#include "tests/ptx/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heddle::testing {
namespace {

// 0: finite, 1: nan, 2 and 3: the infinities.
int class_of(double x) {
  if (std::isfinite(x)) return 0;
  return std::isnan(x) ? 1 : x > 0 ? 2 : 3;
}

}  // namespace

Agreement agreement(const ir::Tensor& expected, const ir::Tensor& got, const std::vector<bool>& counts) {
  if (!(expected.type == got.type)) return {0, "the types differ"};
  double off = 0, all = 0, largest = 0;  // squares of large numbers overflow: in units of the largest
  for (const double x : expected.real)
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  if (largest == 0) largest = 1;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    if (!counts.empty() && !counts[static_cast<size_t>(i)]) continue;
    const double e = expected.at(i), g = got.at(i);
    const bool same = expected.floating() ? class_of(e) == class_of(g) : e == g;
    if (!same) return {0, fmt::format("element {}: expected {}, interpreter {}", i, e, g)};
    if (class_of(e) != 0) continue;
    off += (e / largest - g / largest) * (e / largest - g / largest);
    all += e / largest * (e / largest);
  }
  return {all > 0 ? off / all : off, {}};
}

double most_nmse(ir::DType dtype) { return dtype == ir::DType::f16 || dtype == ir::DType::bf16 ? 1e-4 : 1e-12; }

}  // namespace heddle::testing
