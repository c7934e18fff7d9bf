// Makes random batches for measurements: normal(0, 1) for floating inputs, uniform class numbers for labels; never all
// zeros.
//
//   InputRing ring(entry, plan); ring.write_next(executable);   // one of several batches in turn
//   random_table(entry, plan)                                   // as many, as rows of a data set for a fed entry
#pragma once
#include <cstddef>
#include <vector>

#include "frontend/training/training_plan.h"
#include "runtime/data/table.h"
#include "runtime/executable.h"

namespace heddle::tools {

runtime::data::Table random_table(const codegen::Entry& entry, const frontend::TrainingPlan& plan);

class InputRing {
 public:
  InputRing(const codegen::Entry& entry, const frontend::TrainingPlan& plan);
  void write_next(runtime::Executable& executable);

 private:
  const codegen::Entry& entry_;
  std::vector<std::vector<std::vector<std::byte>>> batches_;  // [batch][input]
  size_t next_ = 0;
};

}  // namespace heddle::tools
