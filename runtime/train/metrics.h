// Metrics of an epoch or a split, which the program adds up itself: its entries add to totals, "reset" sets those to
// zero, "metrics" divides them. Batches of 128 and 16 weigh as their rows do.
#pragma once
#include <string>
#include <vector>

#include "runtime/executable.h"

namespace heddle::runtime {

// A number, or several: one for each class, a matrix.
struct MetricValue {
  std::string name;
  double value = 0;  // where dims is empty
  std::vector<int64_t> dims = {};
  std::vector<double> values = {};  // row by row, where it is not
};
using MetricValues = std::vector<MetricValue>;

class Metrics {
 public:
  // Of a program with the entries "reset" and "metrics"; it must outlive this.
  explicit Metrics(Executable& executable);
  void reset();
  MetricValues values();  // the loss, then the metrics, of all that ran since the reset; nan where nothing counted

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
