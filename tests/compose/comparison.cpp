#include "tests/compose/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heddle::testing {
namespace {

constexpr double kUnit = 0x1p-23;  // of f32

std::vector<double> differences(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> out(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const bool same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));  // a ratio of nothing to nothing
    out[i] = same ? 0 : std::abs(a[i] - b[i]);
  }
  return out;
}

double root_mean_square(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return v.empty() ? 0 : std::sqrt(sum / static_cast<double>(v.size()));
}

double largest_of(const std::vector<double>& v) {
  double largest = 0;
  for (const double x : v)
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  return largest;
}

// Of two logits that 16 bits hardly tell apart either may be the larger one.
bool count_few_rows_otherwise(const std::vector<double>& got, const std::vector<double>& exact) {
  constexpr double kFew = 2;
  for (size_t i = 0; i < got.size(); ++i)
    if (got[i] != std::round(got[i]) || exact[i] != std::round(exact[i]) || std::abs(got[i] - exact[i]) > kFew)
      return false;
  return true;
}

double error_of(std::vector<double> off, bool has_16_bits) {
  std::sort(off.begin(), off.end());
  if (has_16_bits && off.size() > 1) off.resize(off.size() - (off.size() + 9) / 10);
  return root_mean_square(off);
}

}  // namespace

double narrowest_unit(const ir::Module& module) {
  double unit = kUnit;
  for (const ir::Graph& graph : module.graphs)
    for (const ir::NodeId n : graph.order)
      for (const ir::ValueId v : graph[n].results) {
        if (graph[v].type.dtype == ir::DType::f16) unit = std::max(unit, 0x1p-10);
        if (graph[v].type.dtype == ir::DType::bf16) unit = std::max(unit, 0x1p-7);
      }
  return unit;
}

void Comparison::values(const std::string& what, const ir::Tensor& got, const ir::Tensor& exact,
                        const ir::Tensor& rounded, const ir::Tensor* before) {
  ++compared;
  if (!(got.type == exact.type)) {
    faults.push_back(what + ": another type");
    return;
  }
  if (!exact.floating()) {
    if (got.integer != exact.integer) faults.push_back(what + ": other integers");
    return;
  }
  const bool has_16_bits = narrowest > kUnit;
  const double error = error_of(differences(got.real, exact.real), has_16_bits);
  if (error == 0 || (has_16_bits && count_few_rows_otherwise(got.real, exact.real))) return;
  constexpr double kOfTheChange = 1e-3, kTimesRounding = 4;
  const double change = root_mean_square(before != nullptr ? differences(exact.real, before->real) : exact.real);
  const double rounding = root_mean_square(differences(rounded.real, exact.real));
  const double most = std::max(
      {std::max(kOfTheChange, 8 * narrowest) * change, 2 * kUnit * largest_of(exact.real), kTimesRounding * rounding});
  worst = std::max(worst, error / most);
  if (!(error <= most)) faults.push_back(fmt::format("{}: off by {:.3g}, allowed is {:.3g}", what, error, most));
}

}  // namespace heddle::testing
