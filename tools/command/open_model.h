// The model of a subcommand that is thin over the library (tools/api/heddle.h): predict, generate.
#pragma once
#include <string>

#include "tools/api/heddle.h"
#include "tools/command/model_arguments.h"
#include "tools/driver/open_device.h"

namespace heddle::tools {

// `on_input`: what else is read from standard input, "--in"; empty: nothing. Throws UserError where the model is, too.
heddle::Model open_model(const ModelArguments& a, const driver::DeviceRequest& device, const std::string& on_input);

}  // namespace heddle::tools
