// Profiles: what is written is read back, what is damaged is refused, kernels are matched by what they compute, and ncu's
// tables are read.
#include <gtest/gtest.h>

#include <limits>

#include "ir/diagnostic.h"
#include "tools/driver/ncu.h"
#include "tools/driver/profile_difference.h"
#include "tools/driver/profile_json.h"

namespace heddle::driver {
namespace {

ProfiledKernel kernel(const std::string& title, std::vector<std::string> ops, const std::string& line, double seconds) {
  ProfiledKernel k;
  k.title = title, k.symbol = "k_" + title, k.made_by = "generated";
  k.ops = std::move(ops), k.lines = {line}, k.results = "f32[4]";
  k.seconds = k.least_seconds = k.most_seconds = seconds;
  return k;
}

Profile profile(std::vector<ProfiledKernel> kernels) {
  Profile p;
  p.model = "m\"1", p.entry = "train", p.device = "host";
  p.batch = 8, p.rounds = 3, p.steps_per_round = 2, p.step_seconds = 1e-3;
  p.ceilings = {.source = "measured here",
                .flops = 1e11,
                .bandwidths = {{1 << 20, 2e11}, {std::numeric_limits<int64_t>::max(), 3e10}}};
  p.kernels = std::move(kernels);
  return p;
}

Profile read(const std::string& text) {
  const SourceFile file{"p.json", text};
  return read_profile(file);
}

TEST(Profile, IsReadAsItWasWritten) {
  Profile p = profile({kernel("mul_add", {"mul", "add"}, "m.json:3", 2e-5)});
  p.kernels[0].executions = 20, p.kernels[0].loop = "cell", p.kernels[0].counters = {{"seconds", 1e-6}};
  const std::string text = profile_json(p);
  EXPECT_TRUE(is_profile(text));
  EXPECT_EQ(profile_json(read(text)), text);
}

TEST(Profile, CutOrChangedAnywhereItIsRefusedOrRead) {
  const std::string text = profile_json(profile({kernel("mul", {"mul"}, "m.json:3", 2e-5)}));
  for (size_t n = 0; n < text.size(); ++n) EXPECT_THROW(read(text.substr(0, n)), UserError) << n;
  for (size_t i = 0; i < text.size(); ++i)
    for (const char c : {'0', '-', '"', '}', '\n', '\xff', 'e'}) {
      std::string other = text;
      other[i] = c;
      try {
        (void)profile_json(read(other));
      } catch (const UserError&) {
      }
    }
}

TEST(Profile, SumsAndWhatIsOutside) {
  const Profile p = profile({kernel("a", {"mul"}, "m.json:1", 4e-4), kernel("b", {"add"}, "m.json:2", 5e-4)});
  EXPECT_DOUBLE_EQ(p.kernel_seconds(), 9e-4);
  EXPECT_NEAR(p.outside_seconds(), 1e-4, 1e-12);
}

TEST(Profile, KernelsAreMatchedByOperatorsAndLines) {
  // Two equal kernels that change their order and numbers, one that moves in the file, one that goes, one that comes.
  const Profile before = profile({kernel("mul", {"mul"}, "m.json:1", 1e-5), kernel("mul_1", {"mul"}, "m.json:2", 2e-5),
                                  kernel("exp", {"exp"}, "m.json:3", 3e-5), kernel("log", {"log"}, "m.json:4", 4e-5)});
  const Profile after = profile({kernel("mul", {"mul"}, "m.json:2", 2e-5), kernel("mul_1", {"mul"}, "m.json:1", 6e-5),
                                 kernel("exp", {"exp"}, "m.json:9", 3e-5), kernel("abs", {"abs"}, "m.json:4", 1e-6)});
  const std::vector<KernelChange> changes = difference(before, after);
  ASSERT_EQ(changes.size(), 5u);
  EXPECT_EQ(changes[0].before->title, "mul");
  EXPECT_EQ(changes[0].after->title, "mul_1");
  EXPECT_NEAR(changes[0].seconds(), 5e-5, 1e-12);
  EXPECT_EQ(changes[1].before->title, "log");
  EXPECT_EQ(changes[1].after, nullptr);
  EXPECT_EQ(changes[2].before, nullptr);
  EXPECT_EQ(changes[2].after->title, "abs");
  for (const size_t i : {3u, 4u}) EXPECT_NEAR(changes[i].seconds(), 0, 1e-12);
}

TEST(Profile, OfADifferentSizeAKernelIsStillTheSame) {
  Profile before = profile({kernel("mul", {"mul"}, "m.json:1", 1e-5)}), after = before;
  after.kernels[0].results = "f32[8]", after.kernels[0].seconds = 2e-5;
  ASSERT_EQ(difference(before, after).size(), 1u);
  EXPECT_NEAR(difference(before, after)[0].seconds(), 1e-5, 1e-12);
}

TEST(Profile, TraceLaysKernelsEndToEndWhereNoThreadIsKnown) {
  const Profile p = profile({kernel("a", {"mul"}, "m.json:1", 4e-4), kernel("b", {"add"}, "m.json:2", 5e-4)});
  const std::string text = trace_json(p, {});
  EXPECT_TRUE(text.starts_with(kTraceHead));
  EXPECT_NE(text.find("\"name\": \"b\""), std::string::npos);
  EXPECT_NE(text.find("\"ts\": 400"), std::string::npos);
}

// What fits nearer is never slower, and nothing is free.
TEST(Peaks, AreOfThisMachine) {
  const runtime::Peaks peaks = runtime::measure_peaks(1);
  EXPECT_GT(peaks.flops, 1e8);
  ASSERT_EQ(peaks.bandwidths.size(), 3u);
  EXPECT_GE(peaks.bandwidths[0].bytes_per_second, peaks.bandwidths[1].bytes_per_second);
  EXPECT_GE(peaks.bandwidths[1].bytes_per_second, peaks.bandwidths[2].bytes_per_second);
  EXPECT_GT(peaks.bandwidths[2].bytes_per_second, 1e7);
}

constexpr const char* kTable =
    "==PROF== Connected\n\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\",\"smsp__inst_executed.sum\"\n"
    "\"\",\"\",\"ns\",\"inst\"\n"
    "\"0\",\"k_a(int, float)\",\"1,500\",\"10\"\n\"1\",\"k_a(int, "
    "float)\",\"1,700\",\"10\"\n\"2\",\"k_a\",\"9,000\",\"n/a\"\n";

TEST(Ncu, TablesGiveMediansByKernel) {
  const auto counters = parse_ncu(kTable);
  ASSERT_EQ(counters.size(), 1u);
  EXPECT_NEAR(counters.at("k_a").at("seconds"), 1.7e-6, 1e-12);
  EXPECT_EQ(counters.at("k_a").at("instructions"), 10);
}

TEST(Ncu, WhatIsNoTableIsRefused) {
  const std::string table = kTable;
  for (const std::string& text :
       {std::string(), std::string("==ERROR== no counters\n"), table.substr(0, table.find("\"0\"")),
        std::string("\"ID\",\"Kernel Name\"\n\"\",\"\"\n\"0\",\"k\"\n")})
    EXPECT_THROW(parse_ncu(text), UserError) << text;
  for (size_t n = 0; n < table.size(); ++n) {
    try {
      (void)parse_ncu(table.substr(0, n));
    } catch (const UserError&) {
    }
  }
}

}  // namespace
}  // namespace heddle::driver
