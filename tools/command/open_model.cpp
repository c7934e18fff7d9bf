#include "tools/command/open_model.h"

#include <fmt/format.h>

#include "frontend/limits.h"
#include "ir/read_text.h"
#include "tools/command/output.h"
#include "tools/driver/package.h"

namespace heddle::tools {

void print_as_note(const std::string& text) { print_note("note: {}\n", text); }

heddle::Model open_model(const ModelArguments& a, const driver::DeviceRequest& device, const std::string& on_input,
                         const TakeNote& note) {
  const Options options{.set = a.set,
                        .small = a.small,
                        .device = device.device,
                        .threads = device.threads,
                        .memory_bytes = memory_bytes(a),
                        .libraries = a.libraries,
                        .choices = a.choices,
                        .data = {},
                        .note = note ? note : print_as_note,
                        .text_name = "<stdin>",
                        .int8 = a.int8,
                        .fold_norms = a.fold_norms};
  if (a.model != "-") return heddle::Model::load(a.model, options);
  if (!on_input.empty())
    throw UserError(ExitCode::usage, fmt::format("the model and {} are both standard input", on_input),
                    "give one of them as a file");
  const std::string text = read_text("-", "standard input", frontend::kMaxFileBytes);
  driver::require_no_package(text);
  return heddle::Model::parse(text, options);
}

}  // namespace heddle::tools
