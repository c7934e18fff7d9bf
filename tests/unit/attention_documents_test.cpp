// `documents` of attention as layers take them: numbers of i64, of which only equality counts.
#include <gtest/gtest.h>

#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::DType;

constexpr int64_t kRows = 3, kKeys = 7;

// Of three rows: documents one behind the other, some that come again, and one.
constexpr int64_t kNumbers[] = {0, 0, 1, 1, 1, 2, 2, 5, 5, 3, 3, 5, 0, 0, 1, 1, 1, 1, 1, 1, 1};

std::vector<double> attended(const char* dtype, const std::vector<double>& called, int64_t keys = kKeys) {
  const std::string t = std::to_string(keys);
  const std::string text = model(
      R"("x": {"shape": ["N", )" + t + R"(, 4]}, "d": {"shape": ["N", )" + t + R"(], "dtype": ")" + dtype + R"("})",
      R"({"name": "a", "op": "attention", "in": {"q": "x", "k": "x", "v": "x", "documents": "d"}, "heads": 2, "causal": true})",
      R"(, "outputs": {"a": "a"}, "train": {"batch": {"N": 3}})");
  const auto number = [&](int64_t i) { return called.at(static_cast<size_t>(kNumbers[i])); };
  ir::Tensor documents({dtype == std::string("i64") ? DType::i64 : DType::i32, {kRows, keys}});
  for (int64_t i = 0; i < kRows * keys; ++i) documents.set(i, number(i));
  return predict(
      text, {{"x", tensor({DType::f32, {kRows, keys, 4}}, [](int64_t i) { return 2 * wave(i); })}, {"d", documents}});
}

// Numbers that are equal in their last 32 bits are others all the same.
TEST(AttentionDocuments, AreAnyNumbersOf64Bits) {
  constexpr double k32 = 4294967296.0;
  const std::vector<double> small = attended("i32", {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(attended("i64", {7, 7 + k32, 3, 7 - k32, 9, 7 + 1024 * k32}), small);
  EXPECT_NE(attended("i32", {0, 0, 2, 3, 4, 5}), small);
}

TEST(AttentionDocuments, MayBeOneKey) {
  EXPECT_EQ(attended("i64", {4, 5, 6, 7, 8, 9}, 1), attended("i32", {4, 5, 6, 7, 8, 9}, 1));
}

}  // namespace
}  // namespace heddle::frontend
