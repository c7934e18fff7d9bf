#include "runtime/train/finite.h"

#include <cmath>
#include <cstring>
#include <vector>

namespace heddle::runtime {
namespace {

// Index of the first element whose exponent has all bits set, which is nan or an infinity; -1 where there is none.
template <class Word>
int64_t first_special(const std::byte* bytes, int64_t elements, Word exponent) {
  for (int64_t i = 0; i < elements; ++i) {
    Word word;
    std::memcpy(&word, bytes + i * static_cast<int64_t>(sizeof word), sizeof word);
    if ((word & exponent) == exponent) return i;
  }
  return -1;
}

// What the element is, from the bits below its exponent and from its sign.
template <class Word>
double special_value(const std::byte* element, Word exponent) {
  Word word;
  std::memcpy(&word, element, sizeof word);
  const auto fraction = static_cast<Word>((exponent & (~exponent + 1)) - 1);  // the bits below the lowest of it
  if ((word & fraction) != 0) return std::nan("");
  return (word & ~exponent) != 0 ? -HUGE_VAL : HUGE_VAL;
}

template <class Word>
std::optional<NotFinite> find(const codegen::Buffer& buffer, const std::byte* bytes, Word exponent) {
  const int64_t elements = buffer.bytes / static_cast<int64_t>(sizeof(Word));
  const int64_t at = first_special(bytes, elements, exponent);
  if (at < 0) return {};
  return NotFinite{buffer.name, special_value(bytes + at * static_cast<int64_t>(sizeof(Word)), exponent)};
}

std::optional<NotFinite> find(Executable& executable, const codegen::Buffer& buffer) {
  std::vector<std::byte> staged;
  const auto* bytes = static_cast<const std::byte*>(executable.host_address(buffer));
  if (bytes == nullptr) {
    staged.resize(static_cast<size_t>(buffer.bytes));
    executable.read(buffer, staged.data());
    bytes = staged.data();
  }
  if (buffer.dtype == "f64") return find<uint64_t>(buffer, bytes, 0x7ff0000000000000U);
  if (buffer.dtype == "f32") return find<uint32_t>(buffer, bytes, 0x7f800000U);
  if (buffer.dtype == "f16") return find<uint16_t>(buffer, bytes, 0x7c00U);
  if (buffer.dtype == "bf16") return find<uint16_t>(buffer, bytes, 0x7f80U);
  return {};
}

}  // namespace

std::optional<NotFinite> parameter_not_finite(Executable& executable) {
  for (const codegen::Buffer& b : executable.program().states)
    if (codegen::is_saved(b))
      if (auto found = find(executable, b)) return found;
  return {};
}

}  // namespace heddle::runtime
