#include "tools/driver/packaged_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/diagnostic.h"
#include "ir/inner_text.h"
#include "runtime/process/terminal.h"

namespace heddle::driver {
namespace {

void require_no_overrides(const std::string& path, const frontend::ReadOptions& options) {
  if (options.set.empty() && !options.small && options.short_forms.empty()) return;
  const std::string option = options.small                 ? "--small"
                             : options.short_forms.empty() ? "--set " + options.set.front()
                                                           : options.short_forms.front().option;
  throw UserError(ExitCode::usage,
                  fmt::format("{}: {} would change the model, and a package holds the code of one",
                              runtime::visible(path), runtime::visible(option)),
                  "heddle package MODEL takes this option and makes another package; or give the model file");
}

}  // namespace

Package read_packaged_model(ReadModel& read, const std::string& path, const frontend::ReadOptions& options) {
  require_no_overrides(path, options);
  Package package = read_package(path);
  read.path = path;
  try {
    read_model_text(read, package.model, package.file);
  } catch (const UserError& error) {  // whoever made the package has read it with this version
    throw UserError(ExitCode::failed,
                    fmt::format("{}: its model is none: {}", package.file, error.diagnostics().front().message),
                    "make the package anew: heddle package MODEL -o FILE");
  }
  return package;
}

void require_as_packaged(const std::string& libraries, const std::string& choices) {
  if (!libraries.empty())
    throw UserError(ExitCode::usage, "--libraries: a package holds generated kernels alone",
                    "give the model file, which is planned for the libraries");
  if (!choices.empty())
    throw UserError(ExitCode::usage, "--choices: the programs of a package are chosen already",
                    "heddle package MODEL --choices TABLE makes one with them");
}

Choices packaged_choices(const Package& package, const std::string& target) {
  const runtime::SavedTensor* table = package.content.find(kPackedChoices);
  if (table == nullptr || std::ranges::count(package.targets, target, &PackedTarget::name) == 0) return {};
  const auto bytes = package.content.bytes(*table);
  const SourceFile file{package.file + "/" + kPackedChoices,
                        std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())};
  Choices choices = read_choices(file);
  choices.file.clear();
  return choices;
}

void read_model_text(ReadModel& read, const std::string& text, const std::string& file) {
  read.model = frontend::read_model(read.sources, read.sources.add(inner_name(file, "model.json"), text));
}

BatchRequest packaged_batch(const BatchRequest& asked, const Package& package, const ir::Target& target) {
  for (const PackedTarget& t : package.targets) {
    if (t.name != target.name || (t.gpu() && t.arch != target.arch) || t.predict_rows == 0) continue;
    if (asked.rows == 0 || asked.rows == t.predict_rows) return {.rows = t.predict_rows};
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: made to predict {} rows at once, not {}", package.file, t.predict_rows, asked.rows),
        fmt::format("leave out --batch; or heddle package MODEL --rows {} -o FILE makes one", asked.rows));
  }
  return asked;
}

std::vector<std::string> packaged_outputs(const std::vector<std::string>& asked, const Package& package) {
  if (asked.empty() || asked == package.outputs) return package.outputs;
  const std::string made =
      package.outputs.empty() ? "the model's outputs" : fmt::format("{}", fmt::join(package.outputs, ", "));
  throw UserError(
      ExitCode::usage, fmt::format("{}: made to predict {}, not {}", package.file, made, fmt::join(asked, ", ")),
      fmt::format("leave out --output; or heddle package MODEL --output {} -o FILE makes one", asked.front()));
}

}  // namespace heddle::driver
