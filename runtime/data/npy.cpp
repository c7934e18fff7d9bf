#include "runtime/data/npy.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "runtime/data/printable.h"
#include "runtime/data/python_literal.h"
#include "runtime/files/file.h"

namespace heddle::runtime::data {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 46;  // far beyond any disk, and no product of it overflows

struct Complaint {
  const std::string& name;
  const Location& where;
  [[noreturn]] void operator()(const std::string& message, const std::string& help = {}) const {
    throw UserError(where, fmt::format("{}: {}", name, message), help);
  }
};

// "<f4" -> kind f, width 4; what else NumPy has is refused.
void read_type(const std::string& descr, NpyHeader& header, const Complaint& fail) {
  const std::string known = "numbers and bool are read: b1, i1 to i8, u1 to u8, f2, f4, f8";
  const std::string order = descr.substr(0, descr.find_first_not_of("<>|="));
  const std::string type = descr.substr(order.size());
  const bool number = type.size() == 2 && std::string("fiub").find(type[0]) != std::string::npos;
  const int64_t width = number ? type[1] - '0' : 0;
  const bool power = width == 1 || width == 2 || width == 4 || width == 8;
  if (order.size() != 1 || !number || !power || (type[0] == 'b' && width != 1) || (type[0] == 'f' && width == 1))
    fail(fmt::format("elements are '{}'", printable(descr)), known + "; numpy's astype converts");
  header.kind = type[0], header.width = width;
  header.big_endian = order == ">" && width > 1;
}

void read_shape(const PythonValue& shape, Rows rows, NpyHeader& header, const Complaint& fail) {
  if (shape.kind != PythonValue::Kind::tuple) fail("the header's 'shape' is no tuple");
  for (const PythonValue& size : shape.items) {
    if (size.kind != PythonValue::Kind::integer) fail("the header's 'shape' holds something else than integers");
    header.dims.push_back(size.integer);
  }
  if (header.dims.empty()) fail("the array is a single number, its first axis should count the rows");
  if (header.dims.size() > 8) fail(fmt::format("the array has {} axes, at most 8 are read", header.dims.size()));
  int64_t bytes = header.width;
  for (const int64_t d : header.dims)
    if (d < 0) fail(fmt::format("a dimension is {}", d));
  if (header.dims[0] == 0 && rows == Rows::some) fail("no rows", kNoRowsHelp);
  if (std::count(header.dims.begin() + 1, header.dims.end(), 0) > 0)
    fail("a dimension of its rows is 0", "a row has one element or more");
  for (const int64_t d : header.dims)
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(d, 1), &bytes) || bytes > kMostBytes)
      fail(fmt::format("the header promises more than {} TiB", kMostBytes >> 40));
}

void read_dictionary(std::string_view text, Rows rows, NpyHeader& header, const Complaint& fail) {
  const std::optional<PythonValue> dictionary = parse_python(text);
  if (!dictionary || dictionary->kind != PythonValue::Kind::dictionary)
    fail("the header is no dictionary of descr, fortran_order and shape");
  const PythonValue* descr = dictionary->find("descr");
  const PythonValue* fortran = dictionary->find("fortran_order");
  const PythonValue* shape = dictionary->find("shape");
  if (descr == nullptr || fortran == nullptr || shape == nullptr || dictionary->items.size() != 3)
    fail("the header has other keys than descr, fortran_order and shape");
  if (descr->kind == PythonValue::Kind::list)
    fail("the array's rows are records", "save each field as an array of its own");
  if (descr->kind != PythonValue::Kind::text) fail("the header's 'descr' is no string");
  if (fortran->kind != PythonValue::Kind::flag) fail("the header's 'fortran_order' is neither True nor False");
  read_type(descr->text, header, fail);
  read_shape(*shape, rows, header, fail);
  if (fortran->integer != 0 && header.dims.size() > 1)
    fail("the array lies in Fortran order, column by column", "save numpy.ascontiguousarray(array)");
}

float half_to_float(uint16_t half) {
  const uint32_t sign = uint32_t{half} >> 15 << 31, exponent = half >> 10 & 31, fraction = half & 1023;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float value = static_cast<float>(fraction) * 0x1p-24F;
  return sign == 0 ? value : -value;
}

// Element i of the file, in the machine's byte order.
template <class From>
From element(std::span<const std::byte> from, size_t i, bool turned) {
  std::byte bytes[sizeof(From)];
  std::memcpy(bytes, from.data() + i * sizeof(From), sizeof(From));
  if (turned) std::reverse(std::begin(bytes), std::end(bytes));
  From value;
  std::memcpy(&value, bytes, sizeof(From));
  return value;
}

template <class From, class To, class Convert>
void convert_into(std::byte* to, const NpyHeader& header, std::span<const std::byte> from, const Convert& convert) {
  const size_t n = from.size() / sizeof(From);
  for (size_t i = 0; i < n; ++i) {
    const To value = convert(element<From>(from, i, header.big_endian), i);
    std::memcpy(to + i * sizeof(To), &value, sizeof(To));
  }
}

}  // namespace

