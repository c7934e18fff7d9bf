// Metrics of a whole split, from counts: totals of numerators and denominators over all batches, then one division.
//
//   accuracy: {"accuracy.sum", "accuracy.count", ratio}; batches of 128 and 16 weigh as their rows do
#pragma once
#include <string>
#include <vector>

#include "runtime/executable.h"

namespace heddle::runtime {

enum class Finish { ratio, sqrt_ratio, exp_ratio };  // of the two totals

struct MetricSpec {
  std::string name;
  std::string numerator, denominator;  // outputs of the entry, f32[]
  Finish finish = Finish::ratio;
};

struct MetricValue {
  std::string name;
  double value = 0;
};
using MetricValues = std::vector<MetricValue>;

class Totals {
 public:
  explicit Totals(const std::vector<MetricSpec>& specs) : specs_(&specs), sums_(specs.size()) {}
  // Adds the outputs of a run of the entry, which took `rows` rows and has just finished. Training entries may return the
  // loss as the mean over their rows alone; it counts with their number. False where an output is not finite.
  bool add(Executable& executable, const codegen::Entry& entry, int64_t rows);
  MetricValues values() const;  // nan where nothing counted

 private:
  struct Sum {
    double numerator = 0, denominator = 0;
  };
  const std::vector<MetricSpec>* specs_;
  std::vector<Sum> sums_;
};

bool counts_labels(
    const codegen::Entry& entry);  // the loss is a mean over labels that count, and the entry says how many
// Whether the loss of the run that has just finished is a mean over no labels at all, 0 / 0: all were ignored.
bool counts_nothing(Executable& executable, const codegen::Entry& entry);

// A scalar f32 output, as a double.
double read_scalar(Executable& executable, const codegen::Entry& entry, const std::string& output);

}  // namespace heddle::runtime
