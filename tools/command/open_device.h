// The device that --device names, and the flags that go with it.
#pragma once
#include <memory>
#include <string>

#include "runtime/device.h"

namespace heddle::tools {

class Command;

struct DeviceArguments {
  std::string device = "host";
  int threads = 0;
};
void add_device_arguments(Command& command, DeviceArguments& a);

// Says on standard error why compiled kernels are not kept, where they are not.
void warn_without_kernel_cache();

// Throws UserError (exit 3) for cuda, which this version does not have.
std::unique_ptr<runtime::Device> open_device(const DeviceArguments& a);

}  // namespace heddle::tools
