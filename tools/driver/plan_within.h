// plan_within: the passes, with as many blocks computed again as a limit of memory asks for.
//
//   arena of 12 blocks 800 MB, limit 300 MB   ->   the first 9 blocks are computed again: 290 MB
#pragma once
#include <functional>
#include <optional>

#include "tools/driver/compile.h"

namespace heddle::driver {

// What the model or the options allow, whichever is less; 0: what the target has.
int64_t limit_of(const frontend::PlannedMemory& memory, const CompileOptions& options);

// Of `all` blocks that may be computed again, the fewest that fit: none, or found by halving, since more blocks take less
// memory. The last block is an exception: the sweep begins there, so computing it again may free nothing. Nothing where
// neither all blocks nor all but the last one fit. The last number that has fitted is the one that is returned.
std::optional<size_t> fewest_that_fit(size_t all, const std::function<bool(size_t)>& fits);

// The module as the passes leave it, with the plan's blocks and the first `others` of those that may join them.
ir::Module planned_with(ir::Module m, const frontend::PlannedMemory& memory, size_t others, CompileOptions options,
                        const std::vector<ir::FedColumn>& fed);

// The module as the passes leave it. Blocks join in the plan's order, no more than the limit asks for: that of `options`
// or of the plan, whichever is less; options.tell hears how many. Throws UserError with ExitCode::limit where all are not
// enough.
ir::Module plan_within(ir::Module m, const frontend::PlannedMemory& memory, const CompileOptions& options,
                       const std::vector<ir::FedColumn>& fed);

}  // namespace heddle::driver
