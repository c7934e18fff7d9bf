#include "tests/random/attention_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/ops/attention.h"

namespace heddle::testing {
using namespace ir;
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kExtras = 3, kGradientExtras = 6;

// At the far ends of their bounds; infinite where one is.
double largest(const Bounded& b) {
  double most = 0;
  for (size_t i = 0; i < b.value.real.size(); ++i) {
    const double reach = std::abs(b.value.real[i]) + b.error[i];
    most = std::isfinite(reach) ? std::max(most, reach) : kInfinity;
  }
  return most;
}

void add(std::vector<double>& errors, double more) {
  for (double& e : errors) e = std::isfinite(more) ? e + more : kInfinity;
}

}  // namespace

bool is_attention(const OpDef& op) { return op.name.starts_with("attention"); }

void add_attention(const Signature& s, const std::vector<const Bounded*>& operands, Precision precision,
                   std::vector<std::vector<double>>& errors) {
  const bool gradient = s.operands.size() > 5 && s.op->operands.size() == kGradientExtras;
  const Attention a = attention_of(s, gradient ? kGradientExtras : kExtras);
  std::vector<double> most;
  most.reserve(operands.size());
  for (const Bounded* b : operands) most.push_back(largest(*b));
  const double unit = precision == Precision::exact || a.dtype == DType::f64 ? 0x1p-52 : 0x1p-23;
  const auto count = [](int64_t n) { return static_cast<double>(n); };
  double score = std::abs(a.scale) * count(a.width) * most[0] * most[1];
  if (a.bias >= 0) score += most[static_cast<size_t>(a.bias)];
  if (a.alibi) score += count(a.keys + a.queries);
  // Beyond the type's numbers sums of products are infinite, or nan.
  if (score > static_cast<double>(std::numeric_limits<float>::max()) && a.dtype != DType::f64) score = kInfinity;
  // Of a weight: the product, what is beside it, exp, the sum over the keys.
  const double of_weight = unit * (32 + count(a.width) + 4 * score + count(a.keys)), kept = 2 / (1 - a.rate);
  if (!gradient) {
    add(errors[0], of_weight * kept * most[2]);
    add(errors[1], of_weight);
    return;
  }
  const double of_score = count(a.value_width) * most[3] * most[2] * kept + most[5];
  const double sharing = count(a.queries * a.group()), relative = of_weight + unit * count(a.value_width + a.queries);
  add(errors[0], relative * 2 * of_score * std::abs(a.scale) * most[1]);
  if (errors.size() < 3) return;
  add(errors[1], relative * 2 * of_score * std::abs(a.scale) * most[0] * sharing);
  add(errors[2], relative * kept * most[3] * sharing);
}

}  // namespace heddle::testing
