// A sweep: what its words plan, which trials go on, what is kept of each, and what goes on from a folder.
#include "tools/driver/sweep.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

#include "ir/diagnostic.h"

namespace heddle {
namespace {

using driver::Rung;
using driver::SweepPlan;
using driver::SweepProgress;
using driver::SweepRow;
using Trials = std::vector<int64_t>;

std::string error_of(const driver::SweepRequest& request) {
  try {
    driver::plan_sweep(request);
    return "none";
  } catch (const UserError& e) {
    return e.what();
  }
}

// Hands in the rung's rows; nan: the trial has failed.
void take(SweepProgress& progress, const std::vector<double>& values) {
  const Trials left = progress.left();
  ASSERT_EQ(left.size(), values.size());
  for (size_t i = 0; i < left.size(); ++i) {
    const bool failed = values[i] != values[i];
    progress.take({left[i], failed ? std::nullopt : std::optional(values[i]), failed ? "the loss is nan" : ""});
  }
}
constexpr double kFailed = std::numeric_limits<double>::quiet_NaN();

TEST(SweepProgress, TheBestThirdGoesOnInOrder) {
  SweepProgress p({{9, 1}, {3, 3}, {1, 9}}, /*higher=*/false);
  EXPECT_EQ(p.left(), (Trials{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  take(p, {5, 4, 3, 9, 1, 8, 7, 2, 6});
  EXPECT_EQ(p.rung_number(), 1U);
  EXPECT_EQ(p.left(), (Trials{2, 4, 7}));
  take(p, {0.3, 0.2, 0.1});
  EXPECT_EQ(p.left(), (Trials{7}));
  take(p, {0.05});
  EXPECT_TRUE(p.ended());
  EXPECT_EQ(p.left(), Trials{});
  EXPECT_EQ(p.taken(), 13U);
  EXPECT_EQ(p.best()->trial, 7);
  EXPECT_EQ(p.best()->value, 0.05);
}

TEST(SweepProgress, HigherIsBetterWhereItIsSaidAndTheEarlierOfEquals) {
  SweepProgress p({{4, 1}, {2, 3}}, /*higher=*/true);
  take(p, {0.5, 0.9, 0.5, 0.1});
  EXPECT_EQ(p.left(), (Trials{0, 1}));
  take(p, {0.9, 0.9});
  EXPECT_EQ(p.best()->trial, 0);
}

// A rung with fewer survivors than the next has places; one without any, which ends the sweep.
TEST(SweepProgress, FailuresLeavePlacesEmpty) {
  SweepProgress p({{5, 1}, {3, 3}, {1, 9}}, /*higher=*/false);
  take(p, {kFailed, 2, kFailed, 1, kFailed});
  EXPECT_EQ(p.left(), (Trials{1, 3}));
  take(p, {kFailed, kFailed});
  EXPECT_TRUE(p.ended());
  EXPECT_FALSE(p.best().has_value());  // their runs are gone
  EXPECT_EQ(p.taken(), 7U);

  SweepProgress all({{2, 1}, {1, 3}}, /*higher=*/false);
  take(all, {kFailed, kFailed});
  EXPECT_TRUE(all.ended());
}

// The survivor's run is gone: the best is a trial that stopped earlier, and is there.
TEST(SweepProgress, WhoFailsLaterIsNotTheBest) {
  SweepProgress p({{3, 1}, {1, 3}}, /*higher=*/false);
  take(p, {3, 1, 2});
  EXPECT_EQ(p.best()->trial, 1);
  take(p, {kFailed});
  EXPECT_EQ(p.best()->trial, 2);
}

TEST(SweepProgress, NumbersOfTrialsNeedBeNoPower) {
  for (int64_t trials = 1; trials < 40; ++trials)
    for (const int64_t epochs : {1, 2, 5, 20}) {
      SweepProgress p(driver::halving_rungs(trials, epochs), /*higher=*/false);
      int64_t last = 0;
      while (!p.ended()) {
        EXPECT_GT(p.rung().epochs, last);
        last = p.rung().epochs;
        std::vector<double> values;
        for (const int64_t t : p.left()) values.push_back(static_cast<double>((t * 7) % 41));
        take(p, values);
      }
      EXPECT_EQ(last, epochs);
      for (int64_t t = 0; t < trials; ++t) EXPECT_LE(*p.best()->value, static_cast<double>((t * 7) % 41));
    }
}

TEST(SweepPlan, ChoosesAStrategy) {
  EXPECT_EQ(driver::plan_sweep({.vary = {"a=1,2", "b=int:1..3"}}).settings.size(), 6U);
  EXPECT_EQ(driver::plan_sweep({.vary = {"a=1,2"}, .trials = 5}).strategy, "random");
  EXPECT_EQ(driver::plan_sweep({.vary = {"a=log:1..2"}, .trials = 5}).settings.size(), 5U);
  EXPECT_NE(error_of({}).find("nothing varies"), std::string::npos);
  EXPECT_NE(error_of({.vary = {"a=log:1..2"}}).find("--strategy random needs --trials"), std::string::npos);
  EXPECT_NE(error_of({.vary = {"a=int:1..1000000000000"}}).find("more than 100000 trials"), std::string::npos);
  EXPECT_NE(error_of({.vary = {"a=int:1..1000", "b=int:1..1000"}}).find("more than 100000 trials"), std::string::npos);
  EXPECT_NE(error_of({.vary = {"a=1,2"}, .strategy = "grid", .trials = 3}).find("2 trials of its own"),
            std::string::npos);
  EXPECT_NE(error_of({.vary = {"a=1", "a=2"}}).find("a is varied twice"), std::string::npos);
  for (const char* of_all : {"train.early_stop.on=loss", "train.early_stop=null", R"(train={"steps": 1})"})
    EXPECT_NE(error_of({.vary = {of_all}}).find("says how trials are compared"), std::string::npos) << of_all;
}

TEST(SweepPlan, CountsSettingsThatComeAgain) {
  EXPECT_EQ(driver::repeated_settings(driver::plan_sweep({.vary = {"a=1,2,3"}})), 0);
  EXPECT_EQ(driver::repeated_settings(driver::plan_sweep({.vary = {"a=1"}, .trials = 4})), 3);
}

SweepPlan two_trials(const std::string& strategy) {
  SweepPlan plan = driver::plan_sweep({.vary = {"name=a b,\"c,\\\"d\\\"\""}, .strategy = strategy, .trials = 2});
  plan.settings = {{"a b"}, {R"("c,\"d\"")"}};
  return plan;
}

TEST(SweepRow, IsALineThatIsReadBack) {
  const SweepPlan plan = two_trials("halving");
  const std::string result =
      R"({"best": {"value": 0.25, "epoch": 3}, "steps": 12, "seconds": 1.5, "weights_hash": "ab"})";
  const std::string line = driver::row_text(plan, 1, 0, {result, {}});
  EXPECT_EQ(line, R"({"trial": 2, "rung": 1, "settings": {"name": "c,\"d\""}, "value": 0.25, "epoch": 3, "steps": 12, )"
                  R"("weights_hash": "ab"})");
  EXPECT_EQ(driver::read_row(plan, line, 1, 0)->value, 0.25);
  EXPECT_FALSE(driver::read_row(plan, line, 0, 0).has_value());  // of another trial
  EXPECT_FALSE(driver::read_row(plan, line, 1, 1).has_value());  // of another rung
  EXPECT_FALSE(driver::read_row(plan, R"({"trial": 2, "rung": 1})", 1, 0).has_value());
}

TEST(SweepRow, AMeasureThatIsNoNumberIsAFailure) {
  const SweepPlan plan = two_trials("random");
  for (const char* best : {R"({"best": null})", R"({"best": {"value": null, "epoch": 1}})", "{}"}) {
    const std::string line = driver::row_text(plan, 0, 0, {best, {}});
    EXPECT_EQ(line, R"({"trial": 1, "settings": {"name": "a b"}, "error": "'loss' is no finite number"})");
    EXPECT_FALSE(driver::read_row(plan, line, 0, 0)->value.has_value());
  }
}

}  // namespace
}  // namespace heddle
