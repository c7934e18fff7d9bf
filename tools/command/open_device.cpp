#include "tools/command/open_device.h"

#include "ir/diagnostic.h"
#include "runtime/host/host_device.h"
#include "runtime/kernel_cache.h"
#include "tools/command/command_line.h"
#include "tools/command/output.h"

namespace heddle::tools {

void add_device_arguments(Command& command, DeviceArguments& a) {
  command.add_option("--device", a.device, "host (default) or cuda").one_of({"host", "cuda"});
  command.add_option("--threads", a.threads, "threads of the host device; results do not depend on it")
      .between(1, 1024);
}

void warn_without_kernel_cache() {
  const std::string folder = runtime::kernel_cache_folder();
  const runtime::KernelCache cache(folder);
  if (cache.problem().empty()) return;
  print_note("heddle: warning: compiled kernels are not kept: '{}' is not used, {}\n", folder, cache.problem());
  print_note("help: set HEDDLE_CACHE to a new or empty folder\n");
}

std::unique_ptr<runtime::Device> open_device(const DeviceArguments& a) {
  if (a.device == "cuda")
    throw UserError(ExitCode::missing, "this version has no CUDA device yet",
                    "leave --device out: the host device runs the model");
  warn_without_kernel_cache();
  return std::make_unique<runtime::HostDevice>(runtime::HostOptions{.threads = a.threads, .kernel_cache = {}});
}

}  // namespace heddle::tools
