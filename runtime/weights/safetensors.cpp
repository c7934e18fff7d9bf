#include "runtime/weights/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <stdexcept>

#include "ir/diagnostic.h"
#include "runtime/weights/safetensors_header.h"

namespace heddle::runtime {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& file, const std::string& message) {
  throw UserError(ExitCode::failed, fmt::format("{}: {}", file, message));
}
[[noreturn]] void fail_errno(const std::string& file, const std::string& what) {
  fail(file, what + ": " + std::strerror(errno));
}

class File {
 public:
  File(std::string path, int flags, mode_t mode = 0)
      : path_(std::move(path)), fd_(::open(path_.c_str(), flags | O_CLOEXEC, mode)) {
    if (fd_ < 0) fail_errno(path_, "cannot be opened");
  }
  ~File() { close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int64_t size() const {
    struct stat status {};
    if (::fstat(fd_, &status) != 0) fail_errno(path_, "cannot be examined");
    if (!S_ISREG(status.st_mode)) fail(path_, "not a regular file");
    return status.st_size;
  }
  void read(void* to, int64_t bytes) {
    for (auto* p = static_cast<char*>(to); bytes > 0;) {
      const ssize_t n = ::read(fd_, p, static_cast<size_t>(bytes));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail_errno(path_, "cannot be read");
      if (n == 0) fail(path_, "truncated while it was read");
      p += n, bytes -= n;
    }
  }
  void write(const void* from, int64_t bytes) {
    for (const auto* p = static_cast<const char*>(from); bytes > 0;) {
      const ssize_t n = ::write(fd_, p, static_cast<size_t>(bytes));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail_errno(path_, "cannot be written");
      p += n, bytes -= n;
    }
  }
  void sync() {
    if (::fsync(fd_) != 0) fail_errno(path_, "cannot be written");
  }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  std::string path_;
  int fd_;
};

int64_t tensor_bytes(const std::string& file, const SavedTensor& t) {
  int64_t bytes = bytes_per_element(t.dtype);
  for (int64_t d : t.dims)
    if (__builtin_mul_overflow(bytes, d, &bytes)) fail(file, fmt::format("'{}': its shape is too large", t.name));
  return bytes;
}

// The tensors must cover the data exactly: no overlap, no hole, nothing outside.
void check_tiling(const std::string& file, const WeightsHeader& header, int64_t data_bytes) {
  std::vector<const SavedTensor*> by_offset;
  for (const SavedTensor& t : header.tensors) {
    if (t.begin > t.end || t.end > data_bytes)
      fail(file,
           fmt::format("'{}': offsets {} to {} are outside the {} bytes of data", t.name, t.begin, t.end, data_bytes));
    const int64_t bytes = tensor_bytes(file, t);
    if (bytes != t.end - t.begin)
      fail(file, fmt::format("'{}': its shape takes {} bytes, its offsets {}", t.name, bytes, t.end - t.begin));
    by_offset.push_back(&t);
  }
  std::stable_sort(by_offset.begin(), by_offset.end(), [](const SavedTensor* a, const SavedTensor* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  int64_t at = 0;
  for (const SavedTensor* t : by_offset) {
    if (t->begin != at)
      fail(file, fmt::format("'{}': {} before it", t->name, t->begin < at ? "overlaps the tensor" : "leaves a hole"));
    at = t->end;
  }
  if (at != data_bytes) fail(file, fmt::format("{} bytes of data belong to no tensor", data_bytes - at));
}

}  // namespace

const SavedTensor* WeightsFile::find(const std::string& tensor) const {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const SavedTensor& t) { return t.name == tensor; });
  return found == tensors.end() ? nullptr : &*found;
}

std::span<const std::byte> WeightsFile::bytes(const SavedTensor& t) const {
  return std::span(data).subspan(static_cast<size_t>(t.begin), static_cast<size_t>(t.end - t.begin));
}

WeightsFile read_safetensors(const std::string& path) {
  File file(path, O_RDONLY | O_NONBLOCK);
  const int64_t size = file.size();
  std::array<unsigned char, 8> prefix{};
  if (size < 8) fail(path, fmt::format("not a safetensors file: {} bytes, expected a header length of 8", size));
  file.read(prefix.data(), 8);
  uint64_t length = 0;
  for (size_t i = 8; i-- > 0;) length = length << 8 | prefix[i];
  if (length > static_cast<uint64_t>(kMaxWeightsHeader))
    fail(path, fmt::format("not a safetensors file: a header of {} bytes", length));
  const auto header_bytes = static_cast<int64_t>(length);
  if (header_bytes > size - 8)
    fail(path, fmt::format("truncated: a header of {} bytes in a file of {}", header_bytes, size));

  std::string text(static_cast<size_t>(header_bytes), '\0');
  file.read(text.data(), header_bytes);
  WeightsHeader header;
  try {
    header = parse_weights_header(text);
  } catch (const std::runtime_error& error) {
    fail(path, error.what());
  }
  const int64_t data_bytes = size - 8 - header_bytes;
  check_tiling(path, header, data_bytes);
  WeightsFile weights{
      .name = path, .tensors = std::move(header.tensors), .metadata = std::move(header.metadata), .data = {}};
  weights.data.resize(static_cast<size_t>(data_bytes));
  file.read(weights.data.data(), data_bytes);
  return weights;
}

void write_safetensors(const std::string& path, const WeightsFile& weights) {
  WeightsHeader header{.tensors = {}, .metadata = weights.metadata};
  int64_t at = 0;
  for (SavedTensor t : weights.tensors) {
    const int64_t bytes = t.end - t.begin;
    t.begin = at, t.end = at += bytes;
    header.tensors.push_back(std::move(t));
  }
  std::string text = print_weights_header(header);
  text.append((8 - text.size() % 8) % 8, ' ');  // the data starts at a multiple of 8
  std::array<unsigned char, 8> prefix{};
  for (size_t i = 0; i < 8; ++i) prefix[i] = static_cast<unsigned char>(static_cast<uint64_t>(text.size()) >> (8 * i));

  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  const std::string temporary = fmt::format("{}.tmp-{}", path, ::getpid());
  try {
    File file(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644);
    file.write(prefix.data(), 8);
    file.write(text.data(), static_cast<int64_t>(text.size()));
    for (const SavedTensor& t : weights.tensors) file.write(weights.bytes(t).data(), t.end - t.begin);
    file.sync();
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    ::unlink(temporary.c_str());
    fail(path, fmt::format("cannot be written: {}", std::strerror(reason)));
  }
  File(folder.string(), O_RDONLY | O_DIRECTORY).sync();
}

}  // namespace heddle::runtime
