// The device that a name such as "cuda:1" means, and the target that programs for it are compiled for.
#pragma once
#include <memory>
#include <string>

#include "ir/kernel/target.h"
#include "runtime/cuda/driver.h"
#include "runtime/device.h"

namespace heddle::driver {

struct DeviceRequest {
  std::string device = "auto";
  int threads = 0;        // of the host; 0: as many as it has
  bool launches = false;  // a GPU executes a step as its launches, also where one kernel for all of them is faster
};

// Why compiled kernels are not kept, where they are not; or "".
std::string kernel_cache_problem();

struct OpenedDevice {
  std::unique_ptr<runtime::Device> device;
  ir::Target target;
  std::string note;  // why it is the host, where nobody asked for it; or ""
  std::string description() const { return device->description() + (note.empty() ? "" : " (" + note + ")"); }
};
// "auto" is the first GPU, or the host where there is none. Throws UserError: exit 3 where what was
// asked for is missing, exit 2 where it is no device. Says nothing by itself: a program's standard
// error is its own.
OpenedDevice open_device(const DeviceRequest& request);

// What the compiler knows about this GPU: the target of its name, else of its capability, with the
// driver's figures where they are others, as those of a part of a GPU are; `note` says so.
ir::Target target_of(const runtime::CudaInfo& info, std::string& note);

}  // namespace heddle::driver
