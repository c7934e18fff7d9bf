// Metrics: the metrics of an epoch or a split. The program itself adds them up: its entries add to totals, "reset" sets
// the totals to zero, "metrics" divides them. So each row has the same weight, whatever its batch.
#pragma once
#include <string>
#include <vector>

#include "runtime/executable.h"

namespace heddle::runtime {

// A metric: one number, or several (one for each class, or a matrix).
struct MetricValue {
  std::string name;
  double value = 0;  // used where dims is empty
  std::vector<int64_t> dims = {};
  std::vector<double> values = {};  // row-major, where dims is not empty
};
using MetricValues = std::vector<MetricValue>;

class Metrics {
 public:
  // The program must have the entries "reset" and "metrics", and outlive this.
  explicit Metrics(Executable& executable);
  void reset();
  MetricValues values();  // the loss, then the metrics, since the last reset; nan where nothing counted

 private:
  Executable& executable_;
  const codegen::Entry* reset_;
  const codegen::Entry* metrics_;
};

bool is_finite(const MetricValue& value);
bool all_finite(const MetricValues& values);

bool counts_labels(
    const codegen::Entry& entry);  // the loss is a mean over labels that count, and the entry says how many

}  // namespace heddle::runtime
