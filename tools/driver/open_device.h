// Opens the device that a name such as "cuda:1" means, and finds the target for its programs.
#pragma once
#include <memory>
#include <string>

#include "ir/kernel/target.h"
#include "runtime/cuda/driver.h"
#include "runtime/device.h"

namespace heddle::driver {

struct DeviceRequest {
  std::string device = "auto";
  int threads = 0;        // of the host; 0: one per processor
  bool launches = false;  // a GPU runs each kernel as a launch, even where a persistent kernel is faster
};

// Why compiled kernels cannot be cached; "" where they can.
std::string kernel_cache_problem();

struct OpenedDevice {
  std::unique_ptr<runtime::Device> device;
  ir::Target target;
  std::string note;  // why "auto" chose the host; or ""
  std::string description() const { return device->description() + (note.empty() ? "" : " (" + note + ")"); }
};
// "auto" is the first GPU, or the host where there is none. Throws UserError: exit 3 where the requested device is
// missing, exit 2 where the name is not a device. Prints nothing, because standard error belongs to the calling
// program.
OpenedDevice open_device(const DeviceRequest& request);

// The compiler's target for this GPU: that of its name, else that of its compute capability. Where the driver's figures
// differ, as for a partition of a GPU, these are used, and `note` says so.
ir::Target target_of(const runtime::CudaInfo& info, std::string& note);

}  // namespace heddle::driver
