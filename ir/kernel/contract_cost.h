// contract_cost: the seconds that a product through tiles takes on a target, but for its launch and its memory's
// bandwidth: by waves of blocks, each of which multiplies step after step.
//
//   tiles 64 x 64 of a result f32[15488,64], k = 288   ->   242 blocks, two on a processor, 18 steps
#pragma once
#include "ir/kernel/plan_contract.h"
#include "ir/kernel/target.h"

namespace heddle::ir {

// Operations on each element of a side before it is multiplied, and of a result behind that.
struct ProductWork {
  double left = 0, right = 0, result = 0;
};
ProductWork product_work(const Graph& kernel, const ContractPlan& plan);

// The seconds of one tile, and of threads and stages, for each number of parts: what the parts do
// not change is found once. Schedule and plan are those that the caller goes on to change (set_parts).
class ContractTimes {
 public:
  ContractTimes(const schedules::Product& schedule, const ContractPlan& plan, const ProductWork& work,
                const Target& target);
  double seconds();

 private:
  struct Step {
    int64_t blocks = 0;  // that a processor executes side by side
    double seconds = 0, results = 0;
  };
  Step step(int64_t blocks) const;

  const schedules::Product& schedule_;
  const ContractPlan& plan_;
  const ProductWork& work_;
  const Target& target_;
  int64_t resident_ = 1, resident_of_parts_ = 1;
  double fill_ = 0, latency_ = 0;
  Step last_;
};

// `plan` holds what follows from the schedule's tile (set_tiles).
double contract_seconds(const schedules::Product& schedule, const ContractPlan& plan, const ProductWork& work,
                        const Target& target);

// Registers of 32 bits that a thread takes: for its sums, what it multiplies or loads of other
// parts, addresses; of which it can have kMostRegisters.
inline constexpr int64_t kMostRegisters = 255;
int64_t product_registers(const schedules::Product& schedule, const ContractPlan& plan);

// Loads one behind another where the parts meet: in each of its rounds the count of those that have come, and so many
// parts at once as registers take.
int64_t meeting_waits(const schedules::Product& schedule, const ContractPlan& plan);

}  // namespace heddle::ir
