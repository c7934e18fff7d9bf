#include "runtime/train/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/check.h"

namespace heddle::runtime {
namespace {

const codegen::Buffer* find_output(const codegen::Entry& entry, const std::string& name) {
  for (const codegen::Buffer& b : entry.outputs)
    if (b.name == name) return &b;
  return nullptr;
}

template <class T>
double read_as(Executable& executable, const codegen::Buffer& buffer) {
  HEDDLE_CHECK(buffer.bytes == sizeof(T), "output '" + buffer.name + "' is no scalar");
  T value = 0;
  executable.read(buffer, &value);
  return value;
}

double read_number(Executable& executable, const codegen::Buffer& buffer) {
  if (buffer.dtype == "f64") return read_as<double>(executable, buffer);
  HEDDLE_CHECK(buffer.dtype == "f32", "output '" + buffer.name + "' is neither f32 nor f64");
  return read_as<float>(executable, buffer);
}

const codegen::Entry* entry_of(const Executable& executable, const std::string& name) {
  const codegen::Entry* entry = executable.program().find_entry(name);
  HEDDLE_CHECK(entry != nullptr, "a program that is measured has an entry '" + name + "'");
  return entry;
}

}  // namespace

Metrics::Metrics(Executable& executable)
    : executable_(executable), reset_(entry_of(executable, "reset")), metrics_(entry_of(executable, "metrics")) {}

void Metrics::reset() { executable_.run(*reset_); }

MetricValues Metrics::values() {
  executable_.run(*metrics_);
  MetricValues values;
  for (const codegen::Buffer& output : metrics_->outputs) {
    const double value = read_number(executable_, output);
    // 0 / 0 is -nan on some processors.
    values.push_back({output.name, std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value});
  }
  return values;
}

bool all_finite(const MetricValues& values) {
  return std::all_of(values.begin(), values.end(), [](const MetricValue& v) { return std::isfinite(v.value); });
}

bool counts_labels(const codegen::Entry& entry) { return find_output(entry, "loss.count") != nullptr; }

}  // namespace heddle::runtime
