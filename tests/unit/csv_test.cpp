// Tables of text: what is a field and where it begins, which number a text is, columns that do not fit into memory.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "runtime/data/csv_file.h"
#include "runtime/data/parse_number.h"
#include "runtime/data/table.h"
#include "runtime/files/temporary.h"

namespace heddle::runtime::data {
namespace {

namespace fs = std::filesystem;

class Csv : public testing::Test {
 protected:
  void write(const std::string& text) const { std::ofstream(folder_ / "t.csv", std::ios::binary) << text; }
  // "text@line:column" of each field, records apart by '/'.
  std::string fields(const std::string& text, char delimiter = ',') const {
    write(text);
    CsvFile file(folder_ / "t.csv", "t.csv", {}, delimiter);
    std::string out;
    for (std::vector<CsvField> record; file.next(record); out += "/ ")
      for (const CsvField& f : record)
        out += std::string(f.text) + "@" + std::to_string(f.line) + ":" + std::to_string(f.column) + " ";
    return out;
  }

  TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_F(Csv, FieldsBeginWhereTheyStand) {
  EXPECT_EQ(fields("a,b\n1,2\n"), "a@1:1 b@1:3 / 1@2:1 2@2:3 / ");
  EXPECT_EQ(fields("a,,\r\n,b"), "a@1:1 @1:3 @1:4 / @2:1 b@2:2 / ");
  EXPECT_EQ(fields("\n\n\"x\"\"y\",\"1\n2\",z\n,"), "x\"y@3:1 1\n2@3:8 z@4:4 / @5:1 @5:2 / ");
  EXPECT_EQ(fields("a;\"b;c\"", ';'), "a@1:1 b;c@1:3 / ");
  EXPECT_EQ(fields("\xef\xbb\xbf"
                   "a,b"),
            "a@1:1 b@1:3 / ");
  EXPECT_EQ(fields(""), "");
  EXPECT_EQ(fields("\n\r\n"), "");
}

template <class T>
T number(const std::string& text, ElementType type) {
  T value{};
  const std::string fault = parse_number(text, type, reinterpret_cast<std::byte*>(&value));
  EXPECT_EQ(fault, "") << text;
  return value;
}
std::string fault(const std::string& text, ElementType type) {
  std::byte to[8];
  return parse_number(text, type, to);
}

// The bits are those that correct rounding gives: halfway cases, the limits, more digits than a number has.
TEST_F(Csv, NumbersAreRoundedOnce) {
  const auto f32 = [](const std::string& text) { return number<float>(text, ElementType::f32); };
  const auto f64 = [](const std::string& text) { return number<double>(text, ElementType::f64); };
  EXPECT_EQ(f32("16777217"), 16777216.0F);             // half of the way: to the even one
  EXPECT_EQ(f32("16777217.0000000001"), 16777218.0F);  // a little beyond, which a double would round to half first
  EXPECT_EQ(f32("0.50000002980232238769531250000000001"), 0x1.000002p-1F);
  EXPECT_EQ(f32("3.4028234663852886e38"), 0x1.fffffep127F);
  EXPECT_EQ(f32("1e-45"), 0x1p-149F);
  for (const char* text : {"-1e-60", "-1e-400", "-0.0e-99999"}) {
    EXPECT_EQ(f32(text), 0.0F) << text;
    EXPECT_TRUE(std::signbit(f32(text))) << text;
  }
  EXPECT_EQ(f64("1e-400"), 0.0);
  EXPECT_EQ(f64("1e-99999"), 0.0);
  EXPECT_EQ(f32(" +.5\t"), 0.5F);
  EXPECT_EQ(f64("0.1"), 0x1.999999999999ap-4);
  EXPECT_EQ(f64("9007199254740993"), 9007199254740992.0);
  EXPECT_EQ(f64("2.2250738585072011e-308"), 0x0.fffffffffffffp-1022);
  EXPECT_EQ(number<int64_t>("-9223372036854775808", ElementType::i64), INT64_MIN);
  EXPECT_EQ(number<uint8_t>("255.0", ElementType::u8), 255);
}

TEST_F(Csv, WhatIsNoNumberIsSaid) {
  for (const char* text : {"", "-", "+-1", "1 2", "1e", "0x1", "1,5", "one", "1_0", "--1"})
    EXPECT_EQ(fault(text, ElementType::f32), "is no number") << text;
  EXPECT_EQ(fault("1e39", ElementType::f32), "does not fit f32");
  EXPECT_EQ(fault("-1e400", ElementType::f64), "does not fit f64");
  EXPECT_EQ(fault("1e400", ElementType::f32), "does not fit f32");
  EXPECT_EQ(fault("1e99999", ElementType::f64), "does not fit f64");
  EXPECT_EQ(fault("inf", ElementType::f64), "is not finite");
  EXPECT_EQ(fault("1e2", ElementType::i32), "is no integer in digits");
  EXPECT_EQ(fault("1e3", ElementType::u8), "does not fit u8");
  EXPECT_EQ(fault("-1e1", ElementType::u8), "does not fit u8");
  EXPECT_EQ(fault("256", ElementType::u8), "does not fit u8");
  EXPECT_EQ(fault("-1", ElementType::u8), "does not fit u8");
  EXPECT_EQ(fault("1.5", ElementType::i32), "is no integer");
  EXPECT_EQ(fault("x", ElementType::i32), "is no number");
}

// What is a number, if not one of the type, is no name that "classes" would number.
TEST_F(Csv, NamesAreToldFromNumbers) {
  const ReaderRequest request{.op = "csv",
                              .columns = {{"y", {{"y"}}, "i32", {}, 0, false, {}}},
                              .settings = {{"file", std::vector<std::string>{"t.csv"}, {}}},
                              .where = {}};
  const auto help = [&](const std::string& value) -> std::string {
    write("y\n" + value + "\n");
    try {
      read_table(request, folder_);
    } catch (const UserError& error) {
      return error.diagnostics().at(0).help;
    }
    return "read";
  };
  EXPECT_EQ(help("ant"), "\"classes\": {\"y\": \"sorted\"} numbers names");
  for (const char* text : {"1.5", "3000000000", "1e3"}) EXPECT_EQ(help(text), "") << text;
}

// Columns that are too large for memory lie in a temporary file, and hold the same.
TEST_F(Csv, LargeColumnsAreMapped) {
  std::string text = "x,y,z\n";
  std::vector<float> wanted;
  for (int i = 0; i < 5000; ++i) {
    text += std::to_string(i) + "," + std::to_string(i % 7) + "," + std::to_string(i * 0.25) + "\n";
    wanted.push_back(static_cast<float>(i)), wanted.push_back(static_cast<float>(i) * 0.25F);
  }
  write(text);
  ReaderRequest request{
      .op = "csv",
      .columns = {{"a", {{"x"}, {"z"}}, "f32", {2}, 0, false, {}}, {"b", {{"y"}}, "i32", {}, 7, false, {}}},
      .settings = {{"file", std::vector<std::string>{"t.csv"}, {}}},
      .where = {}};
  for (const int64_t resident : {int64_t{1} << 30, int64_t{30'000}, int64_t{0}}) {
    request.resident = resident;
    EXPECT_EQ(read_table_header(request, folder_).rows, 5000);
    const Table table = read_table(request, folder_);
    ASSERT_EQ(table.rows, 5000);
    EXPECT_EQ(table.columns[0].mapping.empty(), resident > 40'000);
    EXPECT_EQ(table.columns[1].mapping.empty(), resident > 20'000);
    ASSERT_EQ(table.columns[0].content().size(), wanted.size() * 4);
    EXPECT_EQ(std::memcmp(table.columns[0].content().data(), wanted.data(), wanted.size() * 4), 0);
  }
}

// What is missing is no class, and a range may be one column.
TEST_F(Csv, MissingClassesAndShortRanges) {
  write("y,k\n1,b\nnull,NA\n3,a\n");
  const ReaderRequest request{
      .op = "csv",
      .columns = {{"y", {{"y:y"}}, "f32", {1}, 0, false, {}}, {"k", {{"k"}}, "i32", {}, 0, false, {}}},
      .settings = {{"file", std::vector<std::string>{"t.csv"}, {}},
                   {"missing", 7.0, {}},
                   {"classes", ClassNames{{"k", {}}}, {}}},
      .where = {}};
  EXPECT_EQ(read_table_header(request, folder_).class_names.at(1), (std::vector<std::string>{"a", "b"}));
  const Table table = read_table(request, folder_);
  float y[3];
  int32_t k[3];
  std::memcpy(y, table.columns.at(0).content().data(), sizeof y);
  std::memcpy(k, table.columns.at(1).content().data(), sizeof k);
  EXPECT_EQ(std::vector<float>(y, y + 3), (std::vector<float>{1, 7, 3}));
  EXPECT_EQ(std::vector<int32_t>(k, k + 3), (std::vector<int32_t>{1, 7, 0}));
}

// Each column by its name costs about what all of them cost as a range: names are not looked for one by one.
TEST_F(Csv, ManyColumnsByName) {
  constexpr int64_t kColumns = 40'000;
  std::string text;
  std::vector<Source> names;
  for (int64_t i = 0; i < kColumns; ++i) text += names.emplace_back(Source{"column" + std::to_string(i)}).text + ",";
  text += "y\n";
  for (int64_t i = 0; i < kColumns; ++i) text += "0,";
  write(text + "1\n");
  const auto seconds = [&](const std::vector<Source>& words) {
    const ReaderRequest request{.op = "csv",
                                .columns = {{"x", words, "f32", {kColumns}, 0, false, {}}},
                                .settings = {{"file", std::vector<std::string>{"t.csv"}, {}}},
                                .where = {}};
    const std::clock_t start = std::clock();
    EXPECT_EQ(read_table(request, folder_).rows, 1);
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  const double range = seconds({{"column0:column" + std::to_string(kColumns - 1)}});
  EXPECT_LE(seconds(names), 10 * range + 0.1);
}

}  // namespace
}  // namespace heddle::runtime::data
