#include "runtime/compile/packed_code.h"

#include <fmt/format.h>

#include "ir/diagnostic.h"
#include "runtime/compile/kernel_cache.h"

namespace heddle::runtime {

const std::string& PackedCode::find(const std::string& text, std::string_view extension) const {
  const auto found = code.find(packed_name(folder, text, extension));
  if (found != code.end()) return found->second;
  throw UserError(ExitCode::failed,
                  fmt::format("{}: no machine code for {} of these kernels ({})", file, folder, extension.substr(1)),
                  "make the package anew: heddle package MODEL -o FILE");
}

std::string packed_name(const std::string& folder, const std::string& text, std::string_view extension) {
  return fmt::format("{}/{}{}", folder, cache_key({text}), extension);
}

}  // namespace heddle::runtime
