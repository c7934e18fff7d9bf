#include "tools/driver/trials_folder.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>

#include "frontend/json/json.h"
#include "ir/diagnostic.h"
#include "runtime/files/file.h"
#include "runtime/files/write_file.h"
#include "runtime/train/run_folder.h"

namespace heddle::driver {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The lines that are whole, up to the first one that is not: a killed process, or a full disk, cuts the last.
std::vector<std::string> whole_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const SourceFile line{"row", text.substr(begin, end - begin)};
    try {
      if (frontend::parse_json(line).kind != frontend::Json::Kind::object) break;
    } catch (const UserError&) {
      break;
    }
    lines.push_back(line.text);
  }
  return lines;
}

// 0 where the mark does not say.
int64_t count_of(const std::string& mark, const std::string& key) {
  try {
    const SourceFile file{"mark", mark};
    const frontend::Json json = frontend::parse_json(file);
    const frontend::Json* count = json.find(key);
    return count != nullptr && count->kind == frontend::Json::Kind::integer ? count->integer : 0;
  } catch (const UserError&) {
    return 0;
  }
}

}  // namespace

TrialsFolder::TrialsFolder(const std::string& path, const TrialsNames& names, bool resume, bool overwrite)
    : folder_(path, {.what = names.what,
                     .mark = names.mark,
                     .busy = "another process works in this folder",
                     .another = "name another"}),
      names_(names),
      overwrite_(overwrite) {
  if (folder_.is_marked()) read(resume, overwrite);
  runtime::require_replaceable(at(names_.mark));
}

void TrialsFolder::read(bool resume, bool overwrite) {
  if (!resume && !overwrite)
    throw UserError(ExitCode::failed, fmt::format("{}: a {} lies in this folder", path(), names_.what),
                    "--resume continues it, --overwrite starts a new one; or name another folder");
  if (overwrite) return;
  mark_ = text_of(at(names_.mark));
  if (runtime::is_regular_file(at(names_.rows))) rows_ = whole_lines(text_of(at(names_.rows)));
}

// What lies in the folder under the names of the first so many trials.
std::vector<std::string> TrialsFolder::run_names(int64_t most) const {
  std::vector<std::string> runs;
  for (const std::string& name : folder_.names()) {
    if (!name.starts_with(names_.runs)) continue;
    int64_t number = 0;
    const char *begin = name.data() + names_.runs.size(), *end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(begin, end, number);
    if (error == std::errc() && stop == end && number >= 1 && number <= most) runs.push_back(name);
  }
  return runs;
}

// Throws where something is in the way of a new trial, before anything of the earlier ones is removed.
void TrialsFolder::require_room(const std::string& mark) const {
  for (const std::string& name : run_names(count_of(mark, names_.count)))
    if (const std::string foreign = runtime::foreign_in_run(at(name)); !foreign.empty())
      throw UserError(ExitCode::failed, fmt::format("{}: {}", at(name), foreign),
                      "move it elsewhere: --overwrite removes runs of earlier trials only");
}

// Those of trials of before: new ones may be fewer.
void TrialsFolder::remove_earlier() const {
  for (const std::string& name : names_.results) runtime::remove_file(at(name));
  for (const std::string& name : run_names(count_of(text_of(at(names_.mark)), names_.count)))
    runtime::remove_run(at(name));
}

// The old rows go before the new mark comes: none is ever taken for one of other trials, or for one whose run is gone.
void TrialsFolder::begin(const std::string& mark, const std::vector<std::string>& rows) {
  std::string text;
  for (const std::string& row : rows) text += row + "\n";
  const bool replaces = overwrite_ && folder_.is_marked();
  if (replaces) require_room(mark);
  // In a new folder the mark comes first: what lies in a folder without one is nobody's.
  if (!folder_.is_marked()) runtime::replace_file(at(names_.mark), {mark});
  runtime::replace_file(at(names_.rows), {text});
  if (replaces) remove_earlier();
  runtime::replace_file(at(names_.mark), {mark});
  rows_ = rows;
}

void TrialsFolder::add(const std::string& row) {
  runtime::File file(at(names_.rows), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
  const std::string line = row + "\n";
  file.write(line.data(), static_cast<int64_t>(line.size()));
  file.sync();
  file.close();
  rows_.push_back(row);
}

}  // namespace heddle::driver
