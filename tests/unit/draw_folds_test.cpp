// Rows in folds, by class and by group; and what folds say of a metric.
#include "runtime/data/draw_folds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tools/driver/folds.h"

namespace heddle {
namespace {

using runtime::data::draw_folds;
using runtime::data::FoldRequest;

std::vector<int64_t> sizes(const std::vector<uint32_t>& fold, int64_t folds) {
  std::vector<int64_t> rows(static_cast<size_t>(folds));
  for (const uint32_t f : fold) ++rows.at(f);
  return rows;
}

TEST(DrawFolds, DifferByOneRowAtMostAndFollowTheSeed) {
  for (const int64_t rows : {5, 7, 100, 1001})
    for (const int64_t folds : {2, 3, 5}) {
      const FoldRequest request{.rows = rows, .folds = folds, .seed = 3};
      const std::vector<uint32_t> fold = draw_folds(request);
      const auto [least, most] = std::ranges::minmax(sizes(fold, folds));
      EXPECT_LE(most - least, 1);
      EXPECT_EQ(fold, draw_folds(request));
    }
  EXPECT_NE(draw_folds({.rows = 100, .folds = 5, .seed = 1}), draw_folds({.rows = 100, .folds = 5, .seed = 2}));
}

TEST(DrawFolds, SpreadEachClass) {
  std::vector<uint32_t> classes(103);
  for (size_t i = 0; i < classes.size(); ++i) classes[i] = i < 70 ? 0 : i < 95 ? 1 : 2;
  const std::vector<uint32_t> fold = draw_folds({.rows = 103, .folds = 4, .seed = 1, .classes = {classes, 3}});
  std::map<uint32_t, std::vector<int64_t>> of_class;
  for (size_t i = 0; i < fold.size(); ++i) {
    auto& rows = of_class[classes[i]];
    rows.resize(4);
    ++rows[fold[i]];
  }
  for (const auto& [c, rows] : of_class) {
    const auto [least, most] = std::ranges::minmax(rows);
    EXPECT_LE(most - least, 1) << c;
  }
  const auto [least, most] = std::ranges::minmax(sizes(fold, 4));
  EXPECT_LE(most - least, 1);
}

TEST(DrawFolds, NeverSplitAGroup) {
  std::vector<uint32_t> groups(120), classes(120);
  for (size_t i = 0; i < groups.size(); ++i) groups[i] = static_cast<uint32_t>(i % 17), classes[i] = groups[i] % 2;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<uint32_t> fold =
        draw_folds({.rows = 120, .folds = 5, .seed = seed, .classes = {classes, 2}, .groups = {groups, 17}});
    std::map<uint32_t, uint32_t> of_group;
    for (size_t i = 0; i < fold.size(); ++i) EXPECT_EQ(of_group.emplace(groups[i], fold[i]).first->second, fold[i]);
    // 9 groups of one class and 8 of the other, of 7 or 8 rows. A fold has one or two of each.
    for (const int64_t rows : sizes(fold, 5)) EXPECT_TRUE(2 * 7 <= rows && rows <= 4 * 8) << rows;
  }
}

TEST(FoldStatistics, AreMeanAndSampleDeviation) {
  const SourceFile texts[] = {{"a", R"({"validation": {"loss": 1, "recall": [0, 1]}, "train": {"loss": 2}})"},
                              {"b", R"({"validation": {"loss": 3, "recall": [1, 1]}, "train": {"loss": 2}})"}};
  const std::vector<frontend::Json> metrics{frontend::parse_json(texts[0]), frontend::parse_json(texts[1])};
  // (1 - 2)^2 + (3 - 2)^2 over 2 - 1: the deviation is the root of 2.
  const std::vector<driver::MetricSpread> spreads = driver::metric_spreads(metrics);
  ASSERT_EQ(spreads.size(), 2U);
  EXPECT_EQ(spreads[0].split + spreads[0].name, "validationloss");
  EXPECT_EQ(spreads[0].mean, 2);
  EXPECT_DOUBLE_EQ(spreads[0].deviation, std::sqrt(2.0));
  EXPECT_EQ(spreads[1].deviation, 0);
  const std::string text = driver::fold_statistics(metrics);
  EXPECT_NE(text.find(R"("recall": {"mean": [0.5, 1)"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("folds": [[0, 1], [1, 1]])"), std::string::npos) << text;
}

}  // namespace
}  // namespace heddle
