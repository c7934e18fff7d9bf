#include "tools/command/device_arguments.h"

#include "tools/command/command_line.h"
#include "tools/command/output.h"

namespace heddle::tools {

void add_device_arguments(Command& command, driver::DeviceRequest& a) {
  command.add_option("--device", a.device, "auto (default: a GPU if there is one, else the host), host, cuda or cuda:N")
      .may_be({"auto", "host", "cuda"});
  command.add_option("--threads", a.threads, "threads of the host device; results do not depend on it")
      .between(1, 1024);
}

void warn_without_kernel_cache() {
  const std::string problem = driver::kernel_cache_problem();
  if (problem.empty()) return;
  print_note("heddle: warning: {}\nhelp: set HEDDLE_CACHE to a new or empty folder\n", problem);
}

}  // namespace heddle::tools
