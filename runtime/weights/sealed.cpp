#include "runtime/weights/sealed.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "ir/diagnostic.h"
#include "runtime/files/file.h"
#include "runtime/files/write_file.h"
#include "runtime/weights/safetensors_header.h"

namespace heddle::runtime {
namespace {

constexpr size_t kSealBytes = 16;
constexpr std::string_view kSealName = "heddle/checksum";

class Hash {
 public:
  Hash() { XXH3_128bits_reset(state_.get()); }
  void add(std::string_view bytes) { XXH3_128bits_update(state_.get(), bytes.data(), bytes.size()); }
  std::string digest() const {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state_.get()));
    return {reinterpret_cast<const char*>(canonical.digest), kSealBytes};
  }

 private:
  std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state_{XXH3_createState(), XXH3_freeState};
};

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw UserError(ExitCode::failed, fmt::format("{}: {}", path, what));
}

// Throws an error that says what a file without a matching checksum is.
[[noreturn]] void explain(const std::string& path, std::string_view content, const std::string& kind) {
  if (content.empty()) fail(path, "empty");
  uint64_t length = 0;
  for (size_t i = std::min<size_t>(content.size(), 8); i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(content[i]);
  if (content.size() < 9) fail(path, fmt::format("no {}, or truncated: {} bytes", kind, content.size()));
  if (length > static_cast<uint64_t>(kMaxWeightsHeader) || content[8] != '{')
    fail(path, fmt::format("no {}: not a safetensors file", kind));
  if (length > content.size() - 8)
    fail(path, fmt::format("truncated: a header of {} bytes in a file of {}", length, content.size()));
  WeightsHeader header;
  try {
    header = parse_weights_header(content.substr(8, length));
  } catch (const std::runtime_error&) {
    fail(path, "damaged: its header cannot be read");
  }
  int64_t end = 0;
  for (const SavedTensor& t : header.tensors) end = std::max(end, t.end);
  const auto there = static_cast<int64_t>(content.size() - 8 - length);
  if (std::ranges::none_of(header.tensors, [](const SavedTensor& t) { return t.name == kSealName; }))
    fail(path, fmt::format("no {}: a safetensors file without a checksum", kind));
  if (there < end) fail(path, fmt::format("truncated: {} of {} bytes of data", there, end));
  fail(path, "damaged: its content does not have its checksum");
}

}  // namespace

void write_sealed(const std::string& path, const WeightsFile& file) {
  WeightsFile sealed{.name = path, .tensors = file.tensors, .metadata = file.metadata, .data = {}};
  sealed.tensors.push_back({std::string(kSealName), "u8", {kSealBytes}, 0, kSealBytes});
  const std::string head = safetensors_head(sealed);
  std::vector<std::string_view> pieces = {head};
  for (const SavedTensor& t : file.tensors) {
    const std::span<const std::byte> bytes = file.bytes(t);
    pieces.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  Hash hash;
  for (const std::string_view piece : pieces) hash.add(piece);
  const std::string seal = hash.digest();
  pieces.emplace_back(seal);
  replace_file(path, pieces);
}

WeightsFile read_sealed(const std::string& path, const std::string& kind) {
  std::vector<std::byte> content;
  {
    File file(path, O_RDONLY | O_NONBLOCK);
    content.resize(static_cast<size_t>(file.size()));
    file.read(content.data(), std::ssize(content));
  }
  const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
  if (text.size() < kSealBytes) explain(path, text, kind);
  Hash hash;
  hash.add(text.substr(0, text.size() - kSealBytes));
  if (hash.digest() != text.substr(text.size() - kSealBytes)) explain(path, text, kind);
  const auto size = std::ssize(content);
  WeightsFile read = parse_safetensors(path, std::move(content));
  const auto seal =
      std::ranges::find_if(read.tensors, [&](const SavedTensor& t) { return t.name == kSealName && t.end == size; });
  if (seal == read.tensors.end()) fail(path, fmt::format("no {}: its checksum is not the last tensor", kind));
  read.tensors.erase(seal);
  return read;
}

}  // namespace heddle::runtime
