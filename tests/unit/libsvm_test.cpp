// Rows of LIBSVM's text format: what is not named is 0; what the format does not allow is refused at its place.
#include <gtest/gtest.h>

#include <cstring>

#include "runtime/data/table.h"
#include "runtime/files/temporary.h"
#include "tests/support/text_files.h"

namespace heddle::runtime::data {
namespace {

class Libsvm : public ::testing::Test {
 protected:
  static ReaderRequest request(std::vector<ColumnRequest> columns, bool zero_based = false) {
    return {.op = "libsvm",
            .columns = std::move(columns),
            .settings = {{"file", std::vector<std::string>{"rows.txt"}, {}}, {"zero_based", zero_based, {}}},
            .where = {}};
  }
  Table read(const std::string& text, const ReaderRequest& r) const {
    testing::write_text(folder_.path() + "/rows.txt", text);
    EXPECT_EQ(read_table_header(r, folder_.path()).rows, read_table(r, folder_.path()).rows);
    return read_table(r, folder_.path());
  }
  std::string message(const std::string& text, const ReaderRequest& r) const {
    try {
      read(text, r);
    } catch (const UserError& error) {
      return error.diagnostics().at(0).message;
    }
    return "read";
  }
  static std::vector<float> numbers(const Column& column) {
    std::vector<float> values(column.content().size() / sizeof(float));
    std::memcpy(values.data(), column.content().data(), column.content().size());
    return values;
  }

  TemporaryFolder folder_;
};

ColumnRequest features() { return {"x", {{"features"}}, "f32", {3}, 0, false, {}}; }
ColumnRequest target(const std::string& dtype = "f32", int64_t classes = 0) {
  return {"y", {{"target"}}, dtype, {}, classes, false, {}};
}

TEST_F(Libsvm, WhatIsNotNamedIsZero) {
  for (const int64_t resident : {int64_t{1} << 30, int64_t{0}}) {
    ReaderRequest r = request({features(), target()});
    r.resident = resident;
    const Table table = read("# all\n+1 1:0.5 3:-2e1\r\n\n-1.5 # none\n2  2:1 \n", r);
    EXPECT_EQ(table.rows, 3);
    EXPECT_EQ(numbers(table.columns[0]), (std::vector<float>{0.5F, 0, -20, 0, 0, 0, 0, 1, 0}));
    EXPECT_EQ(numbers(table.columns[1]), (std::vector<float>{1, -1.5F, 2}));
  }
  const Table tabs = read("1\t1:0.5 \t 3:2\t#4\n\t\n", request({features()}));
  EXPECT_EQ(numbers(tabs.columns[0]), (std::vector<float>{0.5F, 0, 2}));
  const Table table = read("2 0:7", request({target("i32", 3), features()}, true));
  EXPECT_EQ(numbers(table.columns[1]), (std::vector<float>{7, 0, 0}));
  int32_t label = 0;
  std::memcpy(&label, table.columns[0].content().data(), sizeof label);
  EXPECT_EQ(label, 2);
}

TEST_F(Libsvm, RefusesWhatIsNotOfTheFormat) {
  const ReaderRequest r = request({features(), target()});
  const auto of = [&](const std::string& text) { return message(text, r); };
  EXPECT_EQ(of(""), "rows.txt: no rows");
  EXPECT_EQ(of("1 2:1\nx 1:1\n"), "rows.txt:2:1: 'x' is no number");
  EXPECT_EQ(of("1 2\n"), "rows.txt:1:3: '2' is no feature, expected NUMBER:VALUE");
  EXPECT_EQ(of("1 qid:3 1:1\n"), "rows.txt:1:3: 'qid:3' is no feature, expected NUMBER:VALUE");
  EXPECT_EQ(of("1 :3\n"), "rows.txt:1:3: ':3' is no feature, expected NUMBER:VALUE");
  EXPECT_EQ(of("1 99999999999999999999:3\n"),
            "rows.txt:1:3: '99999999999999999999:3' is no feature, expected NUMBER:VALUE");
  EXPECT_EQ(of("1 1:\n"), "rows.txt:1:3: '' is no number");
  EXPECT_EQ(of("1 0:1\n"), "rows.txt:1:3: feature 0, but they are counted from 1");
  EXPECT_EQ(of("1 4:1\n"), "rows.txt:1:3: feature 4, but a row of input 'x' has 3");
  EXPECT_EQ(of("1 2:1 2:2\n"), "rows.txt:1:7: feature 2 behind feature 2: they ascend");
  EXPECT_EQ(of("1 3:1 2:2\n"), "rows.txt:1:7: feature 2 behind feature 3: they ascend");
  EXPECT_EQ(of("1 1:1\t2:x\n"), "rows.txt:1:7: 'x' is no number");
  // The target is missing, which who reads features alone would not see.
  EXPECT_EQ(message("1:1 2:2\n", request({features()})), "rows.txt:1:1: '1:1' is no number");
  EXPECT_EQ(message("1 1:1\n", request({{"x", {{"words"}}, "f32", {3}, 0, false, {}}})),
            "a row holds \"features\" and a \"target\", no \"words\"");
  EXPECT_EQ(message("1 1:1\n", request({{"x", {{"features"}}, "f32", {3, 1}, 0, false, {}}})),
            "\"features\" are a vector for each row: [N, number of features]");
}

}  // namespace
}  // namespace heddle::runtime::data
