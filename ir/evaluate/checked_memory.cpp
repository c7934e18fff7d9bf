#include "ir/evaluate/checked_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ir/check.h"

namespace heddle::ir {
namespace {

constexpr int64_t kPoison = 0x5B5B5B5B5B5B5B5B;

size_t bytes_of(DType dtype) { return static_cast<size_t>(bits(dtype) / 8); }

}  // namespace

CheckedMemory::CheckedMemory(int64_t bytes)
    : owner_(static_cast<size_t>(bytes), -1), elements_(static_cast<size_t>(bytes)) {}

void CheckedMemory::poison(int64_t begin, int64_t end) {
  HEDDLE_CHECK(begin >= 0 && begin <= end && static_cast<size_t>(end) <= owner_.size(),
               fmt::format("bytes {} to {} are outside a segment of {}", begin, end, owner_.size()));
  std::fill(owner_.begin() + begin, owner_.begin() + end, -1);
}

void CheckedMemory::write(int64_t at, const Tensor& from, int64_t first, int64_t count) {
  const size_t size = bytes_of(from.type.dtype);
  poison(at, at + count * static_cast<int64_t>(size));  // also checks the range
  for (int64_t i = 0; i < count; ++i) {
    const auto begin = static_cast<size_t>(at) + static_cast<size_t>(i) * size;
    const auto source = static_cast<size_t>(first + i);
    elements_[begin] = {from.floating() ? from.real[source] : 0, from.floating() ? 0 : from.integer[source],
                        from.type.dtype};
    for (size_t b = begin; b < begin + size; ++b) owner_[b] = static_cast<int64_t>(begin);
  }
}

bool CheckedMemory::intact(size_t at, size_t size, DType dtype) const {
  for (size_t b = at; b < at + size; ++b)
    if (owner_[b] != static_cast<int64_t>(at)) return false;
  return elements_[at].dtype == dtype;
}

Tensor CheckedMemory::read(int64_t at, const Type& type) const {
  HEDDLE_CHECK(at >= 0 && static_cast<size_t>(at + type.bytes()) <= owner_.size(),
               fmt::format("{} at {} is outside a segment of {} bytes", to_string(type), at, owner_.size()));
  Tensor result(type);
  const size_t size = bytes_of(type.dtype);
  for (size_t i = 0; i < static_cast<size_t>(type.elements()); ++i) {
    const size_t begin = static_cast<size_t>(at) + i * size;
    const bool ok = intact(begin, size, type.dtype);
    if (result.floating()) {
      result.real[i] = ok ? elements_[begin].real : std::numeric_limits<double>::quiet_NaN();
    } else {
      result.integer[i] = ok ? elements_[begin].integer : wrap_to(type.dtype, kPoison);
    }
  }
  return result;
}

}  // namespace heddle::ir
