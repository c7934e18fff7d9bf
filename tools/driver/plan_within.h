// plan_within: runs the passes with the fewest blocks computed again that a memory limit requires.
//
//   arena of 12 blocks 800 MB, limit 300 MB   ->   the first 9 blocks are computed again: 290 MB
#pragma once
#include <functional>
#include <optional>

#include "tools/driver/compile.h"

namespace heddle::driver {

// The memory limit: that of the model or of the options, whichever is less; 0: the target's memory.
int64_t limit_of(const frontend::PlannedMemory& memory, const CompileOptions& options);

// The least number of the `all` blocks that fits when so many are computed again. It tries 0, and then bisects, since
// more blocks take less memory. The last block is an exception: the backward sweep begins there, so computing it again
// may free nothing. Returns nothing where neither `all` nor `all` - 1 blocks fit. The last successful call of `fits`
// has the returned number.
std::optional<size_t> fewest_that_fit(size_t all, const std::function<bool(size_t)>& fits);

// Runs the passes with the plan's blocks and the first `others` of the optional blocks computed again.
ir::Module planned_with(ir::Module m, const frontend::PlannedMemory& memory, size_t others, CompileOptions options,
                        const std::vector<ir::FedColumn>& fed);

// Runs the passes. Optional blocks are added in the plan's order until the module fits under limit_of(memory, options).
// options.tell gets their number. Throws UserError with ExitCode::limit where all blocks are not enough.
ir::Module plan_within(ir::Module m, const frontend::PlannedMemory& memory, const CompileOptions& options,
                       const std::vector<ir::FedColumn>& fed);

}  // namespace heddle::driver
