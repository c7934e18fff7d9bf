// NumPy's files where the command line cannot look: halves, mapped columns and what is split off them.
#include "runtime/data/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace heddle::runtime::data {
namespace {

namespace fs = std::filesystem;

class Npy : public testing::Test {
 protected:
  Npy() : file_(fs::temp_directory_path() / ("heddle-npy-" + std::to_string(::getpid()))) {}
  ~Npy() override { fs::remove(file_); }

  template <class T>
  Column read(const std::string& descr, const std::string& shape, const std::vector<T>& values) {
    std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
    header.resize(117, ' ');
    header += '\n';
    std::ofstream out(file_, std::ios::binary);
    out.write("\x93NUMPY\x01\0\x76\0", 10);
    out << header;
    out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
    out.close();
    return read_npy(file_, "x.npy", {});
  }

  fs::path file_;
};

template <class T>
std::vector<T> values_of(const Column& column) {
  std::vector<T> out(column.content().size() / sizeof(T));
  std::memcpy(out.data(), column.content().data(), column.content().size());
  return out;
}

// IEEE 754's halves: 10 bits of fraction, exponents from -14 to 15, numbers below as multiples of 2^-24.
TEST_F(Npy, WidensHalves) {
  const Column c = read<uint16_t>("<f2", "(9,)", {0, 0x8000, 1, 0x83ff, 0x0400, 0x3c01, 0xc000, 0x7bff, 0xfc00});
  EXPECT_EQ(c.type, ElementType::f32);
  const std::vector<float> v = values_of<float>(c);
  EXPECT_EQ(v,
            (std::vector<float>{0, -0.0F, 0x1p-24F, -1023 * 0x1p-24F, 0x1p-14F, 1 + 0x1p-10F, -2, 65504, -INFINITY}));
  EXPECT_TRUE(std::signbit(v[1]));
  EXPECT_TRUE(std::isnan(values_of<float>(read<uint16_t>("<f2", "(1,)", {0x7e00})).at(0)));
}

TEST_F(Npy, BoolsAreZeroOrOne) {
  EXPECT_EQ(values_of<uint8_t>(read<uint8_t>("|b1", "(4,)", {0, 1, 2, 255})), (std::vector<uint8_t>{0, 1, 1, 1}));
}

// What the machine has anyway is used where it lies, and outlives the file's name and the column that was split.
TEST_F(Npy, MapsWhatItNeedNotConvert) {
  Table table{.rows = 3, .columns = {}};
  table.columns.push_back(read<float>("<f4", "(3, 2)", {1, 2, 3, 4, 5, 6}));
  EXPECT_FALSE(table.columns[0].mapping.empty());
  EXPECT_TRUE(table.columns[0].bytes.empty());
  fs::remove(file_);
  const Column copy = table.columns[0];
  const Table tail = split_tail(table, 1);
  EXPECT_EQ(values_of<float>(table.columns[0]), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(values_of<float>(tail.columns[0]), (std::vector<float>{5, 6}));
  EXPECT_EQ(values_of<float>(copy), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(read<uint16_t>("<u2", "(2,)", {1, 2}).mapping.empty());
}

TEST(Mapping, ScratchCanBeWrittenAndRead) {
  Mapping room = Mapping::scratch(100'000);
  ASSERT_EQ(room.bytes().size(), 100'000U);
  room.writable()[99'999] = std::byte{7};
  const Mapping end = room.part(50'001, 49'999);
  EXPECT_EQ(end.bytes().back(), std::byte{7});
  EXPECT_EQ(end.bytes().front(), std::byte{0});
}

}  // namespace
}  // namespace heddle::runtime::data
