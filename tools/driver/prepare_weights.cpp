#include "tools/driver/prepare_weights.h"

#include <algorithm>

#include "passes/prepare.h"

namespace heddle::driver {

void prepare_weights(runtime::Executable& executable) {
  const std::vector<codegen::Entry>& entries = executable.program().entries;
  const auto prepare = std::ranges::find(entries, passes::kPrepare, &codegen::Entry::name);
  if (prepare != entries.end()) executable.run(*prepare);
}

}  // namespace heddle::driver
