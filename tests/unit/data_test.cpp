// Readers, shuffles and tables.
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>

#include "runtime/data/drawn/digits.h"
#include "runtime/data/idx.h"
#include "runtime/data/path.h"
#include "runtime/data/shuffle.h"
#include "runtime/data/synthetic.h"
#include "runtime/data/table.h"

namespace heddle::runtime::data {
namespace {

namespace fs = std::filesystem;

class Folder : public testing::Test {
 protected:
  Folder() {
    dir_ = fs::temp_directory_path() / ("heddle-data-" + std::to_string(::getpid()));
    fs::create_directories(dir_);
  }
  ~Folder() override { fs::remove_all(dir_); }

  fs::path write(const std::string& name, const std::string& bytes, const char* mode = "wbT") {
    const gzFile f = gzopen((dir_ / name).c_str(), mode);
    gzwrite(f, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(f);
    return dir_ / name;
  }
  std::string error_of(const std::string& bytes) {
    try {
      read_idx(write("bad", bytes), "bad", {});
    } catch (const UserError& error) {
      return error.diagnostics().at(0).message;
    }
    return "no error";
  }

  fs::path dir_;
};

std::string idx(int type, const std::vector<int>& dims, const std::string& elements) {
  std::string s = {0, 0, static_cast<char>(type), static_cast<char>(dims.size())};
  for (int d : dims)
    for (int shift = 24; shift >= 0; shift -= 8) s.push_back(static_cast<char>(d >> shift));
  return s + elements;
}

TEST_F(Folder, ReadsPlainAndCompressedIdxAlike) {
  const std::string bytes = idx(8, {2, 3}, "abcdef");
  for (const char* mode : {"wbT", "wb9"}) {
    const IdxArray a = read_idx(write("a", bytes, mode), "a", {});
    EXPECT_EQ(a.dims, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(a.bytes.size(), 6U);
    EXPECT_EQ(std::to_integer<char>(a.bytes[5]), 'f');
  }
}

TEST_F(Folder, TurnsWideElementsToTheMachinesByteOrder) {
  const IdxArray a = read_idx(write("a", idx(0x0B, {2}, std::string("\x01\x02\xff\xfe", 4))), "a", {});
  int16_t values[2];
  std::memcpy(values, a.bytes.data(), sizeof values);
  EXPECT_EQ(values[0], 0x0102);
  EXPECT_EQ(values[1], -2);
}

TEST_F(Folder, RefusesDamagedIdx) {
  EXPECT_EQ(error_of("ab"), "bad: not an idx file: 2 bytes, expected a header of at least 4");
  EXPECT_EQ(error_of("abcd"), "bad: not an idx file: expected two zero bytes first, got 61 62");
  EXPECT_EQ(error_of(idx(7, {1}, "a")), "bad: unknown idx element type 0x07, expected 08, 09, 0b, 0c, 0d or 0e");
  EXPECT_EQ(error_of(idx(8, {2, 3}, "abc")), "bad: truncated: expected 6 bytes of elements, got 3");
  EXPECT_EQ(error_of(idx(8, {1}, "ab")), "bad: longer than its header says: 1 bytes of elements expected");
  EXPECT_EQ(error_of(idx(8, {0x7fffffff, 0x7fffffff, 0x7fffffff}, "")), "bad: the header promises more than 64 GiB");
  EXPECT_EQ(error_of(idx(8, {3, 0}, "")), "bad: a dimension of its rows is 0");
  EXPECT_EQ(error_of(idx(8, {0, 3}, "")), "bad: no rows");
  EXPECT_EQ(error_of(idx(8, {0, 0}, "")), "bad: no rows");
}

TEST_F(Folder, ResolvesOnlyFilesInsideTheFolder) {
  write("a", "x");
  fs::create_directory(dir_ / "sub");
  fs::create_symlink("/etc/passwd", dir_ / "out");
  fs::create_symlink("a", dir_ / "in");
  EXPECT_EQ(resolve(dir_, "a", {}), fs::canonical(dir_ / "a"));
  EXPECT_EQ(resolve(dir_, "in", {}), fs::canonical(dir_ / "a"));
  for (const char* name : {"", "../a", "sub/../../a", "/etc/passwd", "http://host/a", "out", "sub", "absent", "a\n"})
    EXPECT_THROW(resolve(dir_, name, {}), UserError) << name;
}

// A pattern's names come in the order of their bytes, whatever else lies there.
TEST_F(Folder, FindsTheFilesOfAPattern) {
  for (const char* name : {"batch_2.bin", "batch_1.bin", "batch_10.bin", "batch.bin", "batch_1.txt", "a_batch_1.bin"})
    write(name, "x");
  fs::create_directory(dir_ / "more");
  write("more/batch_1.bin", "x");
  using Names = std::vector<std::string>;
  EXPECT_EQ(matching(dir_, "batch_*.bin", {}), (Names{"batch_1.bin", "batch_10.bin", "batch_2.bin"}));
  EXPECT_EQ(matching(dir_, "more/*.bin", {}), (Names{"more/batch_1.bin"}));
  EXPECT_EQ(matching(dir_, "*a*_*1.*", {}), (Names{"a_batch_1.bin", "batch_1.bin", "batch_1.txt"}));
  EXPECT_EQ(matching(dir_, "absent", {}), (Names{"absent"}));  // resolve() says that it is not there
  for (const char* none : {"batch_1*1.bin", "*.bin.gz", "m*e/batch_1.bin", "../*", "/*", "absent/*", "batch_1.bin/*"})
    EXPECT_THROW(matching(dir_, none, {}), UserError) << none;
}

TEST(Shuffle, IsAPermutationKeyedBySeedAndEpoch) {
  const auto a = shuffled(1000, 1, 0);
  EXPECT_EQ(std::set<uint32_t>(a.begin(), a.end()).size(), 1000U);
  EXPECT_EQ(a, shuffled(1000, 1, 0));
  EXPECT_NE(a, shuffled(1000, 1, 1));
  EXPECT_NE(a, shuffled(1000, 2, 0));
  EXPECT_EQ(shuffled(5, 1, 0), (std::vector<uint32_t>{2, 4, 1, 3, 0}));
  // Each row once and out of order, whatever the number: batches divide many of them.
  for (const int64_t rows : {1, 2, 127, 128, 129, 256, 384, 512, 1024}) {
    std::vector<uint32_t> order = shuffled(rows, 1, 0);
    EXPECT_TRUE(rows < 3 || order != in_order(rows)) << rows;
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, in_order(rows)) << rows;
  }
}

// The last row moves, too: of 20 epochs it stays where it was in one or none, whatever the number of rows.
TEST(Shuffle, MovesTheLastRow) {
  for (const int64_t rows : {100, 127, 128, 256, 384}) {
    int stays = 0;
    for (uint64_t epoch = 0; epoch < 20; ++epoch) stays += shuffled(rows, 1, epoch).back() == rows - 1 ? 1 : 0;
    EXPECT_LE(stays, 3) << rows;
  }
}

TEST(Digits, ARowDependsOnSeedAndRowOnly) {
  const ColumnRequest image{"x", {{"image"}}, "f32", {28, 28, 1}, 0, false, {}},
      label{"y", {{"label"}}, "i32", {}, 10, false, {}};
  const Table table =
      draw_table({"synthetic", {image, label}, {{"rows", int64_t{20}, {}}, {"seed", int64_t{5}, {}}}, {}});
  const Digit digit = draw_digit(5, 13, 28, 28);
  EXPECT_EQ(std::memcmp(table.columns[0].bytes.data() + 13 * 784, digit.pixels.data(), 784), 0);
  EXPECT_EQ(std::to_integer<int>(table.columns[1].bytes[13]), digit.label);
  EXPECT_EQ(table.columns[0].bytes.size(), 20U * 784U);
}

Column bytes_column(std::vector<int64_t> dims, const std::vector<uint8_t>& values) {
  Column c{.input = "x", .type = ElementType::u8, .dims = std::move(dims), .bytes = {}};
  for (uint8_t v : values) c.bytes.push_back(static_cast<std::byte>(v));
  return c;
}

TEST(Table, ConvertsAColumn) {
  Column c = bytes_column({2}, {0, 51, 102, 255});
  convert(c, ElementType::f64);
  double got[4];
  ASSERT_EQ(c.bytes.size(), sizeof got);
  std::memcpy(got, c.bytes.data(), sizeof got);
  EXPECT_EQ(std::vector<double>(got, got + 4), (std::vector<double>{0, 51, 102, 255}));
  EXPECT_EQ(c.row_bytes(), 16);
}

TEST(Table, SplitsItsLastRowsOff) {
  Table table{.rows = 3, .columns = {bytes_column({2}, {1, 2, 3, 4, 5, 6})}};
  const Table tail = split_tail(table, 1);
  EXPECT_EQ(table.rows, 2);
  EXPECT_EQ(tail.rows, 1);
  EXPECT_EQ(std::to_integer<int>(tail.columns[0].bytes[1]), 6);
  EXPECT_EQ(table.columns[0].bytes.size(), 4U);
}

// -100 is a label that does not count; there is no row of it in one-hot schedule.
TEST_F(Folder, LabelsLieWithinTheClasses) {
  const auto message = [&](int last, bool one_hot) -> std::string {
    std::string labels;
    for (const int label : {0, 2, last})
      for (int shift = 24; shift >= 0; shift -= 8) labels.push_back(static_cast<char>(label >> shift));
    write("labels", idx(12, {3}, labels));
    ReaderRequest request{
        .op = "idx", .columns = {{"y", {{"labels"}}, "i32", {}, 3, one_hot, {}}}, .settings = {}, .where = {}};
    if (one_hot) request.columns[0].dtype = "f32";
    try {
      read_table(request, dir_);
      return "read";
    } catch (const UserError& error) {
      return error.diagnostics().at(0).message;
    }
  };
  EXPECT_EQ(message(1, false), "read");
  EXPECT_EQ(message(-100, false), "read");
  EXPECT_EQ(message(3, false), "labels: row 2 holds 3, expected 0 ... 2");
  EXPECT_EQ(message(-1, false), "labels: row 2 holds -1, expected 0 ... 2");
  EXPECT_EQ(message(1, true), "read");
  EXPECT_EQ(message(-100, true), "labels: row 2 holds -100, expected 0 ... 2");
}

// cast cuts toward zero; the numbers next to the limits of i8 are 127.99 and -128.99.
TEST_F(Folder, FloatsAreCutToIntegersWhereAskedFor) {
  const auto cut = [&](double value, const std::string& dtype) -> std::string {
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &value, 8);
    std::reverse(bytes.begin(), bytes.end());
    write("v", idx(14, {1}, bytes));
    ReaderRequest request{
        .op = "idx", .columns = {{"y", {{"v"}}, dtype, {}, 0, false, {}}}, .settings = {}, .where = {}};
    request.columns[0].cast = true;
    try {
      EXPECT_EQ(to_string(read_table_header(request, dir_).types.at(0)), dtype);
      Table table = read_table(request, dir_);
      convert(table.columns[0], dtype == "f32" ? ElementType::f64 : ElementType::i64);
      int64_t got = 0;
      std::memcpy(&got, table.columns[0].content().data(), 8);
      return std::to_string(got);
    } catch (const UserError& error) {
      return error.diagnostics().at(0).message;
    }
  };
  EXPECT_EQ(cut(2.75, "i32"), "2");
  EXPECT_EQ(cut(-2.75, "i32"), "-2");
  EXPECT_EQ(cut(127.99, "i8"), "127");
  EXPECT_EQ(cut(-128.99, "i8"), "-128");
  EXPECT_EQ(cut(-0.5, "u8"), "0");
  EXPECT_EQ(cut(128, "i8"), "v: row 0 holds 128, it does not fit i8");
  EXPECT_EQ(cut(-1, "u8"), "v: row 0 holds -1, it does not fit u8");
  EXPECT_EQ(cut(0x1p63, "i64"), "v: row 0 holds 9.223372036854776e+18, it does not fit i64");
  EXPECT_EQ(cut(std::nan(""), "i32"), "v: row 0 holds nan, it does not fit i32");
}

}  // namespace
}  // namespace heddle::runtime::data
