#include "tools/driver/trials_folder.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
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

// Those of all trials of before: new ones may be fewer, and of other names.
void TrialsFolder::remove_runs() const {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (const std::string& name : folder_.names()) {
    if (!name.starts_with(names_.runs)) continue;
    const std::string_view number = std::string_view(name).substr(names_.runs.size());
    if (!number.empty() && std::ranges::all_of(number, is_digit)) runtime::remove_run(at(name));
  }
}

// The old rows go before the new mark comes: none is ever taken for one of other trials.
void TrialsFolder::begin(const std::string& mark, const std::vector<std::string>& rows) {
  std::string text;
  for (const std::string& row : rows) text += row + "\n";
  // In a new folder the mark comes first: what lies in a folder without one is nobody's.
  if (!folder_.is_marked()) runtime::replace_file(at(names_.mark), {mark});
  runtime::replace_file(at(names_.rows), {text});
  if (overwrite_) remove_runs();
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
