#include "tools/command/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "codegen/emit.h"
#include "ir/diagnostic.h"
#include "runtime/files/write_file.h"
#include "runtime/process/terminal.h"

namespace heddle::tools {
namespace {

std::string lost() { return fmt::format("standard output: cannot be written: {}", std::strerror(errno)); }

}  // namespace

void write_result(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) throw UserError(ExitCode::failed, lost());
}

void flush_result() {
  if (std::fflush(stdout) != 0) throw UserError(ExitCode::failed, lost());
}

// The stream remembers a failure, which finish_output asks for. A message never stands behind a line of progress.
void write_note(std::string_view text) {
  if (runtime::line_is_open().exchange(false)) std::fputc('\n', stderr);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    // A closed standard output is opened for reading: a result that is written there is lost, and that is an error.
    ::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
}

int finish_output(int code) {
  const bool failed_before = std::ferror(stdout) != 0;
  errno = 0;
  const bool failed_now = std::fflush(stdout) != 0 || std::fclose(stdout) != 0;
  if (code == 0 && failed_now) write_note(UserError(ExitCode::failed, lost()).what());
  if (code == 0 && failed_before && !failed_now)
    write_note(UserError(ExitCode::failed, "standard output: cannot be written").what());
  const bool all_written = !failed_before && !failed_now && std::ferror(stderr) == 0;
  return code == 0 && !all_written ? static_cast<int>(ExitCode::failed) : code;
}

namespace {

// The file that a path means, whether it exists or not: links are followed to where they would lead.
std::filesystem::path file_of(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr int kMostLinks = 40;  // as the system has it
  std::error_code ec;
  fs::path at = path;
  for (int i = 0; i < kMostLinks; ++i) {
    at = fs::weakly_canonical(fs::absolute(at, ec).parent_path(), ec) / at.filename();
    if (!fs::is_symlink(fs::symlink_status(at, ec))) break;
    const fs::path next = fs::read_symlink(at, ec);
    at = next.is_absolute() ? next : at.parent_path() / next;
  }
  return at;
}

// By how each of them begins: models, modules, loops, programs, kernel text, machine code, reports.
bool is_result(std::string_view text) {
  const std::string_view preamble = codegen::preamble();
  if (text.starts_with(preamble.substr(0, preamble.find('\n')))) return true;
  for (const std::string_view head :
       {"digraph \"", "graph @", "group @", "kernel @", "loops @", "// An element is %x[offset]",
        "// The executions of one kernel text", "\177ELF", "{\"model\": "})
    if (text.starts_with(head)) return true;
  // Words of a language begin these: the rest of their first lines is looked at, too.
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end), rest = end < text.size() ? text.substr(end + 1) : "";
  if (line.starts_with("model ")) return line.ends_with(" NHWC") || line.ends_with(" NCHW");
  if (line.starts_with("program ")) return rest.starts_with("state: ");
  return line.find(": state ") != std::string_view::npos && line.find(" bytes, arena ") != std::string_view::npos;
}

}  // namespace

void require_result_path(const std::string& path) {
  runtime::require_replaceable(path);
  std::string text(512, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (!text.empty() && !is_result(text))
    throw UserError(ExitCode::failed,
                    fmt::format("{}: cannot be written: it is no earlier result of heddle compile", path),
                    "name another file, or remove this one first");
}

void require_different(const std::string& option, const std::string& path, const std::string& other_option,
                       const std::string& other_path) {
  if (path.empty() || other_path.empty()) return;
  std::error_code ec;
  if (file_of(path) == file_of(other_path) || std::filesystem::equivalent(path, other_path, ec))
    throw UserError(ExitCode::usage, fmt::format("{} and {} name one file: {}", other_option, option, path),
                    "name another file");
}

}  // namespace heddle::tools
