#include "tools/command/read_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace heddle::tools {

SourceFile read_file(const std::string& path, size_t max_bytes) {
  const bool standard_input = path == "-";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      standard_input ? stdin : std::fopen(path.c_str(), "rb"),
      standard_input ? [](std::FILE*) { return 0; } : std::fclose);
  const auto fail = [&](const std::string& reason) -> UserError {
    return UserError(ExitCode::failed, "cannot read '" + path + "': " + reason);
  };
  if (!file) throw fail(std::strerror(errno));
  SourceFile out{standard_input ? "<stdin>" : path, {}};
  char buffer[65536];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, file.get())) > 0;) {
    out.text.append(buffer, n);
    if (out.text.size() > max_bytes) throw fail("it is larger than " + std::to_string(max_bytes >> 20) + " MiB");
  }
  if (std::ferror(file.get()) != 0) throw fail(std::strerror(errno));
  return out;
}

}  // namespace heddle::tools
