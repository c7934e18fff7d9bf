#include "runtime/weights/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "ir/diagnostic.h"
#include "runtime/files/file.h"
#include "runtime/files/foreign_file.h"
#include "runtime/files/write_file.h"
#include "runtime/weights/read_weights.h"
#include "runtime/weights/safetensors_header.h"

namespace heddle::runtime {
namespace {

[[noreturn]] void fail(const std::string& file, const std::string& message, const std::string& help = {}) {
  throw UserError(ExitCode::failed, fmt::format("{}: {}", file, message), help);
}

[[noreturn]] void fail_foreign(const std::string& file, const std::string& found) {
  if (const auto foreign = foreign_file(file, Wanted::weights))
    fail(file, "not a safetensors file: it is " + foreign->what, foreign->help);
  fail(file, "not a safetensors file: " + found,
       "give a file that 'heddle train --save FILE' wrote, or another framework as safetensors");
}

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

// The header's bytes, as the 8 bytes before it say.
int64_t header_bytes(const std::string& path, std::span<const std::byte> prefix, int64_t size) {
  if (prefix.size() < 8) fail_foreign(path, fmt::format("{} bytes, expected a header length of 8", size));
  uint64_t length = 0;
  for (size_t i = 8; i-- > 0;) length = length << 8 | std::to_integer<uint64_t>(prefix[i]);
  if (length > static_cast<uint64_t>(kMaxWeightsHeader))
    fail_foreign(path, fmt::format("a header of {} bytes", length));
  if (static_cast<int64_t>(length) > size - 8)
    fail(path, fmt::format("truncated: a header of {} bytes in a file of {}", length, size));
  return static_cast<int64_t>(length);
}

WeightsHeader checked_header(const std::string& path, std::string_view text, int64_t data_bytes) {
  WeightsHeader header;
  try {
    header = parse_weights_header(text);
  } catch (const std::runtime_error& error) {
    fail(path, error.what());
  }
  check_tiling(path, header, data_bytes);
  return header;
}

// Reads the header of an open file and checks it; the data come next.
WeightsHeader read_header(File& file, const std::string& path, int64_t& data_bytes) {
  const int64_t size = file.size();
  std::array<std::byte, 8> prefix{};
  const int64_t there = std::min<int64_t>(size, 8);
  if (there == 8) file.read(prefix.data(), there);
  std::string text(static_cast<size_t>(header_bytes(path, std::span(prefix).first(static_cast<size_t>(there)), size)),
                   '\0');
  file.read(text.data(), std::ssize(text));
  data_bytes = size - 8 - std::ssize(text);
  return checked_header(path, text, data_bytes);
}

// Booleans must be 0 or 1. Any other byte would count as true in some places and as a number in others.
void check_truth_values(const WeightsFile& file) {
  for (const SavedTensor& t : file.tensors) {
    if (t.dtype != "bool") continue;
    const std::span<const std::byte> bytes = file.bytes(t);
    const auto other = std::find_if(bytes.begin(), bytes.end(), [](std::byte b) { return b > std::byte{1}; });
    if (other != bytes.end())
      fail(file.name, fmt::format("'{}': element {} is {}, a truth value is 0 or 1", t.name, other - bytes.begin(),
                                  std::to_integer<int>(*other)));
  }
}

}  // namespace

const SavedTensor* WeightsFile::find(const std::string& tensor) const {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const SavedTensor& t) { return t.name == tensor; });
  return found == tensors.end() ? nullptr : &*found;
}

std::span<const std::byte> WeightsFile::bytes(const SavedTensor& t) const {
  return data.view().subspan(static_cast<size_t>(t.begin), static_cast<size_t>(t.end - t.begin));
}

std::span<std::byte> WeightsFile::add(const std::string& tensor, const std::string& dtype,
                                      const std::vector<int64_t>& dims, int64_t bytes) {
  const auto begin = static_cast<int64_t>(data.size());
  tensors.push_back({tensor, dtype, dims, begin, begin + bytes});
  std::vector<std::byte>& all = data.own();
  all.resize(static_cast<size_t>(begin + bytes));
  return std::span(all).subspan(static_cast<size_t>(begin));
}

std::string type_text(const std::string& dtype, const std::vector<int64_t>& dims) {
  return fmt::format("{}[{}]", dtype, fmt::join(dims, ","));
}

