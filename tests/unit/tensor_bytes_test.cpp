#include "ir/evaluate/tensor_bytes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace heddle::ir {
namespace {

std::vector<std::byte> bytes(std::initializer_list<int> list) {
  std::vector<std::byte> out;
  for (const int b : list) out.push_back(static_cast<std::byte>(b));
  return out;
}

// The bits stand in IEEE 754 for f16; bf16 is the upper half of f32.
TEST(TensorBytes, NarrowFloats) {
  const Tensor half =
      from_bytes({DType::f16, {5}}, bytes({0x00, 0x3c, 0x01, 0x00, 0xff, 0x7b, 0x00, 0xfc, 0x00, 0x80}));
  EXPECT_EQ(half.real, (std::vector<double>{1, 0x1p-24, 65504, -INFINITY, 0}));
  EXPECT_TRUE(std::signbit(half.real[4]));
  const Tensor brain = from_bytes({DType::bf16, {3}}, bytes({0x80, 0x3f, 0x01, 0x00, 0x49, 0xc0}));
  EXPECT_EQ(brain.real, (std::vector<double>{1, 0x1p-133, -3.140625}));
}

TEST(TensorBytes, IntegersKeepTheirSign) {
  const auto first = [](DType dtype, std::initializer_list<int> list) {
    return from_bytes({dtype, {1}}, bytes(list)).integer.at(0);
  };
  EXPECT_EQ(first(DType::i8, {0xff}), -1);
  EXPECT_EQ(first(DType::u8, {0xff}), 255);
  EXPECT_EQ(first(DType::boolean, {0x02}), 1);
  EXPECT_EQ(first(DType::i16, {0xfe, 0xff}), -2);
  EXPECT_EQ(first(DType::u16, {0xfe, 0xff}), 65534);
  EXPECT_EQ(first(DType::i32, {0x00, 0x00, 0x00, 0x80}), -2147483648LL);
  EXPECT_EQ(first(DType::u32, {0x00, 0x00, 0x00, 0x80}), 2147483648LL);
  EXPECT_EQ(first(DType::i64, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}), INT64_MAX);
}

// Every pattern of 16 bits comes back, but for the payloads of nan.
TEST(TensorBytes, EveryNarrowPatternReturns) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::i16, DType::u16}) {
    std::vector<uint16_t> patterns(65536);
    for (size_t i = 0; i < patterns.size(); ++i) patterns[i] = static_cast<uint16_t>(i);
    const Tensor t = from_bytes({dtype, {65536}}, std::as_bytes(std::span(patterns)));
    const std::vector<std::byte> back = to_bytes(t);
    for (size_t i = 0; i < patterns.size(); ++i) {
      uint16_t got = 0;
      std::memcpy(&got, back.data() + 2 * i, sizeof got);
      const bool nan = t.floating() && std::isnan(t.real[i]);
      if (nan) {
        EXPECT_TRUE(std::isnan(from_bytes({dtype, {1}}, std::span(back).subspan(2 * i, 2)).real[0])) << i;
      } else {
        EXPECT_EQ(got, patterns[i]) << to_string(dtype);
      }
    }
  }
}

TEST(TensorBytes, ValuesAreRounded) {
  Tensor t({DType::f16, {2}});
  t.real = {1.0001, 70000};
  EXPECT_EQ(to_bytes(t), bytes({0x00, 0x3c, 0x00, 0x7c}));  // to 1, and to infinity
}

}  // namespace
}  // namespace heddle::ir
