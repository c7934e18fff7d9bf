// A compressed array that takes more than the memory that rows may have lies in a temporary file,
// with the same elements.
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/data/table.h"
#include "runtime/files/temporary.h"

namespace heddle::runtime::data {
namespace {

constexpr int kRows = 5000;

void put(std::string& out, uint64_t value, int width) {
  for (int i = 0; i < width; ++i) out += static_cast<char>(value >> 8 * i);
}

std::string deflated(const std::string& content) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(content.size() + 1000, '\0');
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(content.data()));  // NOLINT: zlib reads it
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data()), stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// An npy file of the numbers 0, 1, ... of 4 bytes, whose header promises so many.
std::string array(const char* type, int rows = kRows, int promised = kRows) {
  std::string header =
      std::string("{'descr': '") + type + "', 'fortran_order': False, 'shape': (" + std::to_string(promised) + ",), }";
  header.resize(117, ' ');
  std::string out = "\x93NUMPY\x01";
  put(out, 0, 1), put(out, 118, 2);
  out += header + '\n';
  for (int i = 0; i < rows; ++i) {
    std::string number;
    put(number, static_cast<uint64_t>(i), 4);
    out += type[0] == '<' ? number : std::string(number.rbegin(), number.rend());
  }
  return out;
}

// An archive of one deflated member x.npy, whose directory says that it holds `size` bytes.
std::string archive(const std::string& content, uint64_t size) {
  const std::string stored = deflated(content), name = "x.npy";
  const uint64_t crc = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
  std::string common, out, directory;
  put(common, 20, 2), put(common, 0, 2), put(common, 8, 2), put(common, 0, 4), put(common, crc, 4);
  put(common, stored.size(), 4), put(common, size, 4), put(common, name.size(), 2), put(common, 0, 2);
  put(out, 0x04034b50, 4);
  out += common + name + stored;
  put(directory, 0x02014b50, 4), put(directory, 20, 2);
  directory += common;
  put(directory, 0, 2), put(directory, 0, 2), put(directory, 0, 2), put(directory, 0, 4), put(directory, 0, 4);
  directory += name;
  const uint64_t begin = out.size();
  out += directory;
  put(out, 0x06054b50, 4), put(out, 0, 4), put(out, 1, 2), put(out, 1, 2), put(out, directory.size(), 4);
  put(out, begin, 4), put(out, 0, 2);
  return out;
}

class Npz : public testing::Test {
 protected:
  Table read(const std::string& content, int64_t resident) {
    std::ofstream(folder_.path() + "/a.npz", std::ios::binary) << content;
    return read_table({.op = "npz",
                       .columns = {{.input = "x", .sources = {{"x"}}, .dtype = "f32", .dims = {}, .where = {}}},
                       .settings = {{"file", std::vector<std::string>{"a.npz"}, {}}},
                       .where = {},
                       .resident = resident},
                      folder_.path());
  }
  TemporaryFolder folder_;
};

TEST_F(Npz, LargeCompressedArraysLieInAFile) {
  for (const char* type : {"<i4", ">i4"})
    for (const int64_t resident : {int64_t{1} << 30, int64_t{1000}}) {
      const std::string content = array(type);
      const Table table = read(archive(content, content.size()), resident);
      ASSERT_EQ(table.rows, kRows);
      const Column& column = table.columns.at(0);
      EXPECT_EQ(column.mapping.empty(), resident > 1000) << type;
      ASSERT_EQ(column.content().size(), kRows * sizeof(int32_t));
      for (int32_t i = 0; i < kRows; ++i) {
        int32_t value = 0;
        std::memcpy(&value, column.content().data() + static_cast<size_t>(i) * sizeof value, sizeof value);
        ASSERT_EQ(value, i) << type << " " << resident;
      }
    }
}

TEST_F(Npz, AnImpossibleSizeTakesNoRoom) {
  try {
    constexpr int kHeld = 300'000, kPromised = 1'000'000'000;
    read(archive(array("<i4", kHeld, kPromised), 128 + uint64_t{4} * kPromised), 1000);
    FAIL() << "read";
  } catch (const UserError& error) {
    EXPECT_EQ(error.diagnostics().at(0).message, "a.npz: the archive is damaged: 'x.npy' has an impossible size");
  }
}

}  // namespace
}  // namespace heddle::runtime::data
