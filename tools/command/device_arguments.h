// The options --device and --threads, which choose the device of a subcommand.
#pragma once
#include "tools/driver/open_device.h"

namespace heddle::tools {

class Command;

void add_device_arguments(Command& command, driver::DeviceRequest& a);

// Where compiled kernels cannot be cached, prints a warning with the reason on standard error.
void warn_without_kernel_cache();

}  // namespace heddle::tools
