// The chooser: figures decide, of equals the order, and what is known no better than a bound is
// preferred to nothing known.
#include "passes/choose.h"

#include <gtest/gtest.h>

namespace heddle::passes {
namespace {

Candidate known(const std::string& name, Figure figure) {
  return {.name = name, .refusal = {}, .detail = {}, .figure = [figure](double) { return figure; }};
}
Candidate refusing(const std::string& name, const std::string& why) {
  return {.name = name, .refusal = why, .detail = {}, .figure = {}};
}

TEST(Choose, TheLeastTimeDecides) {
  const Choice c =
      choose({known("slow", {3e-6}), known("fast", {2e-6, FigureSource::counted}), refusing("other", "f32 only")});
  EXPECT_EQ(c.taken, 1U);
  EXPECT_EQ(c.reason, "fast, 2 us counted; not slow: 3 us estimated; not other: f32 only");
}

TEST(Choose, OfEqualsTheFirst) {
  EXPECT_EQ(choose({known("a", {2e-6}), known("b", {2e-6})}).taken, 0U);
  EXPECT_EQ(choose({refusing("z", "no"), known("b", {2e-6}), known("a", {2e-6})}).taken, 1U);
}

// A bound may lose to a figure; it is no reason to be taken.
TEST(Choose, ABoundIsNoFigure) {
  const Figure bound{.seconds = 1e-6, .source = FigureSource::table, .at_least = true};
  const Choice c = choose({known("bounded", bound), known("known", {5e-6, FigureSource::measured})});
  EXPECT_EQ(c.taken, 1U);
  EXPECT_EQ(c.reason, "known, 5 us measured; not bounded: 1 us by the table at least");
  Candidate unknown{.name = "unknown", .refusal = {}, .detail = {}, .figure = {}};
  EXPECT_EQ(choose({unknown, known("bounded", bound)}).taken, 1U);
}

// Figures may take their time: the only candidate is not asked for one, and the others are told what they have to beat.
TEST(Choose, AsksNoMoreThanItNeeds) {
  std::vector<double> asked;
  const auto telling = [&](const std::string& name, double seconds) {
    return Candidate{.name = name, .refusal = {}, .detail = "in 2 slices", .figure = [&asked, seconds](double best) {
                       asked.push_back(best);
                       return Figure{seconds};
                     }};
  };
  const Choice alone = choose({refusing("x", "no such primitive"), telling("only", 1e-6)});
  EXPECT_EQ(alone.reason, "only in 2 slices; not x: no such primitive");
  EXPECT_TRUE(asked.empty());
  choose({telling("first", 4e-6), telling("second", 6e-6), telling("third", 5e-6)});
  ASSERT_EQ(asked.size(), 3U);
  EXPECT_GT(asked[0], 1e9);
  EXPECT_EQ(asked[1], 4e-6);
  EXPECT_EQ(asked[2], 4e-6);
}

TEST(Choose, FiguresHaveThreeDigits) {
  EXPECT_EQ(to_string(Figure{12.345e-6}), "12.3 us estimated");
  EXPECT_EQ(to_string(Figure{999.6e-6}), "1 ms estimated");
  EXPECT_EQ(to_string(Figure{2.864e-3, FigureSource::measured}), "2.86 ms measured");
  EXPECT_EQ(to_string(Figure{1.5, FigureSource::table, true}), "1.5 s by the table at least");
}

TEST(Choose, WhereNothingCanBeTaken) {
  const Choice c = choose({refusing("a", "no"), refusing("b", "never")});
  EXPECT_FALSE(c.taken);
  EXPECT_EQ(c.reason, "not a: no; not b: never");
}

}  // namespace
}  // namespace heddle::passes
