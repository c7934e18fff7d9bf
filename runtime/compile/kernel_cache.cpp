#include "runtime/compile/kernel_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <thread>
#include <vector>

#include "ir/diagnostic.h"
#include "runtime/files/file.h"
#include "runtime/files/write_file.h"

namespace heddle::runtime {
namespace fs = std::filesystem;
namespace {

struct Trailer {
  char mark[16];
  char key[32];
  char hash[32];
  uint64_t length;
};
constexpr char kMark[17] = "heddle cache 1\n\n";

std::string hash_text(std::string_view text) {
  const XXH128_hash_t h = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

Trailer make_trailer(std::string_view key, std::string_view content) {
  Trailer t{};
  std::memcpy(t.mark, kMark, sizeof t.mark);
  std::memcpy(t.key, key.data(), std::min(key.size(), sizeof t.key));
  std::memcpy(t.hash, hash_text(content).data(), sizeof t.hash);
  t.length = content.size();
  return t;
}

// Returns the file's content; nothing unless it is a regular file (a FIFO would block, a device may be endless).
std::optional<std::string> read_file(const std::string& path) {
  try {
    File file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    std::string text(static_cast<size_t>(file.size()), '\0');
    file.read(text.data(), static_cast<int64_t>(text.size()));
    return text;
  } catch (const UserError&) {
    return std::nullopt;
  }
}

bool write_new_file(const std::string& path, std::string_view text) {
  try {
    File file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
    file.write(text.data(), static_cast<int64_t>(text.size()));
    file.close();
    return true;
  } catch (const UserError&) {
    return false;
  }
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

constexpr const char* kMarker = "heddle-kernel-cache";
constexpr std::string_view kMarkerText =
    "This folder belongs to Heddle's kernel cache, which removes old entries from it.\n";
constexpr const char* kExtensions[] = {".so", ".cubin", ".ptx", ".log", ".checked"};

bool all_of(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

// 9f86d081884c7d659f86d081884c7d65.so
bool is_entry_name(std::string_view name) {
  constexpr size_t kKey = 32;
  if (name.size() <= kKey || !all_of(name.substr(0, kKey), "0123456789abcdef")) return false;
  return std::find(std::begin(kExtensions), std::end(kExtensions), name.substr(kKey)) != std::end(kExtensions);
}

bool is_regular(const fs::path& path) {
  std::error_code ec;
  return fs::symlink_status(path, ec).type() == fs::file_type::regular;
}

// Marks an empty folder as the cache's. Returns "", or why the folder cannot be used.
std::string claim(const std::string& folder) {
  std::error_code ec;
  fs::create_directories(folder, ec);
  struct stat info {};
  if (stat(folder.c_str(), &info) != 0)  // a folder above it says why
    return fmt::format("it cannot be made: {}", ec ? ec.message() : std::strerror(errno));
  if (!S_ISDIR(info.st_mode)) return "it is no folder";
  // Code is loaded from this folder. Under a shared /tmp another user could have made it first.
  if (info.st_uid != geteuid()) return "it belongs to another user";
  const std::string marker = folder + "/" + kMarker;
  if (read_file(marker) == kMarkerText) return {};
  const auto entries = fs::directory_iterator(folder, ec);
  if (ec) return fmt::format("it cannot be read: {}", ec.message());
  if (entries == fs::directory_iterator() && write_new_file(marker, kMarkerText)) return {};
  // Another process may have marked it at the same moment, and be about to write its text.
  for (int wait = 0; wait < 50 && is_regular(marker); ++wait) {
    if (read_file(marker) == kMarkerText) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (entries == fs::directory_iterator()) return "it cannot be written";
  return fmt::format("it holds '{}', which is not the cache's", entries->path().filename().string());
}

}  // namespace

std::string cache_key(std::initializer_list<std::string_view> parts) {
  std::string all;
  for (const std::string_view part : parts) all += fmt::format("{}\n{}", part.size(), part);
  return hash_text(all);
}

std::string kernel_cache_folder() {
  if (std::string chosen = environment("HEDDLE_CACHE"); !chosen.empty()) return chosen;
  if (const std::string base = environment("XDG_CACHE_HOME"); base.starts_with('/')) return base + "/heddle/kernels";
  if (const std::string home = environment("HOME"); !home.empty()) return home + "/.cache/heddle/kernels";
  return fmt::format("/tmp/heddle-cache-{}", getuid());
}

KernelCache::KernelCache(std::string folder, int64_t limit)
    : folder_(std::move(folder)), problem_(claim(folder_)), limit_(limit) {
  if (!problem_.empty()) folder_.clear();
}

std::string KernelCache::path(std::string_view key, std::string_view extension) const {
  return fmt::format("{}/{}{}", folder_, key, extension);
}

std::optional<std::string> KernelCache::find(std::string_view key, std::string_view extension) const {
  if (folder_.empty()) return std::nullopt;
  const std::string file = path(key, extension);
  std::optional<std::string> text = read_file(file);
  if (!text || text->size() < sizeof(Trailer)) return std::nullopt;
  Trailer found{};
  std::memcpy(&found, text->data() + text->size() - sizeof found, sizeof found);
  text->resize(text->size() - sizeof found);
  const Trailer expected = make_trailer(key, *text);
  if (std::memcmp(&found, &expected, sizeof found) != 0) return std::nullopt;
  utimensat(AT_FDCWD, file.c_str(), nullptr, 0);
  return text;
}

bool KernelCache::store(std::string_view key, std::string_view extension, std::string_view content) const {
  if (folder_.empty()) return false;
  const std::string file = path(key, extension);
  std::error_code ec;
  if (fs::exists(fs::symlink_status(file, ec)) && !is_regular(file)) return false;
  const Trailer trailer = make_trailer(key, content);
  try {
    const std::string_view end(reinterpret_cast<const char*>(&trailer), sizeof trailer);
    replace_file(file, {content, end});
  } catch (const UserError&) {
    return false;
  }
  trim();
  return true;
}

void KernelCache::trim() const {
  struct Entry {
    fs::file_time_type used;
    fs::path path;
    int64_t bytes;
  };
  std::vector<Entry> entries;
  int64_t total = 0;
  std::error_code ec;
  for (const auto& item : fs::directory_iterator(folder_, ec)) {
    if (!is_regular(item.path()) || !is_entry_name(item.path().filename().string())) continue;
    const auto bytes = static_cast<int64_t>(item.file_size(ec));
    if (ec) continue;  // another process has removed it
    entries.push_back({item.last_write_time(ec), item.path(), bytes});
    total += bytes;
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& e : entries) {
    if (total <= limit_) return;
    if (fs::remove(e.path, ec)) total -= e.bytes;
  }
}

}  // namespace heddle::runtime
