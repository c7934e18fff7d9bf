#include "runtime/weights/file_order.h"

#include <cstring>
#include <vector>

#include "ir/check.h"
#include "runtime/weights/safetensors_header.h"

namespace heddle::runtime {
namespace {

using Sizes = std::vector<int64_t>;

// Turns a tensor of shape `dims`: axis k of the result is axis perm[k].
void transpose(std::span<std::byte> bytes, int64_t element, const Sizes& dims, const Sizes& perm) {
  const size_t rank = dims.size();
  Sizes strides(rank, element), extents, steps;  // in bytes of the operand
  for (size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  for (const int64_t axis : perm) {
    extents.push_back(dims[static_cast<size_t>(axis)]);
    steps.push_back(strides[static_cast<size_t>(axis)]);
  }
  const std::vector<std::byte> from(bytes.begin(), bytes.end());
  Sizes index(rank, 0);
  int64_t at = 0;
  for (size_t written = 0; written < bytes.size(); written += static_cast<size_t>(element)) {
    std::memcpy(bytes.data() + written, from.data() + at, static_cast<size_t>(element));
    for (size_t d = rank; d-- > 0;) {
      at += steps[d];
      if (++index[d] < extents[d]) break;
      at -= steps[d] * extents[d];
      index[d] = 0;
    }
  }
}

void require_whole(const codegen::Buffer& b, std::span<const std::byte> bytes) {
  HEDDLE_CHECK(std::ssize(bytes) == b.bytes, "the bytes of '" + b.name + "' are not all there");
}

}  // namespace

void to_file_order(const codegen::Buffer& b, std::span<std::byte> bytes) {
  require_whole(b, bytes);
  if (b.layout.empty()) return;
  Sizes dims, back(b.layout.size());
  for (size_t k = 0; k < b.layout.size(); ++k) {
    dims.push_back(b.dims[static_cast<size_t>(b.layout[k])]);
    back[static_cast<size_t>(b.layout[k])] = static_cast<int64_t>(k);
  }
  transpose(bytes, bytes_per_element(b.dtype), dims, back);
}

void to_memory_order(const codegen::Buffer& b, std::span<std::byte> bytes) {
  require_whole(b, bytes);
  if (!b.layout.empty()) transpose(bytes, bytes_per_element(b.dtype), b.dims, b.layout);
}

}  // namespace heddle::runtime
