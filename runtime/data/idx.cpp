#include "runtime/data/idx.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

namespace heddle::runtime::data {
namespace {

// A plain or compressed file being read, and how to complain about it.
class Input {
 public:
  Input(const std::filesystem::path& file, std::string name, const Location& where)
      : name_(std::move(name)), where_(where), file_(gzopen(file.c_str(), "rb")) {
    if (!file_) fail("cannot be opened");
    gzbuffer(file_.get(), 1 << 18);
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw UserError(where_, fmt::format("{}: {}", name_, message));
  }

  // Reads up to `size` bytes; fewer only at the end of the file.
  size_t read(std::byte* to, size_t size) {
    size_t done = 0;
    while (done < size) {
      const unsigned step = static_cast<unsigned>(std::min<size_t>(size - done, 1 << 26));
      const int got = gzread(file_.get(), to + done, step);
      int code = Z_OK;
      const char* text = gzerror(file_.get(), &code);
      if (code == Z_BUF_ERROR) fail("compressed data ends early");
      if (got < 0) fail(fmt::format("compressed data is damaged ({})", text));
      if (got == 0) break;
      done += static_cast<size_t>(got);
    }
    return done;
  }

 private:
  struct Close {
    void operator()(gzFile f) const { gzclose(f); }
  };
  std::string name_;
  Location where_;
  std::unique_ptr<gzFile_s, Close> file_;
};

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

IdxArray read_header(Input& in) {
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

int64_t checked_bytes(const IdxArray& array, const Input& in) {
  int64_t bytes = size_of(array.type);
  for (int64_t d : array.dims) {
    if (d == 0) in.fail("a dimension is 0");
    if (__builtin_mul_overflow(bytes, d, &bytes) || bytes > kMaxIdxBytes)
      in.fail(fmt::format("the header promises more than {} GiB", kMaxIdxBytes >> 30));
  }
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

IdxArray read_idx_header(const std::filesystem::path& file, const std::string& name, const Location& where) {
  Input in(file, name, where);
  IdxArray array = read_header(in);
  checked_bytes(array, in);
  return array;
}

IdxArray read_idx(const std::filesystem::path& file, const std::string& name, const Location& where) {
  Input in(file, name, where);
  IdxArray array = read_header(in);
  const auto expected = static_cast<size_t>(checked_bytes(array, in));

  // Memory grows with what the file really holds: a lying header costs nothing.
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