namespace {
constexpr const char* kBuffers = "buffers";  // names with commas between them, in the metadata
}

std::vector<std::string> buffer_names(const WeightsFile& file) {
  std::vector<std::string> names;
  const auto list = file.metadata.find(kBuffers);
  std::istringstream text(list == file.metadata.end() ? "" : list->second);
  for (std::string name; std::getline(text, name, ',');) names.push_back(name);
  return names;
}

void set_buffer_names(WeightsFile& file, const std::vector<std::string>& names) {
  if (!names.empty()) file.metadata[kBuffers] = fmt::format("{}", fmt::join(names, ","));
}

void require_no_pipe(const std::string& path) {
  if (path == "-")
    throw UserError(ExitCode::usage, "-: weights and checkpoints are files, never standard input or output",
                    "give the name of a file; a file that is called so is ./-");
}

WeightsFile read_safetensors(const std::string& path) {
  require_no_pipe(path);
  File file(path, O_RDONLY | O_NONBLOCK);
  int64_t data_bytes = 0;
  WeightsHeader header = read_header(file, path, data_bytes);
  WeightsFile weights{
      .name = path, .tensors = std::move(header.tensors), .metadata = std::move(header.metadata), .data = {}};
  std::vector<std::byte>& all = weights.data.own();
  all.resize(static_cast<size_t>(data_bytes));
  file.read(all.data(), data_bytes);
  check_truth_values(weights);
  return weights;
}

WeightsFile parse_safetensors(const std::string& path, std::vector<std::byte> content) {
  const std::span<const std::byte> all = content;
  const int64_t length = header_bytes(path, all.first(std::min<size_t>(all.size(), 8)), std::ssize(all));
  const std::string_view text(reinterpret_cast<const char*>(all.data()) + 8, static_cast<size_t>(length));
  WeightsHeader header = checked_header(path, text, std::ssize(all) - 8 - length);
  for (SavedTensor& t : header.tensors) t.begin += 8 + length, t.end += 8 + length;
  WeightsFile weights{.name = path,
                      .tensors = std::move(header.tensors),
                      .metadata = std::move(header.metadata),
                      .data = SharedBytes(std::move(content))};
  check_truth_values(weights);
  return weights;
}

void require_weights_path(const std::string& path) {
  require_no_pipe(path);
  require_replaceable(path);
  std::error_code ec;
  if (!std::filesystem::exists(path, ec) || std::filesystem::file_size(path, ec) == 0) return;
  try {
    File file(path, O_RDONLY | O_NONBLOCK);
    int64_t data_bytes = 0;
    const auto metadata = read_header(file, path, data_bytes).metadata;
    if (metadata.contains(kPackageMark)) throw UserError(ExitCode::failed, fmt::format("{}: a package", path));
    if (metadata.contains(kCheckpointMark))
      throw UserError(ExitCode::failed, fmt::format("{}: a checkpoint, from which --resume continues", path));
  } catch (const UserError& error) {
    throw UserError(
        ExitCode::failed,
        fmt::format("weights are not saved over another kind of file: {}", error.diagnostics().front().message),
        "name another file, or remove this one first");
  }
}

std::string safetensors_head(const WeightsFile& weights) {
  WeightsHeader header{.tensors = {}, .metadata = weights.metadata};
  int64_t at = 0;
  for (SavedTensor t : weights.tensors) {
    const int64_t bytes = t.end - t.begin;
    t.begin = at, t.end = at += bytes;
    header.tensors.push_back(std::move(t));
  }
  std::string text = print_weights_header(header);
  text.append((8 - text.size() % 8) % 8, ' ');  // the data starts at a multiple of 8
  std::string prefix(8, '\0');
  for (size_t i = 0; i < 8; ++i) prefix[i] = static_cast<char>(static_cast<uint64_t>(text.size()) >> (8 * i) & 0xff);
  return prefix + text;
}

void write_safetensors(const std::string& path, const WeightsFile& weights) {
  const std::string head = safetensors_head(weights);
  std::vector<std::string_view> pieces = {head};
  for (const SavedTensor& t : weights.tensors) {
    const std::span<const std::byte> bytes = weights.bytes(t);
    pieces.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  replace_file(path, pieces);
}

}  // namespace heddle::runtime
