#include "tools/command/weights_sources.h"

#include "runtime/weights/weights_index.h"
#include "tools/command/output.h"

namespace heddle::tools {

void require_no_source(const std::string& option, const std::string& path, const std::vector<std::string>& weights) {
  if (path.empty()) return;
  for (const std::string& given : weights)
    for (const std::string& file : runtime::files_of_weights(given)) require_different(option, path, "--weights", file);
}

}  // namespace heddle::tools
