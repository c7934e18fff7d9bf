// Random batches for measurements: normal(0, 1) for floating inputs, uniform class numbers for labels; never zeros.
//
//   InputRing ring(entry, plan); ring.write_next(executable);   // one of several batches in turn
#pragma once
#include <cstddef>
#include <vector>

#include "frontend/training_plan.h"
#include "runtime/executable.h"

namespace heddle::tools {

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
