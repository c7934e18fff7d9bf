// Mean and variance of batch_norm on data on which sums of squares lose them: the kernel against sums in long double.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "ir/builder.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

using namespace ir;

constexpr int64_t kRows = 4099, kChannels = 5;

struct Data {
  const char* name;
  std::function<double(int64_t row, double normal)> value;
};

const std::vector<Data>& all_data() {
  static const std::vector<Data> kAll = {
      {"normal", [](int64_t, double normal) { return normal; }},
      {"far_from_0", [](int64_t, double normal) { return 1e4 + normal; }},
      {"farther", [](int64_t, double normal) { return -3e6 + normal; }},  // a float's spacing there is a quarter
      {"first_far_from_others", [](int64_t row, double normal) { return row == 0 ? 1e5 : normal; }},
      {"last_far_from_others", [](int64_t row, double normal) { return row == kRows - 1 ? -1e8 : normal; }},
      {"small", [](int64_t, double normal) { return 1e-18 * normal; }},
      {"equal", [](int64_t, double) { return 3.7; }},
      {"two_values", [](int64_t row, double) { return row % 2 == 0 ? 1e6 : 1e6 + 0.0625; }}};
  return kAll;
}

Tensor filled(const Data& data) {
  Tensor x({DType::f32, {kRows, kChannels}});
  std::mt19937 engine(1);
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < x.elements(); ++i) x.set(i, static_cast<float>(data.value(i / kChannels, normal(engine))));
  return x;
}

Evaluation statistics_of(const Tensor& x) {
  Module module;
  Graph& g = module.graphs.emplace_back();
  g.name = "statistics";
  const Type channels{DType::f32, {kChannels}};
  Builder b(g);
  const ValueId in = g.add_input("x", x.type, Role::input), scale = g.add_input("scale", channels, Role::input),
                bias = g.add_input("bias", channels, Role::input);
  const Values results = b.multi("normalize", {in, scale, bias}, {{"axes", Dims{0}}});
  g.outputs = {results[1], results[2]};
  Tensor one(channels);
  std::fill(one.real.begin(), one.real.end(), 1.0);
  return HostRun(module, "statistics", {.threads = 2})({{"x", x}, {"scale", one}, {"bias", one}});
}

class Statistics : public ::testing::TestWithParam<Data> {};

TEST_P(Statistics, AreThoseOfLongSums) {
  const Tensor x = filled(GetParam());
  const Evaluation got = statistics_of(x);
  for (int64_t c = 0; c < kChannels; ++c) {
    long double mean = 0, variance = 0, squares = 0;
    for (int64_t row = 0; row < kRows; ++row) mean += static_cast<long double>(x.at(row * kChannels + c));
    mean /= kRows;
    for (int64_t row = 0; row < kRows; ++row) {
      const long double distance = static_cast<long double>(x.at(row * kChannels + c)) - mean;
      variance += distance * distance;
      squares +=
          static_cast<long double>(x.at(row * kChannels + c)) * static_cast<long double>(x.at(row * kChannels + c));
    }
    variance /= kRows;
    squares /= kRows;
    // Half a unit of a float, and no more than distances to a mean that is rounded to a float lose: its error's square.
    const double lost = 0x1p-48 * static_cast<double>(squares);
    const auto expected_mean = static_cast<double>(mean), expected = static_cast<double>(variance);
    EXPECT_NEAR(got.outputs[0].at(c), expected_mean, 0x1p-24 * std::abs(expected_mean) + 1e-12 * std::sqrt(expected));
    EXPECT_NEAR(got.outputs[1].at(c), expected, 0x1.01p-24 * expected + lost);
  }
}

INSTANTIATE_TEST_SUITE_P(Data, Statistics, ::testing::ValuesIn(all_data()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace heddle::testing
