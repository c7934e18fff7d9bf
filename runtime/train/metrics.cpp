#include "runtime/train/metrics.h"

#include <cmath>
#include <limits>

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

const codegen::Buffer* find_output(const codegen::Entry& entry, const std::string& name) {
  for (const codegen::Buffer& b : entry.outputs)
    if (b.name == name) return &b;
  return nullptr;
}

}  // namespace

bool counts_labels(const codegen::Entry& entry) { return find_output(entry, "loss.count") != nullptr; }

bool counts_nothing(Executable& executable, const codegen::Entry& entry) {
  return counts_labels(entry) && read_scalar(executable, entry, "loss.count") == 0;
}

double read_scalar(Executable& executable, const codegen::Entry& entry, const std::string& output) {
  const codegen::Buffer* buffer = find_output(entry, output);
  HEDDLE_CHECK(buffer != nullptr, "entry '" + entry.name + "' has no output '" + output + "'");
  HEDDLE_CHECK(buffer->dtype == "f32" && buffer->bytes == sizeof(float), "output '" + output + "' is not f32[]");
  float value = 0;
  executable.read(*buffer, &value);
  return value;
}

bool Totals::add(Executable& executable, const codegen::Entry& entry, int64_t rows) {
  bool finite = true;
  for (size_t i = 0; i < sums_.size(); ++i) {
    const MetricSpec& spec = (*specs_)[i];
    const bool mean_only = !find_output(entry, spec.numerator) && find_output(entry, spec.name);
    const double count = mean_only ? static_cast<double>(rows) : read_scalar(executable, entry, spec.denominator);
    if (count == 0) continue;  // a batch of ignored labels: its mean is 0 / 0
    const double sum =
        mean_only ? count * read_scalar(executable, entry, spec.name) : read_scalar(executable, entry, spec.numerator);
    finite = finite && std::isfinite(sum) && std::isfinite(count);
    sums_[i].numerator += sum;
    sums_[i].denominator += count;
  }
  return finite;
}

MetricValues Totals::values() const {
  MetricValues values;
  for (size_t i = 0; i < sums_.size(); ++i) {
    const double nothing = std::numeric_limits<double>::quiet_NaN();
    const double ratio = sums_[i].denominator == 0 ? nothing : sums_[i].numerator / sums_[i].denominator;
    values.push_back({(*specs_)[i].name, finished((*specs_)[i].finish, ratio)});
  }
  return values;
}

}  // namespace heddle::runtime
