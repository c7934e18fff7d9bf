#include "runtime/data/idx.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace heddle::runtime::data {
namespace {

std::optional<ElementType> type_of_code(unsigned code) {
  switch (code) {
    case 0x08: return ElementType::u8;
    case 0x09: return ElementType::i8;
    case 0x0B: return ElementType::i16;
    case 0x0C: return ElementType::i32;
    case 0x0D: return ElementType::f32;
    case 0x0E: return ElementType::f64;
    default: return std::nullopt;
  }
}

IdxArray read_header(InputFile& in) {
  std::array<std::byte, 4> magic{};
  const size_t got = in.read(magic.data(), magic.size());
  if (got < magic.size()) in.fail(fmt::format("not an idx file: {} bytes, expected a header of at least 4", got));
  const auto byte = [&](size_t i) { return std::to_integer<unsigned>(magic[i]); };
  if (byte(0) != 0 || byte(1) != 0)
    in.fail(fmt::format("not an idx file: expected two zero bytes first, got {:02x} {:02x}", byte(0), byte(1)));
  const std::optional<ElementType> type = type_of_code(byte(2));
  if (!type) in.fail(fmt::format("unknown idx element type 0x{:02x}, expected 08, 09, 0b, 0c, 0d or 0e", byte(2)));
  const unsigned rank = byte(3);
  if (rank < 1 || rank > kMaxIdxRank) in.fail(fmt::format("idx rank {} is not in 1 ... {}", rank, kMaxIdxRank));

  IdxArray array{.type = *type, .dims = {}, .bytes = {}};
  for (unsigned d = 0; d < rank; ++d) {
    std::array<std::byte, 4> size{};
    if (in.read(size.data(), size.size()) < size.size()) in.fail("truncated: the header ends early");
    int64_t value = 0;
    for (std::byte b : size) value = value * 256 + std::to_integer<int64_t>(b);
    array.dims.push_back(value);
  }
  return array;
}

int64_t checked_bytes(const IdxArray& array, Rows rows, const InputFile& in) {
  int64_t bytes = size_of(array.type);
  if (array.dims[0] == 0 && rows == Rows::some) in.fail("no rows", kNoRowsHelp);
  if (std::count(array.dims.begin() + 1, array.dims.end(), 0) > 0)
    in.fail("a dimension of its rows is 0", "a row has one element or more");
  for (int64_t d : array.dims)
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(d, 1), &bytes) || bytes > kMaxIdxBytes)
      in.fail(fmt::format("the header promises more than {} GiB", kMaxIdxBytes >> 30));
  return bytes;
}

void to_machine_order(IdxArray& array) {
  const size_t width = static_cast<size_t>(size_of(array.type));
  if (width == 1) return;
  for (size_t i = 0; i < array.bytes.size(); i += width)
    std::reverse(array.bytes.begin() + static_cast<ptrdiff_t>(i),
                 array.bytes.begin() + static_cast<ptrdiff_t>(i + width));
}

}  // namespace

IdxArray read_idx_header(const std::filesystem::path& file, const std::string& name, const Location& where, Rows rows) {
  InputFile in(file, name, where);
  IdxArray array = read_header(in);
  checked_bytes(array, rows, in);
  return array;
}

IdxArray read_idx(const std::filesystem::path& file, const std::string& name, const Location& where) {
  InputFile in(file, name, where);
  IdxArray array = read_header(in);
  const auto expected = static_cast<size_t>(checked_bytes(array, Rows::some, in));

  // Memory grows with the bytes that the file really has, so a wrong header cannot make it allocate much.
  constexpr size_t kChunk = size_t{1} << 26;
  size_t have = 0;
  while (have < expected) {
    const size_t step = std::min(kChunk, expected - have);
    if (array.bytes.size() < have + step) {
      if (array.bytes.capacity() < have + step)
        array.bytes.reserve(std::min(expected, std::max(have + step, 2 * have)));
      array.bytes.resize(have + step);
    }
    const size_t got = in.read(array.bytes.data() + have, step);
    have += got;
    if (got < step) in.fail(fmt::format("truncated: expected {} bytes of elements, got {}", expected, have));
  }
  std::byte extra{};
  if (in.read(&extra, 1) != 0)
    in.fail(fmt::format("longer than its header says: {} bytes of elements expected", expected));
  to_machine_order(array);
  return array;
}

}  // namespace heddle::runtime::data
