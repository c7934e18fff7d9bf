#include "runtime/train/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/check.h"

namespace heddle::runtime {
namespace {

template <class T>
std::vector<double> read_as(Executable& executable, const codegen::Buffer& buffer) {
  std::vector<T> values(static_cast<size_t>(buffer.bytes) / sizeof(T));
  executable.read(buffer, values.data());
  return {values.begin(), values.end()};
}

std::vector<double> read_numbers(Executable& executable, const codegen::Buffer& buffer) {
  if (buffer.dtype == "f64") return read_as<double>(executable, buffer);
  HEDDLE_CHECK(buffer.dtype == "f32", "output '" + buffer.name + "' is neither f32 nor f64");
  return read_as<float>(executable, buffer);
}

const codegen::Entry* entry_of(const Executable& executable, ir::Phase phase) {
  const codegen::Entry* entry = executable.program().find_entry(phase);
  HEDDLE_CHECK(entry != nullptr, "a program that is measured has its entries");
  return entry;
}

}  // namespace

Metrics::Metrics(Executable& executable)
    : executable_(executable),
      reset_(entry_of(executable, ir::Phase::reset)),
      metrics_(entry_of(executable, ir::Phase::metrics)) {}

void Metrics::reset() { executable_.run(*reset_); }

MetricValues Metrics::values() {
  executable_.run(*metrics_);
  MetricValues values;
  for (const codegen::Buffer& output : metrics_->outputs) {
    std::vector<double> numbers = read_numbers(executable_, output);
    // 0 / 0 is -nan on some processors.
    for (double& v : numbers)
      if (std::isnan(v)) v = std::numeric_limits<double>::quiet_NaN();
    MetricValue& metric = values.emplace_back(MetricValue{output.name, 0, output.dims, {}});
    if (output.dims.empty()) {
      metric.value = numbers.at(0);
    } else {
      metric.values = std::move(numbers);
    }
  }
  return values;
}

bool is_finite(const MetricValue& v) {
  return std::isfinite(v.value) &&
         std::all_of(v.values.begin(), v.values.end(), [](double x) { return std::isfinite(x); });
}

bool all_finite(const MetricValues& values) { return std::all_of(values.begin(), values.end(), is_finite); }

bool counts_labels(const codegen::Entry& entry) { return entry.find_output(codegen::BufferRole::count) != nullptr; }

}  // namespace heddle::runtime
