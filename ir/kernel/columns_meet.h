// columns_meet: how the last block adds up what all blocks have left of the sums of columns.
//
//   132 blocks, 64 columns, 128 threads, f32   ->   2 lanes share a column: 66 blocks each, 32 of them at once, in 3 turns
#pragma once
#include <cstdint>

#include "ir/kernel/kernel_form.h"

namespace heddle::ir {

struct ColumnsMeet {
  int64_t shares = 1;   // lanes that share a column: each has every so manieth block
  int64_t at_once = 1;  // blocks whose sums a lane loads before it adds them, in their order
  int64_t turns = 1;    // of loads that wait for one another
};
// `bytes`: of one sum. Depends on nothing but the form and the shape, so that the order of additions does not, either.
ColumnsMeet columns_meet(const KernelForm& form, int64_t columns, int64_t bytes);

}  // namespace heddle::ir
