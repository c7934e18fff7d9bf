// Which token is drawn from logits.
#include "runtime/text/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

namespace heddle::runtime::text {
namespace {

constexpr int kDraws = 20000;

std::map<uint32_t, int> drawn(const Sampling& sampling, const std::vector<float>& logits,
                              const std::vector<uint32_t>& text = {}) {
  Sampler sampler(sampling);
  std::map<uint32_t, int> counts;
  for (int i = 0; i < kDraws; ++i)
    ++counts[sampler.draw(logits, text, {.sample = 0, .place = static_cast<uint64_t>(i)}).token];
  return counts;
}

// The counts of independent draws with these shares, four deviations at most away.
void expect_shares(const std::map<uint32_t, int>& counts, const std::vector<double>& shares) {
  for (uint32_t token = 0; token < shares.size(); ++token) {
    const double share = shares[token], deviation = std::sqrt(kDraws * share * (1 - share));
    const auto found = counts.find(token);
    EXPECT_NEAR(found == counts.end() ? 0 : found->second, kDraws * share, 4 * deviation) << "token " << token;
  }
}

std::vector<float> logs(const std::vector<double>& shares) {
  std::vector<float> logits;
  logits.reserve(shares.size());
  for (const double share : shares) logits.push_back(static_cast<float>(std::log(share) + 2));
  return logits;
}

TEST(Sampler, DrawsByTheSoftmax) {
  const std::vector<double> shares = {0.1, 0.4, 0.05, 0.45};
  expect_shares(drawn({.seed = 1}, logs(shares)), shares);
  EXPECT_NE(drawn({.seed = 1}, logs(shares)), drawn({.seed = 2}, logs(shares)));
}

TEST(Sampler, DividesLogitsByTheTemperature) {
  // Squares of the shares: 0.01, 0.16, 0.0025, 0.2025; their sum is 0.375.
  expect_shares(drawn({.temperature = 0.5}, logs({0.1, 0.4, 0.05, 0.45})),
                {0.01 / 0.375, 0.16 / 0.375, 0.0025 / 0.375, 0.2025 / 0.375});
}

// Near 0 it is the likeliest token, of equal ones each: what logits become over such a number is infinite.
TEST(Sampler, TakesTheLikeliestAtTinyTemperatures) {
  for (const double temperature : {1e-300, 1e-310, std::numeric_limits<double>::denorm_min()}) {
    Sampler sampler({.temperature = temperature});
    EXPECT_EQ(sampler.draw(std::vector<float>{1, -3, 3, 2}, {}, {}).token, 2U);
    EXPECT_EQ(sampler.draw(std::vector<float>{-1, -3, -0.5F, -0.25F}, {}, {}).token, 3U);
    expect_shares(drawn({.temperature = temperature}, {-1, 4, 4, 2}), {0, 0.5, 0.5, 0});
  }
}

TEST(Sampler, TakesTheLowestOfTheLikeliestWithoutTemperature) {
  Sampler sampler({.temperature = 0});
  EXPECT_EQ(sampler.draw(std::vector<float>{1, 3, 3, 2}, {}, {}).token, 1U);
  EXPECT_EQ(sampler.draw(std::vector<float>{5}, {}, {}).token, 0U);
  EXPECT_EQ(sampler.draw(std::vector<float>{0, 0, 0}, {}, {}).token, 0U);
  EXPECT_EQ(sampler.draw(std::vector<float>{-1, -2, -0.5F}, {}, {}).token, 2U);
}

// Of equal ones at the border the lowest stay.
TEST(Sampler, KeepsTheTopK) {
  expect_shares(drawn({.top_k = 2}, logs({0.1, 0.4, 0.05, 0.45})), {0, 0.4 / 0.85, 0, 0.45 / 0.85});
  expect_shares(drawn({.top_k = 2}, logs({0.2, 0.2, 0.4, 0.2})), {0.2 / 0.6, 0, 0.4 / 0.6, 0});
  EXPECT_EQ(drawn({.top_k = 1}, logs({0.2, 0.4, 0.4})).size(), 1U);
  EXPECT_EQ(drawn({.top_k = 1}, logs({0.2, 0.4, 0.4})).begin()->first, 1U);
  expect_shares(drawn({.top_k = 9}, logs({0.5, 0.5})), {0.5, 0.5});
}

// The fewest that reach the probability: what reaches it exactly is enough, and one token always stays.
TEST(Sampler, KeepsTheTopP) {
  expect_shares(drawn({.top_p = 0.75}, {2, 2, 2, 2}), {1.0 / 3, 1.0 / 3, 1.0 / 3, 0});  // quarters are exact
  expect_shares(drawn({.top_p = 0.76}, {2, 2, 2, 2}), {0.25, 0.25, 0.25, 0.25});
  expect_shares(drawn({.top_p = 0.5}, logs({0.1, 0.4, 0.05, 0.45})), {0, 0.4 / 0.85, 0, 0.45 / 0.85});
  EXPECT_EQ(drawn({.top_p = 1e-9}, logs({0.2, 0.5, 0.3})).size(), 1U);
  EXPECT_EQ(drawn({.top_p = 1e-9}, logs({0.2, 0.5, 0.3})).begin()->first, 1U);
  // Many tokens, of which the sort takes parts: 300 of 1,000 equal ones.
  const auto counts = drawn({.top_p = 0.2999}, std::vector<float>(1000, 1));
  EXPECT_EQ(counts.size(), 300U);
  EXPECT_EQ(counts.rbegin()->first, 299U);
}

// After top_k, of what is left.
TEST(Sampler, KeepsTheTopPOfTheTopK) {
  // 0.4 and 0.45 are left, 0.47 and 0.53 of them.
  EXPECT_EQ(drawn({.top_k = 2, .top_p = 0.5}, logs({0.1, 0.4, 0.05, 0.45})).size(), 1U);
}

TEST(Sampler, MakesTokensOfTheTextLessLikely) {
  Sampler sampler({.temperature = 0, .repetition_penalty = 2});
  EXPECT_EQ(sampler.draw(std::vector<float>{3, 2, -1}, std::vector<uint32_t>{0}, {}).token, 1U);
  // Once, however often it is there: 3 / 2 is above 1.
  EXPECT_EQ(sampler.draw(std::vector<float>{3, 1, -1}, std::vector<uint32_t>{0, 0, 0, 9}, {}).token, 0U);
  EXPECT_EQ(sampler.draw(std::vector<float>{-1, -1.5F}, std::vector<uint32_t>{0}, {}).token, 1U);
}

// By the model, whatever the selection makes of it.
TEST(Sampler, TellsTheLogProbability) {
  const std::vector<float> logits = logs({0.1, 0.4, 0.05, 0.45});
  for (const Sampling& sampling : {Sampling{.temperature = 0}, Sampling{.temperature = 3, .top_k = 1},
                                   Sampling{.top_p = 0.01}, Sampling{.top_k = 1, .repetition_penalty = 1.01}})
    EXPECT_NEAR(Sampler(sampling).draw(logits, std::vector<uint32_t>{0}, {}).log_probability, std::log(0.45), 1e-6);
}

TEST(Sampler, IsAFunctionOfSeedSampleAndPlace) {
  EXPECT_EQ(draw_uniform(1, {2, 3}), draw_uniform(1, {2, 3}));
  EXPECT_NE(draw_uniform(1, {2, 3}), draw_uniform(1, {3, 2}));
  EXPECT_NE(draw_uniform(1, {2, 3}), draw_uniform(2, {2, 3}));
  for (uint64_t i = 0; i < 1000; ++i) {
    EXPECT_GE(draw_uniform(i, {i, i}), 0);
    EXPECT_LT(draw_uniform(i, {i, i}), 1);
  }
}

// Logits far apart: what is beyond the range of exp has no share.
TEST(Sampler, TakesLogitsOfAnySize) {
  const float most = std::numeric_limits<float>::max();
  for (const double temperature : {0.0, 0.01, 1.0, 100.0}) {
    const Drawn one = Sampler({.temperature = temperature}).draw(std::vector<float>{-most, most, 0}, {}, {});
    EXPECT_EQ(one.token, 1U);
    EXPECT_EQ(one.log_probability, 0);
  }
}

}  // namespace
}  // namespace heddle::runtime::text
