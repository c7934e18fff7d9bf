// The device that a subcommand runs on: --device and --threads.
#pragma once
#include "tools/driver/open_device.h"

namespace heddle::tools {

class Command;

void add_device_arguments(Command& command, driver::DeviceRequest& a);

// That compiled kernels are not kept, and why, on standard error; nothing where they are.
void warn_without_kernel_cache();

}  // namespace heddle::tools
