#include "tests/random/rounding.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::testing {
using namespace ir;
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUnits = 4;      // of an elementwise function: the preamble promises 2.5 for each of its own
constexpr double kSumUnits = 64;  // of a sum of up to 128 terms, whatever their order

// Takes one of its operands' elements as it is.
bool chooses(const OpDef& op) {
  const auto* reduction = std::get_if<Reduction>(&op.kind);
  return std::holds_alternative<Movement>(op.kind) || std::holds_alternative<Lookup>(op.kind) ||
         (reduction && !reduction->monoid.rounds && std::string_view(reduction->monoid.name) != "Prod");
}

// More than one call or operator: parts as large as the operands may cancel, as in x / 2 * (1 + erf(x / sqrt(2))).
bool composed(const OpDef& op) {
  const auto* elementwise = std::get_if<Elementwise>(&op.kind);
  if (!elementwise) return false;
  const std::string& e = elementwise->expr;
  const auto steps = std::count_if(e.begin(), e.end(), [](char c) { return c == '(' || c == ' '; });
  return steps > 2;
}

// n terms added in any order are off by at most (n - 1) / 2 units of the sum of their magnitudes (Higham 2002, Accuracy
// and Stability of Numerical Algorithms, 4.2).
double units_of_sum(const Signature& s) {
  double terms = 0;
  if (const auto* r = std::get_if<Reduction>(&s.op->kind)) terms = static_cast<double>(product(r->domain(s).extents));
  if (const auto* c = std::get_if<Contraction>(&s.op->kind)) terms = static_cast<double>(product(c->domain(s).extents));
  if (s.op->name == "cumsum" || s.op->name == "cumprod")
    terms = static_cast<double>(*std::max_element(s.operands[0].dims.begin(), s.operands[0].dims.end()));
  if (s.op->name == "seen_products") terms = static_cast<double>(s.operands[0].dims.back());
  return std::max(kSumUnits, terms / 2);
}

struct Format {
  double unit, smallest, largest;  // the distance from 1 to the next number; of normal numbers
};

Format format_of(DType dtype) {
  switch (dtype) {
    case DType::f64: return {0x1p-52, 0x1p-1022, std::numeric_limits<double>::max()};
    case DType::f32: return {0x1p-23, 0x1p-126, std::numeric_limits<float>::max()};
    case DType::f16: return {0x1p-10, 0x1p-14, 65504};
    default: return {0x1p-7, 0x1p-126, 0x1.fep127};
  }
}

}  // namespace

Rounding::Rounding(const Signature& s, size_t result, Precision precision) : s_(s) {
  const DType dtype = precision == Precision::exact ? DType::f64 : s.results[result].dtype;
  const bool short_type = bits(dtype) == 16;
  const Format own = format_of(dtype), sum = format_of(short_type ? DType::f32 : dtype);
  unit_ = own.unit;
  smallest_ = own.smallest;
  largest_ = own.largest;
  sum_unit_ = sum.unit;
  largest_sum_ = sum.largest / 4;
  narrow_ = short_type;
  source_ = std::holds_alternative<Source>(s.op->kind);
  chooses_ = chooses(*s.op);
  pointwise_ = std::holds_alternative<Elementwise>(s.op->kind);
  const bool sums = std::holds_alternative<Reduction>(s.op->kind) || std::holds_alternative<Composite>(s.op->kind);
  sum_units_ = units_of_sum(s);
  units_ = sums ? sum_units_ * sum_unit_ + kUnits * unit_ : kUnits * unit_;  // composites hold sums
  composed_ = composed(*s.op);
  // A normal number is a radius of up to 6 times the cosine of an angle of up to 2 pi.
  if (source_ && !s.operands.empty()) absolute_ = 32 * unit_;
}

double Rounding::of_sum(double magnitude) const { return sum_units_ * sum_unit_ * magnitude; }
double Rounding::largest_sum() const { return largest_sum_; }

// The oracle's double tells: a function that approaches an operand or 0 does not give it exactly.
bool Rounding::passed_on(double v, size_t i, const std::vector<Tensor>& operands) const {
  if (v == 0 || !std::isfinite(v) || chooses_) return true;
  // Kernels compute in 32 bits: a count of iota that 16 bits cannot hold may be itself there.
  if (source_) return round_to(s_.results[0].dtype, v) == v || (s_.operands.empty() && !narrow_);
  if (!pointwise_ || (composed_ && std::abs(v) < smallest_)) return false;  // steps between round subnormal numbers
  for (const Tensor& t : operands)
    if (t.floating() && std::abs(t.real[i]) == std::abs(v)) return round_to(s_.results[0].dtype, v) == v;
  return false;
}

double Rounding::largest_operand(size_t i, const std::vector<Tensor>& operands) {
  double most = 0;
  for (const Tensor& t : operands)
    if (t.floating() && std::isfinite(t.real[i])) most = std::max(most, std::abs(t.real[i]));
  return most;
}

// Below 0 digamma(x) is digamma(1 - x) - pi / tan(pi x), and near its zeros the two cancel: in double precision digits are
// lost, where shorter types compute in double precision. The first lies between -0.6 and log(1 - x). Above 0 the evaluator
// subtracts parts of up to log(25) in long double, which counts where the result is near its zero.
double Rounding::largest_part(size_t i, const std::vector<Tensor>& operands) const {
  if (composed_) return largest_operand(i, operands);
  if (s_.op->name != "digamma" || s_.results[0].dtype != DType::f64 || !std::isfinite(operands[0].real[i])) return 0;
  constexpr double kLongUnit = 0x1p-11;  // of long double, in units of double
  return operands[0].real[i] < 0 ? std::log1p(-operands[0].real[i]) + 0.6 : kLongUnit * std::log(25.0);
}

void Rounding::add(std::vector<double>& errors, const Tensor& value, const std::vector<Tensor>& operands) const {
  for (size_t i = 0; i < errors.size(); ++i) {
    const double v = value.real[i];
    if (!chooses_) errors[i] += units_ * errors[i];  // what is that far away is rounded there, too
    if (passed_on(v, i, operands)) continue;
    const double magnitude = std::max(std::abs(v), largest_part(i, operands));
    errors[i] += units_ * magnitude + absolute_ + 2 * smallest_ * (narrow_ && smallest_ > 1e-10 ? unit_ : 1);
    const double low = std::abs(v) - errors[i], high = std::abs(v) + errors[i];
    const bool overflows = narrow_ ? high > largest_ : high > largest_ && !(low > 2 * largest_);
    if (overflows) errors[i] = kInfinity;
  }
}

}  // namespace heddle::testing
