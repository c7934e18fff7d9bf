// Tables of text: what is a field and where it begins, which number a text is, columns that do not fit into memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "runtime/data/csv_dialect.h"
#include "runtime/data/csv_file.h"
#include "runtime/data/number_style.h"
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
  std::string fields(const std::string& text, const CsvDialect& dialect = {}) const {
    write(text);
    CsvFile file(folder_ / "t.csv", "t.csv", {}, dialect);
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
  EXPECT_EQ(fields("a;\"b;c\"", {.delimiter = ';'}), "a@1:1 b;c@1:3 / ");
  EXPECT_EQ(fields("\xef\xbb\xbf"
                   "a,b"),
            "a@1:1 b@1:3 / ");
  EXPECT_EQ(fields(""), "");
  EXPECT_EQ(fields("\n\r\n"), "");
}

// What is no record keeps its place in the count of lines.
TEST_F(Csv, LinesThatAreNoRecords) {
  EXPECT_EQ(fields("made by \"x\n\n# no\na,b\n#1,2\n\n3,#4\n# end", {.comment = '#', .skip = 2}),
            "a@4:1 b@4:3 / 3@7:1 #4@7:3 / ");
  EXPECT_EQ(fields("\"#a\",b\n", {.comment = '#'}), "#a@1:1 b@1:6 / ");
  EXPECT_EQ(fields("a\n", {.skip = 1}), "");
  EXPECT_THROW(fields("a\n", {.skip = 2}), UserError);
  EXPECT_EQ(fields(std::string(300'000, 'x') + "\na\n", {.skip = 1}), "a@2:1 / ");  // longer than the buffer
}

TEST_F(Csv, MarksOfQuotations) {
  EXPECT_EQ(fields("'a,b',\"c\n", {.quote = '\''}), "a,b@1:1 \"c@1:7 / ");
  EXPECT_EQ(fields("\"a,5\" x\n", {.quote = kNoCharacter}), "\"a@1:1 5\" x@1:4 / ");
}

// The first in the order tab ; | , that all lines have alike; quoted ones count for nothing.
TEST_F(Csv, DelimitersAreTold) {
  const auto told = [](const std::string& text, const CsvDialect& dialect = {}, bool whole = true) -> std::string {
    const std::optional<char> found = told_delimiter(text, whole, dialect).delimiter;
    return found ? std::string(1, *found) : "none";
  };
  EXPECT_EQ(told("a,b\n1,2\n"), ",");
  EXPECT_EQ(told("a\tb,c\n1\t2,3\n"), "\t");
  EXPECT_EQ(told("1,5;2,5\n3,5;4,5\n"), ";");
  EXPECT_EQ(told("a|b\n1,5|2\n"), "|");
  EXPECT_EQ(told("a,b\n\"x;y;z\",\"1\"\"2;3\"\n"), ",");
  EXPECT_EQ(told("a;b\n\"x\n;;y\";1\r\n\r\n\"\";2"), ";");
  EXPECT_EQ(told("a,b\n5\" nail; tack,2\n"), ",");
  EXPECT_EQ(told("# a;b;c\na,b\n1,2\n", {.comment = '#'}), ",");
  EXPECT_EQ(told("a,b\n1,2\n3,4,5\n"), ",");  // the line with too many is told where it is read
  EXPECT_EQ(told("a\n1\n"), ",");
  EXPECT_EQ(told("a\n1,5\n2,5\n", {.comma_divides = false}), ";");
  EXPECT_EQ(told("text\na, b\n"), "none");
  EXPECT_EQ(told("a,b;c\n1,2\n3;4\n"), "none");
  EXPECT_EQ(told("a;b\n1,5,7", {}, /*whole=*/false), ";");  // the last record does not end
  EXPECT_EQ(fields("a;b\n1;2,5\n", {.delimiter = kTold}), "a@1:1 b@1:3 / 1@2:1 2,5@2:3 / ");
  EXPECT_EQ(fields("", {.delimiter = kTold}), "");
  std::string many = "a;b\n";
  for (int i = 0; i < 50'000; ++i) many += "1,0;2,0\n";
  write(many);
  EXPECT_EQ(CsvFile(folder_ / "t.csv", "t.csv", {}, {.delimiter = kTold, .skip = 40'000}).delimiter(), ';');
}

TEST_F(Csv, SpellingsOfNumbers) {
  const auto cell = [](const std::string& text, const NumberStyle& style) -> std::string {
    double value = 0;
    const std::string fault = parse_cell(text, style, ElementType::f64, reinterpret_cast<std::byte*>(&value));
    return fault.empty() ? fmt::format("{}", value) : fault;
  };
  const NumberStyle plain, german{',', "."}, swiss{'.', "'"}, french{',', "\u202F"}, comma{',', ""};
  EXPECT_EQ(cell(" 1,5 ", comma), "1.5");
  EXPECT_EQ(cell("-1.234.567,25e-2", german), "-12345.6725");
  EXPECT_EQ(cell("1234,5", german), "1234.5");
  EXPECT_EQ(cell("12'345.5", swiss), "12345.5");
  EXPECT_EQ(cell("1\u202F234,5", french), "1234.5");
  EXPECT_EQ(cell("+,5", comma), "0.5");
  for (const char* text : {"1.5", "1.23", "1.2345", "12.34.567", ".500", "1..234", "1.234,5,6", "1.234.", "", "1,2.3"})
    EXPECT_EQ(cell(text, german), "is no number") << text;
  EXPECT_EQ(cell("1234'567", swiss), "is no number");
  EXPECT_EQ(cell("1.5", comma), "is no number");
  for (const char* text : {"true", "TRUE", "True", " yes", "Yes"}) EXPECT_EQ(cell(text, plain), "1") << text;
  for (const char* text : {"false", "False", "no ", "NO"}) EXPECT_EQ(cell(text, comma), "0") << text;
  for (const char* text : {"tRUE", "y", "on", "truely", "t"}) EXPECT_EQ(cell(text, plain), "is no number") << text;
  int8_t flag = 0;
  EXPECT_EQ(parse_cell("yes", plain, ElementType::i8, reinterpret_cast<std::byte*>(&flag)), "");
  EXPECT_EQ(flag, 1);
}

TEST_F(Csv, OtherSpellingsAreNamed) {
  EXPECT_EQ(other_style("1,5", {}), "\"decimal\": \",\" reads it as 1.5");
  EXPECT_EQ(other_style("1,234", {}), "\"decimal\": \",\" reads it as 1.234; \"thousands\": \",\" reads it as 1234");
  EXPECT_EQ(other_style("1.5", {',', ""}), "\"decimal\": \".\" reads it as 1.5");
  for (const char* text : {"ant", "", "1.2.3", "1.5", "3000000000", "1e3"})
    EXPECT_EQ(other_style(text, {}), "") << text;
}

// Files of one header are one table, in the order that is said, and * stands for names sorted by their bytes.
TEST_F(Csv, SeveralFiles) {
  const auto file = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  };
  file("b-10.csv", "y;x\n30;3\n"), file("b-2.csv", "y,x\n40,4\n50,5\n"), file("a.csv", "# one\ny\tx\n10\t1\n");
  ReaderRequest request{.op = "csv",
                        .columns = {{"x", {{"x"}}, "f32", {}, 0, false, {}}},
                        .settings = {{"file", std::vector<std::string>{"a.csv", "b-*.csv"}, {}},
                                     {"delimiter", std::vector<std::string>{"auto"}, {}},
                                     {"comment", std::vector<std::string>{"#"}, {}}},
                        .where = {}};
  const TableHeader header = read_table_header(request, folder_);
  EXPECT_EQ(header.notes,
            (std::vector<std::string>{"a.csv: fields are separated by a tab", "b-10.csv: fields are separated by ';'",
                                      "b-2.csv: fields are separated by ','"}));
  const Table table = read_table(request, folder_);
  float x[4];
  ASSERT_EQ(table.columns.at(0).content().size(), sizeof x);
  std::memcpy(x, table.columns.at(0).content().data(), sizeof x);
  EXPECT_EQ(std::vector<float>(x, x + 4), (std::vector<float>{1, 3, 4, 5}));
  const auto refused = [&](const std::vector<std::string>& files) -> std::string {
    request.settings[0].value = files;
    try {
      read_table(request, folder_);
    } catch (const UserError& error) {
      return error.diagnostics().at(0).message;
    }
    return "read";
  };
  file("c.csv", "y,z\n1,2\n"), file("d.csv", "y,x,z\n1,2,3\n"), file("e.csv", ""), file("f.csv", "y,x\n1\n");
  EXPECT_EQ(refused({"a.csv", "c.csv"}), "c.csv:1:3: column 1 is called 'z', in a.csv 'x'");
  EXPECT_EQ(refused({"a.csv", "d.csv"}), "d.csv:1:1: 3 columns, but a.csv has 2");
  EXPECT_EQ(refused({"a.csv", "e.csv"}), "e.csv: the file is empty");
  EXPECT_EQ(refused({"a.csv", "f.csv"}), "f.csv:2:1: 1 fields, but the first line of a.csv has 2");
  EXPECT_EQ(refused({"b-2.csv", "b-*.csv"}), "b-2.csv: its rows would be read twice");
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
