// What stands for missing values: the rule of a reader, means and medians of the rows that train, indicators.
#include "runtime/data/missing_values.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "ir/diagnostic.h"
#include "runtime/data/table.h"
#include "runtime/files/temporary.h"

namespace heddle::runtime::data {
namespace {

using Words = std::vector<std::string>;

MissingRule rule_of(const ReaderValue& value) { return missing_rule({{"missing", value, {}}}); }

TEST(MissingValues, Rules) {
  EXPECT_EQ(missing_rule({}).fill, MissingRule::Fill::none);
  EXPECT_EQ(rule_of(-2.5).number, -2.5);
  EXPECT_EQ(rule_of(Words{"median"}).fill, MissingRule::Fill::median);
  const MissingRule both = rule_of(Words{"indicator", "0.1"});
  EXPECT_TRUE(both.indicator);
  EXPECT_EQ(both.fill, MissingRule::Fill::number);
  EXPECT_EQ(both.number, 0.1);
  EXPECT_TRUE(has_indicators(both, 6, 3));
  EXPECT_FALSE(has_indicators(both, 3, 3));
  EXPECT_THROW(rule_of(Words{"mean", "0"}), UserError);
}

TEST(MissingValues, WhatStandsForThem) {
  const std::vector<double> fills = {1, 2};
  EXPECT_EQ(fill_of(rule_of(7.0), fills, 0, false), 7);
  EXPECT_EQ(fill_of(rule_of(Words{"mean"}), fills, 1, true), 2);
  EXPECT_EQ(fill_of(rule_of(Words{"mean"}), {}, 0, true), std::nullopt);
  EXPECT_EQ(fill_of(rule_of(Words{"indicator"}), {}, 5, true), 0);
  EXPECT_EQ(fill_of(rule_of(Words{"indicator"}), {}, 5, false), std::nullopt);
  EXPECT_EQ(fill_of({}, {}, 0, false), std::nullopt);
}

// A constant's mean is the constant, and what a large sum rounds off is kept.
TEST(MissingValues, MeansAndMedians) {
  const auto fitted = [](const std::string& word, const std::vector<double>& values) {
    FillFitter fitter(rule_of(Words{word}), 1 << 20);
    for (const double v : values) fitter.add(1, 0, v);
    return fitter.finish(1, 1, "x").at(0);
  };
  EXPECT_EQ(fitted("mean", std::vector<double>(10, 0.1)), 0.1);
  EXPECT_EQ(fitted("mean", {1e16, 1, 1, -1e16}), 0.5);
  EXPECT_EQ(fitted("median", {5, 1, 9}), 5);
  EXPECT_EQ(fitted("median", {5, 1, 9, 6}), 5.5);
  EXPECT_EQ(fitted("median", {-3}), -3);
  EXPECT_EQ(fitted("median", {0x1p1023, 0x1.8p1023}), 0x1.4p1023);  // whose sum does not fit
  EXPECT_THROW(fitted("mean", {}), UserError);
  FillFitter small(rule_of(Words{"median"}), 16);
  small.add(0, 0, 1), small.add(0, 0, 1);
  EXPECT_THROW(small.add(0, 1, 1), UserError);
}

class Tables : public testing::TestWithParam<bool> {
 protected:
  Tables() {
    const std::string csv = "a,b\n1,\n,6\n3,8\n100,NA\n",
                      lines = "{\"x\": [1, null]}\n{\"x\": [null, 6]}\n{\"x\": [3, 8]}\n{\"x\": [100, null]}\n";
    std::ofstream(std::filesystem::path(folder_.path()) / "t") << (GetParam() ? csv : lines);
  }
  ReaderRequest request(const Words& missing, const std::vector<int64_t>& dims) const {
    return {
        .op = GetParam() ? "csv" : "json_lines",
        .columns =
            {{"x", GetParam() ? std::vector<Source>{{"a:b"}} : std::vector<Source>{{"x"}}, "f32", dims, 0, false, {}}},
        .settings = {{"file", Words{"t"}, {}}, {"missing", missing, {}}},
        .where = {}};
  }
  std::vector<float> values(const ReaderRequest& request) const {
    const Table table = read_table(request, folder_.path());
    const auto bytes = table.columns.at(0).content();
    std::vector<float> out(bytes.size() / sizeof(float));
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
  }
  TemporaryFolder folder_;
};

TEST_P(Tables, AreFilledWithWhatTheTrainingRowsSay) {
  ReaderRequest mean = request({"mean"}, {2});
  mean.held = std::make_shared<const std::vector<uint8_t>>(std::vector<uint8_t>{0, 0, 0, 1});
  const TableHeader header = read_table_header(mean, folder_.path());
  EXPECT_TRUE(header.fills_found);
  EXPECT_EQ(header.fills.at(0), (std::vector<double>{2, 7}));
  mean.held = nullptr;
  mean.columns[0].fills = header.fills[0];
  EXPECT_FALSE(read_table_header(mean, folder_.path()).fills_found);
  EXPECT_EQ(values(mean), (std::vector<float>{1, 7, 2, 6, 3, 8, 100, 7}));
  EXPECT_EQ(values(request({"median"}, {2})), (std::vector<float>{1, 7, 3, 6, 3, 8, 100, 7}));
}

TEST_P(Tables, HaveIndicators) {
  EXPECT_EQ(values(request({"indicator"}, {4})),
            (std::vector<float>{1, 0, 0, 1, 0, 6, 1, 0, 3, 8, 0, 0, 100, 0, 0, 1}));
  EXPECT_EQ(values(request({"indicator", "median"}, {2, 2})),
            (std::vector<float>{1, 7, 0, 1, 3, 6, 1, 0, 3, 8, 0, 0, 100, 7, 0, 1}));
  EXPECT_THROW(values(request({"indicator"}, {2})), UserError);
  EXPECT_THROW(values(request({"indicator"}, {3})), UserError);
}

INSTANTIATE_TEST_SUITE_P(Readers, Tables, testing::Bool());

}  // namespace
}  // namespace heddle::runtime::data
