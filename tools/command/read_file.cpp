#include "tools/command/read_file.h"

#include "ir/read_text.h"

namespace heddle::tools {

SourceFile read_file(const std::string& path, size_t max_bytes) {
  return {path == "-" ? "<stdin>" : path, read_text(path, "'" + path + "'", max_bytes)};
}

}  // namespace heddle::tools
