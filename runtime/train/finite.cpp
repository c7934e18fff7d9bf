#include "runtime/train/finite.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace heddle::runtime {
namespace {

template <class Word>
Word word_at(const std::byte* bytes, int64_t i) {
  Word word;
  std::memcpy(&word, bytes + i * static_cast<int64_t>(sizeof word), sizeof word);
  return word;
}

// Index of the first element whose exponent has all bits set, which is nan or an infinity; -1 where there is none. Blocks
// are asked as a whole, by a loop without an exit, which compilers vectorise.
template <class Word>
int64_t first_special(const std::byte* bytes, int64_t elements, Word exponent) {
  constexpr int64_t kBlock = 1024;
  for (int64_t begin = 0; begin < elements; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, elements);
    Word any = 0;
    for (int64_t i = begin; i < end; ++i)
      any = static_cast<Word>(any | static_cast<Word>((word_at<Word>(bytes, i) & exponent) == exponent));
    for (int64_t i = begin; any != 0 && i < end; ++i)
      if ((word_at<Word>(bytes, i) & exponent) == exponent) return i;
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

std::optional<NotFinite> find(const codegen::Buffer& buffer, const std::byte* bytes) {
  if (buffer.dtype == "f64") return find<uint64_t>(buffer, bytes, 0x7ff0000000000000U);
  if (buffer.dtype == "f32") return find<uint32_t>(buffer, bytes, 0x7f800000U);
  if (buffer.dtype == "f16") return find<uint16_t>(buffer, bytes, 0x7c00U);
  if (buffer.dtype == "bf16") return find<uint16_t>(buffer, bytes, 0x7f80U);
  return {};
}

std::optional<NotFinite> find(Executable& executable, const codegen::Buffer& buffer) {
  std::vector<std::byte> staged;
  const auto* bytes = static_cast<const std::byte*>(executable.host_address(buffer));
  if (bytes == nullptr) {
    staged.resize(static_cast<size_t>(buffer.bytes));
    executable.read(buffer, staged.data());
    bytes = staged.data();
  }
  return find(buffer, bytes);
}

}  // namespace

std::optional<NotFinite> parameter_not_finite(const codegen::Program& program, std::span<const std::byte> states) {
  for (const codegen::Buffer& b : program.states)
    if (codegen::is_saved(b))
      if (auto found = find(b, states.data() + b.at.offset)) return found;
  return {};
}

std::optional<NotFinite> parameter_not_finite(Executable& executable) {
  for (const codegen::Buffer& b : executable.program().states)
    if (codegen::is_saved(b))
      if (auto found = find(executable, b)) return found;
  return {};
}

}  // namespace heddle::runtime