ElementType NpyHeader::stored() const {
  if (kind == 'b') return ElementType::u8;
  if (kind == 'f') return width == 8 ? ElementType::f64 : ElementType::f32;
  if (kind == 'u') return width == 1 ? ElementType::u8 : width == 2 ? ElementType::i32 : ElementType::i64;
  return width == 1   ? ElementType::i8
         : width == 2 ? ElementType::i16
         : width == 4 ? ElementType::i32
                      : ElementType::i64;
}

int64_t NpyHeader::bytes() const {
  int64_t n = width;
  for (const int64_t d : dims) n *= d;
  return n;
}

bool NpyHeader::as_it_lies() const {
  if (big_endian || kind == 'b') return false;  // a byte of bool may be neither 0 nor 1
  return kind == 'i' || (kind == 'u' && width == 1) || (kind == 'f' && width != 2);
}

NpyHeader parse_npy(std::string_view start, int64_t size, const std::string& name, const Location& where, Rows rows) {
  const Complaint fail{name, where};
  if (start.starts_with("\x1f\x8b"))
    fail("compressed by gzip, as which npy files are not read",
         "unpack it (gunzip), or keep the array in an npz file: numpy.savez_compressed");
  if (start.substr(0, 6) != "\x93NUMPY") fail("not an npy file: it does not begin with \\x93NUMPY");
  if (named_gzip(name)) fail(kNoGzip, kNoGzipHelp);
  if (start.size() < 12) fail("truncated: the header ends early");
  const auto byte = [&](size_t i) { return static_cast<int64_t>(static_cast<unsigned char>(start[i])); };
  if (byte(6) < 1 || byte(6) > 3) fail(fmt::format("version {}.{} of the format, expected 1 to 3", byte(6), byte(7)));
  NpyHeader header;
  const size_t prefix = byte(6) == 1 ? 10 : 12;
  const int64_t length =
      byte(6) == 1 ? byte(8) + (byte(9) << 8) : byte(8) + (byte(9) << 8) + (byte(10) << 16) + (byte(11) << 24);
  if (length > kMaxNpyHeader - 12)
    fail(fmt::format("a header of {} bytes, at most {} are read", length, kMaxNpyHeader));
  header.begin = static_cast<int64_t>(prefix) + length;
  if (std::ssize(start) < header.begin) fail("truncated: the header ends early");
  read_dictionary(start.substr(prefix, static_cast<size_t>(length)), rows, header, fail);
  const int64_t have = size - header.begin;
  if (have < header.bytes())
    fail(fmt::format("truncated: expected {} bytes of elements, got {}", header.bytes(), have));
  if (have > header.bytes())
    fail(fmt::format("longer than its header says: {} bytes of elements expected, got {}", header.bytes(), have));
  return header;
}

void npy_elements(const NpyHeader& header, std::span<const std::byte> from, const std::string& name,
                  const Location& where, int64_t resident, Column& column) {
  std::byte* to = make_room(column, header.dims[0], resident);
  const Complaint fail{name, where};
  const auto same = [](auto value, size_t) { return value; };
  if (header.as_it_lies()) {
    std::memcpy(to, from.data(), from.size());
    return;
  }
  if (header.kind == 'b')
    return convert_into<uint8_t, uint8_t>(to, header, from,
                                          [](uint8_t v, size_t) { return static_cast<uint8_t>(v != 0); });
  if (header.kind == 'f' && header.width == 2)
    return convert_into<uint16_t, float>(to, header, from, [](uint16_t v, size_t) { return half_to_float(v); });
  if (header.kind == 'u' && header.width == 2) return convert_into<uint16_t, int32_t>(to, header, from, same);
  if (header.kind == 'u' && header.width == 4) return convert_into<uint32_t, int64_t>(to, header, from, same);
  if (header.kind == 'u')
    return convert_into<uint64_t, int64_t>(to, header, from, [&](uint64_t v, size_t i) {
      if (v > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
        fail(fmt::format("row {} holds {}, numbers up to 2^63 - 1 are read",
                         static_cast<int64_t>(i) / (header.bytes() / header.width / header.dims[0]), v));
      return static_cast<int64_t>(v);
    });
  switch (header.width) {
    case 2: return convert_into<uint16_t, uint16_t>(to, header, from, same);
    case 4: return convert_into<uint32_t, uint32_t>(to, header, from, same);
    default: return convert_into<uint64_t, uint64_t>(to, header, from, same);
  }
}

NpyHeader read_npy_header(const std::filesystem::path& file, const std::string& name, const Location& where,
                          Rows rows) {
  File in(file, O_RDONLY | O_NONBLOCK, 0, name);
  const int64_t size = in.size();
  std::string start(static_cast<size_t>(std::min(size, kMaxNpyHeader)), '\0');
  in.read(start.data(), std::ssize(start));
  return parse_npy(start, size, name, where, rows);
}

Column read_npy(const std::filesystem::path& file, const std::string& name, const Location& where, int64_t resident) {
  const NpyHeader header = read_npy_header(file, name, where);
  Column column{.input = {}, .type = header.stored(), .dims = {header.dims.begin() + 1, header.dims.end()}};
  Mapping elements(file, name, where, header.begin, header.bytes());
  if (header.as_it_lies() && header.begin % kAlignment == 0) {
    column.mapping = std::move(elements);
  } else {
    npy_elements(header, elements.bytes(), name, where, resident, column);
  }
  return column;
}

}  // namespace heddle::runtime::data
