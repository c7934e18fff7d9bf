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

// `plan` holds what follows from the form's tile (set_tiles).
double contract_seconds(const KernelForm& form, const ContractPlan& plan, const ProductWork& work,
                        const Target& target);

// Registers of 32 bits that a thread takes: for its sums, what it multiplies or loads of other parts, addresses; of which it
// can have kMostRegisters.
inline constexpr int64_t kMostRegisters = 255;
int64_t product_registers(const KernelForm& form);

// Loads one behind another where the parts meet: in each of its rounds the count of those that have come, and so many
// parts at once as registers take.
int64_t meeting_waits(const KernelForm& form, const ContractPlan& plan);

}  // namespace heddle::ir
