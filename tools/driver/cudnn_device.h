// Describes a target in cuDNN's JSON for devices, so that cuDNN can plan for a GPU that is not present
// (runtime/cuda/cudnn_plan.h).
//
//   h200  ->  {"deviceName":"h200","cudaDeviceId":0,"deviceVer":900,...
#pragma once
#include <string>

#include "ir/kernel/target.h"

namespace heddle::driver {

std::string cudnn_device(const ir::Target& target);

}  // namespace heddle::driver
