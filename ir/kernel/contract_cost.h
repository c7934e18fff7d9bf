// contract_cost: predicts the seconds of a tiled product on a target, without its launch and without the limit of
// memory bandwidth. The model: waves of blocks; each block multiplies step after step.
//
//   tiles 64 x 64 of a result f32[15488,64], k = 288   ->   242 blocks, two on a processor, 18 steps
#pragma once
#include "ir/kernel/plan_contract.h"
#include "ir/kernel/target.h"

namespace heddle::ir {

// Operations per element: of each side before the product, and of the result after it.
struct ProductWork {
  double left = 0, right = 0, result = 0;
};
ProductWork product_work(const Graph& kernel, const ContractPlan& plan);

// Predicts the seconds for a fixed tile, number of threads and stages, and for changing numbers of parts (split_k). It
// computes once what does not depend on the parts. It refers to the caller's schedule and plan: change them
// (set_parts), then call seconds().
class ContractTimes {
 public:
  ContractTimes(const schedules::Product& schedule, const ContractPlan& plan, const ProductWork& work,
                const Target& target);
  double seconds();

 private:
  struct Step {
    int64_t blocks = 0;  // blocks that a multiprocessor executes at the same time
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

// The seconds for one schedule. set_tiles must have completed `plan`.
double contract_seconds(const schedules::Product& schedule, const ContractPlan& plan, const ProductWork& work,
                        const Target& target);

// The estimated 32-bit registers of a thread: for its sums, for operands or the sums of other parts, and for addresses.
// The hardware limit is kMostRegisters.
inline constexpr int64_t kMostRegisters = 255;
int64_t product_registers(const schedules::Product& schedule, const ContractPlan& plan);

// Dependent loads where the parts of a sum meet. In each round a thread waits for the counter of arrived parts, then
// for the sums of the parts, as many at once as registers hold.
int64_t meeting_waits(const schedules::Product& schedule, const ContractPlan& plan);

}  // namespace heddle::ir
