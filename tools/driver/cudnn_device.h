// A target as cuDNN wants a device described, in JSON: it plans for one that is not there (runtime/cuda/cudnn_plan.h).
//
//   h200  ->  {"deviceName":"h200","cudaDeviceId":0,"deviceVer":900,...
#pragma once
#include <string>

#include "ir/kernel/target.h"

namespace heddle::driver {

std::string cudnn_device(const ir::Target& target);

}  // namespace heddle::driver
