// The model of a subcommand that is thin over the library (tools/api/heddle.h): predict, generate.
#pragma once
#include <functional>
#include <string>

#include "tools/api/heddle.h"
#include "tools/command/model_arguments.h"
#include "tools/driver/open_device.h"

namespace heddle::tools {

using TakeNote = std::function<void(const std::string&)>;

// `on_input`: what else is read from standard input, "--in"; empty: nothing. Throws UserError where the model is, too.
// Notes are printed as they come, unless `note` takes them.
heddle::Model open_model(const ModelArguments& a, const driver::DeviceRequest& device, const std::string& on_input,
                         const TakeNote& note = {});
// "note: ..." on standard error.
void print_as_note(const std::string& text);

}  // namespace heddle::tools
