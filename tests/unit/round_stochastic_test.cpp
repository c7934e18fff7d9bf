// Rounding of parameters to bf16 by a draw: the preamble's function beside the oracle, and what both promise.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#define HD_HOST
#define heddle_prepare_thread heddle_prepare_thread_of_rounding  // the preamble defines it: once in a program
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#include "codegen/device/1_target.cuh"
#include "codegen/device/2_types.cuh"
#include "codegen/device/3_math.cuh"
#include "codegen/device/4_random.cuh"
#include "ir/op_def.h"

namespace heddle {
namespace {

float from_bits(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t bits_of(float x) { return std::bit_cast<uint32_t>(x); }

double oracle(float x, float uniform) {
  const ir::OpDef& op = ir::op_def("round_stochastic");
  const ir::Type type{ir::DType::f32, {}};
  ir::Tensor a(type), b(type);
  a.real[0] = x, b.real[0] = uniform;
  ir::Signature s{.op = &op, .attrs = {}, .operands = {type, type}, .results = {}};
  s.results = op.infer(s);
  const ir::Tensor* operands[] = {&a, &b};
  return op.eval(s, operands)[0].real[0];
}

bool is_bf16(float x) { return (bits_of(x) & 0xffffU) == 0; }

TEST(RoundStochastic, IsTheOracleBitForBit) {
  std::mt19937 rng(3);
  std::uniform_real_distribution<float> uniform(0, 1);
  for (int i = 0; i < 200000; ++i) {
    const float x = from_bits(rng()), u = uniform(rng);
    const float got = hd::stochastic_bf16(x, u);
    const double expected = oracle(x, u);
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(got) && std::isnan(expected));
      continue;
    }
    ASSERT_EQ(bits_of(got), bits_of(static_cast<float>(expected))) << x << " " << u;
    ASSERT_TRUE(is_bf16(got));
  }
}

// Of 2^16 draws, each once, as many go up as the number lies above the lower neighbour: the mean is the number itself.
TEST(RoundStochastic, AllDrawsTogetherAreUnbiased) {
  for (const float x : {1.2345678F, -0.001F, 3e-39F, -1.17e-38F, 65504.7F, from_bits(0x3f80ffffU)}) {
    double sum = 0;
    for (int i = 0; i < 65536; ++i) sum += hd::stochastic_bf16(x, static_cast<float>(i) * 0x1p-16F);
    EXPECT_EQ(sum / 65536, static_cast<double>(x));
  }
}

// As a step draws: the mean of n roundings lies within 5 sigma of the number, for many numbers and streams.
TEST(RoundStochastic, MeansLieWithinFiveSigma) {
  constexpr int kDraws = 100000;
  std::mt19937 rng(5);
  std::uniform_real_distribution<float> number(-2, 2);
  for (int k = 0; k < 20; ++k) {
    const float x = number(rng), low = from_bits(bits_of(x) & 0xffff0000U),
                high = low + (from_bits((bits_of(x) & 0xffff0000U) + 0x10000U) - low);
    double sum = 0;
    for (int i = 0; i < kDraws; ++i) sum += hd::stochastic_bf16(x, hd::random_uniform<float>(7, k, 11, hd::i64(i)));
    const double share = (static_cast<double>(x) - low) / (static_cast<double>(high) - low);
    const double sigma = std::abs(static_cast<double>(high) - low) * std::sqrt(share * (1 - share) / kDraws);
    EXPECT_LE(std::abs(sum / kDraws - x), 5 * sigma) << x;
  }
}

TEST(RoundStochastic, WhatBf16HoldsStays) {
  for (uint32_t word = 0; word < 0x10000U; ++word) {
    const float x = from_bits(word << 16);
    if (std::isnan(x)) continue;
    for (const float u : {0.0F, 0.5F, 0x1.fffffep-1F}) {
      ASSERT_EQ(bits_of(hd::stochastic_bf16(x, u)), word << 16);
      ASSERT_EQ(bits_of(static_cast<float>(oracle(x, u))), word << 16);
    }
  }
}

TEST(RoundStochastic, WhatIsNotFiniteStaysAndOverflowsAreThoseOfTheNearest) {
  const float largest = from_bits(0x7f7f0000U), infinity = std::numeric_limits<float>::infinity();
  for (const float u : {0.0F, 0.5F, 0x1.fffffep-1F}) {
    EXPECT_TRUE(std::isnan(hd::stochastic_bf16(std::nanf(""), u)));
    EXPECT_EQ(hd::stochastic_bf16(infinity, u), infinity);
    EXPECT_EQ(hd::stochastic_bf16(-infinity, u), -infinity);
    EXPECT_EQ(hd::stochastic_bf16(from_bits(0x7f7f7fffU), u), largest);  // nearer to it than to what comes behind
    EXPECT_EQ(hd::stochastic_bf16(from_bits(0x7f7f8000U), u), infinity);
    EXPECT_EQ(hd::stochastic_bf16(from_bits(0xff7f8000U), u), -infinity);
    EXPECT_LE(hd::stochastic_bf16(from_bits(0x7f7effffU), u), largest);
  }
}

// What is no number of [0, 1) counts as the nearest that a draw may be.
TEST(RoundStochastic, DrawsOutsideOfTheIntervalCountAsItsEnds) {
  const float x = 1.0F + 0x1p-8F;
  for (const float u : {-1.0F, std::nanf("")}) EXPECT_EQ(hd::stochastic_bf16(x, u), hd::stochastic_bf16(x, 0.0F));
  for (const float u : {1.0F, 7.0F}) EXPECT_EQ(hd::stochastic_bf16(x, u), hd::stochastic_bf16(x, 0x1.fffep-1F));
}

}  // namespace
}  // namespace heddle
