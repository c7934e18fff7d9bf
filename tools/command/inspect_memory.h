// heddle inspect --memory: what dominates a training's memory, what limits of it cost, and the largest batch within one.
// Nothing is run, and nothing of that size is allocated.
#pragma once
#include <string>

#include "tools/command/model_arguments.h"
#include "tools/driver/open_device.h"

namespace heddle::tools {

struct InspectMemory {
  driver::DeviceRequest device = {.device = ""};  // empty: auto, or `target`
  std::string target;                             // of a device that need not be here
  std::string data;                               // the folder of the data files
};
void inspect_memory(const ModelArguments& model, const InspectMemory& a, bool json);

}  // namespace heddle::tools
