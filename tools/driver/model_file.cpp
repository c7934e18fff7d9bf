#include "tools/driver/model_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "ir/diagnostic.h"
#include "runtime/files/foreign_file.h"
#include "runtime/process/terminal.h"
#include "tools/driver/package.h"

namespace heddle::driver {
namespace {

namespace fs = std::filesystem;

// Where the models that belong to the program lie: ../share/heddle/models of its folder.
std::string models_of_program() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? "models" : (program.parent_path().parent_path() / "share" / "heddle" / "models").string();
}

std::vector<std::string> names_of_models(const std::vector<std::string>& folders) {
  std::vector<std::string> names;
  std::error_code error;
  for (const std::string& folder : folders)
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
      if (at->path().extension() == ".json") names.push_back(at->path().stem().string());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// "mnist_cnn" names models/mnist_cnn.json, in the working folder or beside the program, unless a
// file of that name is there.
std::string find_model(const std::string& name) {
  std::error_code error;
  const bool path = name.find('/') != std::string::npos || name.ends_with(".json");
  if (path || name == "-" || fs::exists(fs::symlink_status(name, error))) return name;
  const std::vector<std::string> folders{"models", models_of_program()};
  for (const std::string& folder : folders) {
    std::string file = fmt::format("{}/{}.json", folder, name);
    if (fs::exists(file, error)) return file;
  }
  const std::vector<std::string> names = names_of_models(folders);
  std::string help = did_you_mean(name, names);
  if (help.empty()) help = "give the path of a model file";
  if (help.starts_with("give") && !names.empty()) help += fmt::format(", or one of {}", fmt::join(names, " "));
  throw UserError(
      ExitCode::failed,
      fmt::format("cannot read '{}': there is no such file, and no model of this name", runtime::visible(name)), help);
}

}  // namespace

void read_model(ReadModel& read, const std::string& name, const frontend::ReadOptions& options) {
  read.path = find_model(name);
  if (read.path == "-") require_no_package(read.sources.open(read.path).text);
  require_model_file(read.path);
  if (const auto foreign = runtime::foreign_file(read.path, runtime::Wanted::model))
    throw UserError(ExitCode::failed,
                    fmt::format("{}: not a model: it is {}", runtime::visible(read.path), foreign->what),
                    foreign->help);
  read.model = frontend::read_model(read.sources, read.path, options);
}

std::filesystem::path ReadModel::folder(const std::string& given) const {
  return given.empty() ? fs::path(path).parent_path() : fs::path(given);
}

}  // namespace heddle::driver
