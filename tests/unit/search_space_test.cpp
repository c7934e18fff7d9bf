// What a sweep varies: how it is written, the grid, the draws, the rungs of halving.
#include "tools/driver/search_space.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "ir/diagnostic.h"

namespace heddle {
namespace {

using driver::parse_variable;
using driver::Setting;

TEST(SearchSpace, ListsAndRangesAreRead) {
  EXPECT_EQ(parse_variable("let.width=32,64").values, (std::vector<std::string>{"32", "64"}));
  // Commas within JSON separate nothing.
  EXPECT_EQ(parse_variable(R"(a.b=[1,2],{"c": "x,y"})").values, (std::vector<std::string>{"[1,2]", R"({"c": "x,y"})"}));
  const driver::Variable lr = parse_variable("train.optimizer.lr=log:1e-4..1e-1");
  EXPECT_EQ(lr.path, "train.optimizer.lr");
  EXPECT_EQ(lr.low, 1e-4);
  EXPECT_EQ(lr.high, 1e-1);
  EXPECT_EQ(parse_variable("let.n=int:-2..3").first, -2);
  // Spaces around a value are none of it, those within are.
  EXPECT_EQ(parse_variable(R"(a= 1, b c ," d ,")").values, (std::vector<std::string>{"1", "b c", "\" d ,\""}));
  EXPECT_EQ(parse_variable("a=b=c,d'e").values, (std::vector<std::string>{"b=c", "d'e"}));
  EXPECT_EQ(parse_variable("a=1,true,\"1\"").values.size(), 3U);
}

TEST(SearchSpace, FaultsAreNamed) {
  const auto error = [](const std::string& text) -> std::string {
    try {
      parse_variable(text);
      return "none";
    } catch (const UserError& e) {
      return e.what();
    }
  };
  EXPECT_NE(error("let.n").find("expected path=values"), std::string::npos);
  EXPECT_NE(error("a=log:0..1").find("begins above 0"), std::string::npos);
  EXPECT_NE(error("a=lgo:1..2").find("did you mean 'log'?"), std::string::npos);
  EXPECT_NE(error("a=log:1").find("low..high"), std::string::npos);
  EXPECT_NE(error("a=int:1..2.5").find("'2.5' is no whole number"), std::string::npos);
  EXPECT_NE(error("a=linear:2..1").find("not less"), std::string::npos);
  EXPECT_NE(error("a=linear:nan..1").find("no finite number"), std::string::npos);
  EXPECT_NE(error("a=1,,2").find("between two commas"), std::string::npos);
  EXPECT_NE(error("a=").find("no value"), std::string::npos);
  EXPECT_NE(error("a=1,1").find("twice"), std::string::npos);
  EXPECT_NE(error("a=0.1,1e-1").find("0.1 and 1e-1 are one value"), std::string::npos);
  EXPECT_NE(error("a=1,1.0").find("one value"), std::string::npos);
  EXPECT_NE(error(R"(a=sgd,"sgd")").find("one value"), std::string::npos);
  EXPECT_NE(error(R"(a={"x": [1,  2]}, {"x":[1,2]})").find("one value"), std::string::npos);
  EXPECT_NE(error(R"(a=b,"c)").find("a quote is not closed"), std::string::npos);
  EXPECT_NE(error(R"(a={"op": "sgd")").find("a bracket is not closed"), std::string::npos);
  EXPECT_NE(error("a=1],2").find("']' closes nothing"), std::string::npos);
  for (const char* range :
       {"-1..1", "0..1", "1..1", "1..0.1", "inf..1", "1e-3..inf", "nan..1", "1e-400..1", "..1", "1.."})
    EXPECT_NE(error(std::string("a=log:") + range), "none") << range;
  EXPECT_NE(error("a=linear:-1e308..1e308").find("too wide"), std::string::npos);
  EXPECT_NE(error("a=int:-9223372036854775808..9223372036854775807").find("2^53"), std::string::npos);
}

TEST(SearchSpace, AGridChangesTheLastFastest) {
  const std::vector<driver::Variable> v{parse_variable("a=x,y"), parse_variable("b=int:1..3")};
  EXPECT_EQ(driver::grid_size(v), 6);
  EXPECT_EQ(driver::grid(v),
            (std::vector<Setting>{{"x", "1"}, {"x", "2"}, {"x", "3"}, {"y", "1"}, {"y", "2"}, {"y", "3"}}));
  EXPECT_EQ(driver::grid_size({parse_variable("a=log:1..2")}), std::nullopt);
  EXPECT_EQ(driver::grid_size({parse_variable("a=int:0..9000000000")}), std::nullopt);
}

TEST(SearchSpace, DrawsAreFunctionsOfSeedAndTrial) {
  const std::vector<driver::Variable> v{parse_variable("a=log:1e-4..1e-1"), parse_variable("b=int:1..3"),
                                        parse_variable("c=x,y,z"), parse_variable("d=linear:-1..1")};
  const std::vector<Setting> drawn = driver::drawn(v, 3000, 7), fewer = driver::drawn(v, 10, 7);
  for (size_t i = 0; i < fewer.size(); ++i) EXPECT_EQ(drawn[i], fewer[i]);
  EXPECT_NE(driver::drawn(v, 10, 8), fewer);
  int64_t small = 0, ones = 0, xs = 0;
  double sum = 0;
  for (const Setting& s : drawn) {
    const double a = std::strtod(s[0].c_str(), nullptr), d = std::strtod(s[3].c_str(), nullptr);
    EXPECT_TRUE(a >= 1e-4 && a <= 1e-1 && d >= -1 && d <= 1);
    small += a < 1e-3 ? 1 : 0, ones += s[1] == "1" ? 1 : 0, xs += s[2] == "x" ? 1 : 0, sum += d;
  }
  // A third of each, +- five deviations of 26; the mean of 3,000 of [-1, 1] deviates by 0.011.
  for (const int64_t n : {small, ones, xs}) EXPECT_NEAR(static_cast<double>(n), 1000, 130);
  EXPECT_NEAR(sum / 3000, 0, 0.06);
}

TEST(SearchSpace, HalvingKeepsAThirdForThreeTimesAsLong) {
  const auto rungs = [](int64_t trials, int64_t epochs) {
    std::vector<std::pair<int64_t, int64_t>> all;
    for (const driver::Rung& r : driver::halving_rungs(trials, epochs)) all.emplace_back(r.trials, r.epochs);
    return all;
  };
  using Rungs = std::vector<std::pair<int64_t, int64_t>>;
  EXPECT_EQ(rungs(30, 27), (Rungs{{30, 1}, {10, 3}, {3, 9}, {1, 27}}));
  EXPECT_EQ(rungs(30, 9), (Rungs{{30, 1}, {3, 3}, {1, 9}}));  // of two rungs of one epoch the first stays
  EXPECT_EQ(rungs(2, 5), (Rungs{{2, 5}}));
  EXPECT_EQ(rungs(9, 1), (Rungs{{9, 1}}));
  EXPECT_EQ(rungs(7, 20), (Rungs{{7, 6}, {2, 20}}));
  EXPECT_EQ(rungs(1, 4), (Rungs{{1, 4}}));
}

}  // namespace
}  // namespace heddle
