// Opens the model for the subcommands predict and generate, which use the C++ interface (tools/api/heddle.h).
#pragma once
#include <functional>
#include <string>

#include "tools/api/heddle.h"
#include "tools/command/model_arguments.h"
#include "tools/driver/open_device.h"

namespace heddle::tools {

using TakeNote = std::function<void(const std::string&)>;

// `on_input`: the option that also reads standard input, such as "--in"; empty: none. Throws UserError where the model
// is read from standard input as well. Notes are printed at once, unless `note` is given.
heddle::Model open_model(const ModelArguments& a, const driver::DeviceRequest& device, const std::string& on_input,
                         const TakeNote& note = {});
// Prints "note: ..." on standard error.
void print_as_note(const std::string& text);

}  // namespace heddle::tools
