#include "runtime/metrics.h"

#include <cmath>

#include "ir/check.h"

namespace heddle::runtime {
namespace {

double finished(Finish finish, double ratio) {
  switch (finish) {
    case Finish::sqrt_ratio: return std::sqrt(ratio);
    case Finish::exp_ratio: return std::exp(ratio);
    case Finish::ratio: break;
  }
  return ratio;
}

}  // namespace

double read_scalar(Executable& executable, const codegen::Entry& entry, const std::string& output) {
  for (const codegen::Buffer& b : entry.outputs) {
    if (b.name != output) continue;
    HEDDLE_CHECK(b.dtype == "f32" && b.bytes == sizeof(float), "output '" + output + "' is not f32[]");
    float value = 0;
    executable.read(b, &value);
    return value;
  }
  check_failed(__FILE__, __LINE__, "output", "entry '" + entry.name + "' has no output '" + output + "'");
}

void Totals::add(Executable& executable, const codegen::Entry& entry) {
  for (size_t i = 0; i < sums_.size(); ++i) {
    sums_[i].numerator += read_scalar(executable, entry, (*specs_)[i].numerator);
    sums_[i].denominator += read_scalar(executable, entry, (*specs_)[i].denominator);
  }
}

MetricValues Totals::values() const {
  MetricValues values;
  for (size_t i = 0; i < sums_.size(); ++i) {
    const double ratio = sums_[i].denominator == 0 ? 0 : sums_[i].numerator / sums_[i].denominator;
    values.push_back({(*specs_)[i].name, finished((*specs_)[i].finish, ratio)});
  }
  return values;
}

}  // namespace heddle::runtime
