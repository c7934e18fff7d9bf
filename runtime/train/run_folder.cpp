#include "runtime/train/run_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "ir/diagnostic.h"
#include "runtime/files/temporary.h"
#include "runtime/files/write_file.h"
#include "runtime/process/terminal.h"

namespace heddle::runtime {
namespace {

constexpr std::string_view kPrefix = "checkpoint-", kSuffix = ".safetensors";
constexpr size_t kDigits = 12;
constexpr const char* kMark = "heddle-run.json";

bool is_checkpoint_name(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return false;
  name.remove_prefix(kPrefix.size()), name.remove_suffix(kSuffix.size());
  return name.size() >= kDigits && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

// Of names of checkpoints, or of paths in one folder: the step is larger.
bool is_later(const std::string& a, const std::string& b) { return a.size() != b.size() ? a.size() > b.size() : a > b; }

}  // namespace

// A file that somebody else removed meanwhile is no loss.
void remove_file(const std::string& path) {
  if (is_regular_file(path) && ::unlink(path.c_str()) != 0 && errno != ENOENT)
    throw UserError(ExitCode::failed, fmt::format("{}: cannot be removed: {}", path, std::strerror(errno)),
                    "name another folder");
}

RunFolder::RunFolder(const std::string& path)
    : folder_(path, {.what = "run",
                     .mark = kMark,
                     .busy = "another process runs in this folder",
                     .another = "name another for --run"}) {
  require_replaceable(at(folder_.mark()));
}

std::string RunFolder::checkpoint(int64_t step) const {
  return at(fmt::format("{}{:0{}}{}", kPrefix, step, kDigits, kSuffix));
}

std::vector<std::string> RunFolder::checkpoints() const {
  std::vector<std::string> names;
  for (std::string& name : folder_.names())
    if (is_checkpoint_name(name) && is_regular_file(at(name))) names.push_back(std::move(name));
  std::ranges::sort(names, is_later);
  for (std::string& name : names) name = at(name);
  return names;
}

bool RunFolder::has_lost_checkpoints() const {
  const std::vector<std::string> names = folder_.names();
  return std::ranges::none_of(names, is_checkpoint_name) && is_regular_file(last());
}

void RunFolder::clear() {
  if (!has_run()) return;
  for (const std::string& path : checkpoints()) remove_file(path);
  remove_file(best());
  remove_file(last());
}

void RunFolder::remove() {
  clear();
  remove_file(log());
  remove_file(at("model.json"));
  remove_file(at(folder_.mark()));
}

std::string foreign_in_run(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return {};
  if (S_ISLNK(info.st_mode)) return "is a link";
  if (!S_ISDIR(info.st_mode)) return "is no folder";
  std::error_code ec;
  const bool marked = is_regular_file(path + "/" + kMark);
  for (std::filesystem::directory_iterator it(path, ec), end; !ec && it != end; it.increment(ec)) {
    const std::string name = it->path().filename().string();
    const bool own = is_temporary_name(name) ||
                     (marked && (name == kMark || name == "model.json" || name == "log.jsonl" ||
                                 name == "best.safetensors" || name == "last.safetensors" || is_checkpoint_name(name)));
    if (!own) return fmt::format("the folder holds '{}', which is not of a run", visible(name));
  }
  if (ec) return "cannot be read: " + ec.message();
  return {};
}

void remove_run(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || !is_regular_file(path + "/" + kMark)) return;
  RunFolder(path).remove();
  ::rmdir(path.c_str());  // only where it is empty
}

void RunFolder::begin(std::string_view mark, std::string_view model) {
  replace_file(at(folder_.mark()), {mark});
  replace_file(at("model.json"), {model});
}

void RunFolder::keep_newest(int64_t keep, int64_t step, const std::vector<std::string>& kept) {
  std::vector<std::string> all = checkpoints();
  std::erase_if(all, [newest = checkpoint(step)](const std::string& path) { return is_later(path, newest); });
  for (size_t i = static_cast<size_t>(keep); i < all.size(); ++i)
    if (std::ranges::find(kept, all[i]) == kept.end()) remove_file(all[i]);
}

}  // namespace heddle::runtime
