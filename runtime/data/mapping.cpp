#include "runtime/data/mapping.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "ir/check.h"
#include "runtime/files/file.h"
#include "runtime/files/temporary.h"

namespace heddle::runtime::data {
namespace {

int open_to_read(const std::filesystem::path& file, const std::string& name, const Location& where) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw UserError(where, fmt::format("{}: {}", name, std::strerror(errno)));
  return descriptor;
}

}  // namespace

Mapping::Mapping(int descriptor, int64_t begin, int64_t size, bool writable)
    : descriptor_(descriptor), begin_(begin), size_(size), writable_(writable) {
  if (size == 0) return;
  const int access = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* base =
      mmap(nullptr, static_cast<size_t>(size + page_offset()), access, MAP_SHARED, descriptor, begin - page_offset());
  if (base == MAP_FAILED) {
    const int reason = errno;
    close(descriptor);
    throw UserError(ExitCode::failed,
                    fmt::format("{} bytes of data cannot be mapped: {}", size, std::strerror(reason)));
  }
  data_ = static_cast<std::byte*>(base) + page_offset();
}

Mapping::Mapping(const std::filesystem::path& file, const std::string& name, const Location& where, int64_t begin,
                 int64_t size)
    : Mapping(open_to_read(file, name, where), begin, size, /*writable=*/false) {}

// The folder is removed at once, with the file's name. The file itself exists until it is no longer mapped.
Mapping Mapping::scratch(int64_t size) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/columns";
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) throw_errno(path, "cannot be made");
  // Without reserved disk space, writing to the mapping could end the process.
  errno = posix_fallocate(descriptor, 0, size);
  if (errno != 0) {
    const int reason = errno;
    close(descriptor);
    errno = reason;
    throw_errno(path, fmt::format("no room for {} bytes of rows", size));
  }
  return {descriptor, 0, size, /*writable=*/true};
}

Mapping::Mapping(const Mapping& other) : Mapping(other.part(0, other.size_)) {}

Mapping::Mapping(Mapping&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      begin_(other.begin_),
      size_(std::exchange(other.size_, 0)),
      writable_(other.writable_),
      data_(std::exchange(other.data_, nullptr)) {}

Mapping& Mapping::operator=(Mapping other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(begin_, other.begin_);
  std::swap(size_, other.size_);
  std::swap(writable_, other.writable_);
  std::swap(data_, other.data_);
  return *this;
}

Mapping::~Mapping() {
  if (data_ != nullptr) munmap(data_ - page_offset(), static_cast<size_t>(size_ + page_offset()));
  if (descriptor_ >= 0) close(descriptor_);
}

// Mappings begin at a page boundary.
int64_t Mapping::page_offset() const { return begin_ % sysconf(_SC_PAGESIZE); }

Mapping Mapping::part(int64_t begin, int64_t size) const {
  HEDDLE_CHECK(begin >= 0 && size >= 0 && begin + size <= size_, "a part of a mapping lies in it");
  if (size == 0) return {};
  const int descriptor = fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0) throw_errno("data", "cannot be opened once more");
  return {descriptor, begin_ + begin, size, writable_};
}

}  // namespace heddle::runtime::data
