// heddle inspect --memory: shows what takes a training's memory, what a memory limit costs in time, and the largest
// batch within a limit. It neither runs the program nor allocates its memory.
#pragma once
#include <string>

#include "tools/command/model_arguments.h"
#include "tools/driver/open_device.h"

namespace heddle::tools {

struct InspectMemory {
  driver::DeviceRequest device = {.device = ""};  // empty: auto, or `target`
  std::string target;                             // a device that need not be present
  std::string data;                               // the folder of the data files
};
void inspect_memory(const ModelArguments& model, const InspectMemory& a, bool json);

}  // namespace heddle::tools
