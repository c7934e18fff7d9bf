#include "runtime/files/write_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "ir/diagnostic.h"

namespace heddle::runtime {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::string& reason, const std::string& help) {
  throw UserError(ExitCode::failed, fmt::format("{}: cannot be written: {}", path, reason), help);
}

// The file that `path` means, without symbolic links, which is regular or absent.
fs::path target_of(const std::string& path) {
  std::error_code ec;
  const fs::file_status status = fs::status(path, ec);
  if (status.type() != fs::file_type::directory && leads_to_temporary_name(path))
    refuse(path, "files of such names are drafts, which later runs remove", "name another file");
  switch (status.type()) {
    case fs::file_type::regular: {
      const bool writable = faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
      if (!writable && errno == EROFS) refuse(path, "its file system is read-only", "name a file on another one");
      if (!writable)
        refuse(path, "the file is write-protected", "name another file, or allow it to be written: chmod u+w");
      fs::path target = fs::canonical(path, ec);
      if (ec) refuse(path, ec.message(), writing_remedy(ec.value()));
      return target;
    }
    case fs::file_type::not_found: break;
    case fs::file_type::directory: refuse(path, "it is a folder", "name a file in it");
    case fs::file_type::none: refuse(path, ec.message(), writing_remedy(ec.value()));
    default: refuse(path, "it is a device or a pipe, not a regular file", "name a file that may be replaced");
  }
  if (fs::is_symlink(fs::symlink_status(path, ec)))
    refuse(path, "it is a symbolic link to a file that does not exist", "remove the link, or make the file");
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  if (!fs::path(path).has_filename()) refuse(path, "it names a folder", "add the name of a file");
  if (fs::exists(folder, ec) && !fs::is_directory(folder, ec))
    refuse(path, fmt::format("'{}' is no folder", folder.string()), "name a file in a folder");
  if (!fs::is_directory(folder, ec))
    refuse(path, fmt::format("there is no folder '{}'", folder.string()), "make the folder first");
  return folder / fs::path(path).filename();
}

// Some file systems cannot sync a folder, and some folders may be written but not read. There, a crash can still undo
// the rename until the system writes the folder.
void sync_folder(const fs::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

void keep_permissions(const fs::path& target, int draft) {
  struct stat info {};
  if (::stat(target.c_str(), &info) == 0) ::fchmod(draft, info.st_mode & 0777);
}

}  // namespace

void require_replaceable(const std::string& path) {
  const TemporaryFile draft(target_of(path).parent_path().string(), path);
}

FileReplacement::FileReplacement(const std::string& path) : target_(target_of(path)) {
  draft_ = std::make_unique<TemporaryFile>(fs::path(target_).parent_path().string(), path);
}

void FileReplacement::finish() {
  keep_permissions(target_, file().descriptor());
  file().sync();               // tells every error, so that the draft
  draft_->rename_to(target_);  // can stay open, and thereby locked, until it has its name
  sync_folder(fs::path(target_).parent_path());
}

void require_new(const std::string& path) {
  std::error_code ec;
  if (!fs::exists(path, ec) || fs::is_directory(path, ec)) return;
  if (fs::file_size(path, ec) == 0 && !ec) return;
  refuse(path, "the file is there already", "name another file, or allow it to be replaced: --overwrite");
}

void replace_file(const std::string& path, const std::vector<std::string_view>& pieces) {
  FileReplacement file(path);
  for (const std::string_view piece : pieces) file.file().write(piece.data(), static_cast<int64_t>(piece.size()));
  file.finish();
}

bool is_stream(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && (S_ISCHR(info.st_mode) || S_ISFIFO(info.st_mode));
}

void write_file(const std::string& path, std::string_view text) {
  if (!is_stream(path)) return replace_file(path, {text});
  // Without O_NONBLOCK, opening a pipe that nobody reads would wait for ever.
  File stream(path, O_WRONLY | O_NOCTTY | O_NONBLOCK);
  ::fcntl(stream.descriptor(), F_SETFL, O_WRONLY);
  stream.write(text.data(), static_cast<int64_t>(text.size()));
  stream.close();
}

}  // namespace heddle::runtime
