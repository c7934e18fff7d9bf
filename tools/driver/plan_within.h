// plan_within: the passes, with as many blocks computed again as a limit of memory asks for.
//
//   arena of 12 blocks 800 MB, limit 300 MB   ->   the first 9 blocks are computed again: 290 MB
#pragma once
#include "tools/driver/compile.h"

namespace heddle::driver {

// The module as the passes leave it. Blocks join in the plan's order, no more than the limit asks for: that of `options`
// or of the plan, whichever is less; options.tell hears how many. Throws UserError with ExitCode::limit where all are not
// enough.
ir::Module plan_within(ir::Module m, const frontend::PlannedMemory& memory, const CompileOptions& options,
                       const std::vector<ir::FedColumn>& fed);

}  // namespace heddle::driver
