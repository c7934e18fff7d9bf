// Runs sums through the pipeline that ships and holds them to the rule.
//
//   check_sums({17, 18}, {})   ->  {"case 17: reduction: ...: element 3 of output 0: expected 0.1, got 0.100958, ..."}
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ir/kernel/target.h"
#include "runtime/device.h"
#include "tests/sums/sum_case.h"

namespace heddle::testing {

struct SumOptions {
  DrawOptions draw;
  ir::Target target;                                         // of the plan
  std::function<std::unique_ptr<runtime::Device>()> device;  // that executes it
};
SumOptions on_host(int64_t most);

struct SumFault {
  uint64_t number;
  std::string text;
};
struct SumReport {
  std::vector<SumFault> faults;
  int64_t results = 0;
  double worst = 0;  // the largest share of its bound that an error has
};
SumReport check_sums(const std::vector<uint64_t>& numbers, const SumOptions& options);

}  // namespace heddle::testing
