#include "ir/kernel/columns_meet.h"

#include <algorithm>
#include <tuple>

namespace heddle::ir {

// The fewest turns; of equal ones the fewest loads of a lane. A lane holds up to 32 registers of sums.
ColumnsMeet columns_meet(const KernelForm& form, int64_t columns, int64_t bytes) {
  constexpr int64_t kWarp = 32, kRegisters = 32, kRegisterBytes = 4;
  if (form.threads < kWarp) return {};
  const auto cut = [](int64_t n, int64_t by) { return (n + by - 1) / by; };
  const int64_t registers = cut(bytes, kRegisterBytes);
  ColumnsMeet best;
  std::tuple<int64_t, int64_t> least{INT64_MAX, INT64_MAX};
  for (int64_t shares = 1; shares <= kWarp; shares *= 2) {
    const int64_t blocks = cut(std::max<int64_t>(form.blocks, 1), shares), sets = cut(columns, form.threads / shares);
    int64_t at_once = 1;
    while (at_once < blocks && 2 * at_once * registers <= kRegisters) at_once *= 2;
    const int64_t turns = sets * cut(blocks, at_once);
    if (std::tuple(turns, sets * blocks) >= least) continue;
    least = {turns, sets * blocks};
    best = {.shares = shares, .at_once = at_once, .turns = turns};
  }
  return best;
}

}  // namespace heddle::ir
