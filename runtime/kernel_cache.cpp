#include "runtime/kernel_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "ir/diagnostic.h"
#include "runtime/write_file.h"

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

std::optional<std::string> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::string text((std::istreambuf_iterator<char>(in)), {});
  if (in.bad()) return std::nullopt;
  return text;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::string cache_key(std::initializer_list<std::string_view> parts) {
  std::string all;
  for (const std::string_view part : parts) all += fmt::format("{}\n{}", part.size(), part);
  return hash_text(all);
}

std::string kernel_cache_folder() {
  if (std::string chosen = environment("HEDDLE_CACHE"); !chosen.empty()) return chosen;
  if (const std::string base = environment("XDG_CACHE_HOME"); base.starts_with('/')) return base + "/heddle";
  if (const std::string home = environment("HOME"); !home.empty()) return home + "/.cache/heddle";
  return fmt::format("/tmp/heddle-cache-{}", getuid());
}

KernelCache::KernelCache(std::string folder, int64_t limit) : folder_(std::move(folder)), limit_(limit) {
  std::error_code ec;
  fs::create_directories(folder_, ec);
  struct stat info {};
  // Code is loaded from here, so the folder must be ours; under a shared /tmp somebody else could have made it first.
  const bool ours = stat(folder_.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid();
  if (!ours) folder_.clear();
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
  const Trailer trailer = make_trailer(key, content);
  try {
    const std::string_view end(reinterpret_cast<const char*>(&trailer), sizeof trailer);
    replace_file(path(key, extension), {content, end});
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
    if (item.is_regular_file(ec)) {
      const auto bytes = static_cast<int64_t>(item.file_size(ec));
      entries.push_back({item.last_write_time(ec), item.path(), bytes});
      total += bytes;
    }
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& e : entries) {
    if (total <= limit_) return;
    if (fs::remove(e.path, ec)) total -= e.bytes;
  }
}

}  // namespace heddle::runtime
