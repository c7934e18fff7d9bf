#include "ir/keys/key.h"

#include <gtest/gtest.h>

#include "ir/keys/key_text.h"

namespace heddle::ir {
namespace {

Key real(KeyRange range) { return {.name = "k", .type = KeyType::real, .range = range}; }
Key whole(KeyRange range) { return {.name = "k", .range = range}; }

TEST(Key, RangesHoldTheirBoundsUnlessTheySayOtherwise) {
  EXPECT_TRUE(between(1, 8).holds(1) && between(1, 8).holds(8));
  EXPECT_FALSE(between(1, 8).holds(0) || between(1, 8).holds(9));
  EXPECT_TRUE(kShare.holds(0) && kNotNegative.holds(0));
  EXPECT_FALSE(kShare.holds(1) || kAboveZero.holds(0));
  EXPECT_TRUE(KeyRange().holds(-1e300));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(kShare.holds(nan) || kAboveZero.holds(nan));
}

TEST(Key, SaysHowANumberMissesItsRange) {
  EXPECT_EQ(range_fault(whole(at_least(1)), 1, "1"), "");
  EXPECT_EQ(range_fault(whole(at_least(1)), 0, "0"), "must be at least 1, is 0");
  EXPECT_EQ(range_fault(whole(between(1, 8)), 9, "9"), "must be between 1 and 8, is 9");
  EXPECT_EQ(range_fault(whole(kNotNegative), -1, "-1"), "must not be negative, is -1");
  EXPECT_EQ(range_fault(real(between(0, 1)), 1.5, "1.5"), "must lie in [0, 1], is 1.5");
  EXPECT_EQ(range_fault(real(kShare), 1, "1"), "must lie in [0, 1), is 1");
  EXPECT_EQ(range_fault(real(kAboveZero), 0, "0"), "must be above 0, is 0");
  EXPECT_EQ(range_fault(real(as_f32(kAboveZero)), 1e300, "1e300"), "must be an f32 above 0, is 1e300");
  EXPECT_EQ(range_fault(real(as_f32(kNotNegative)), 1e300, "1e300"), "is not an f32: 1e300");
  EXPECT_EQ(range_fault(real(as_f32({})), -1e300, "-1e300"), "is not an f32: -1e300");
}

TEST(Key, SaysWhatItTakes) {
  EXPECT_EQ(expected_text({.name = "k"}), "an integer");
  EXPECT_EQ(expected_text({.name = "k", .count = Count::several}), "an integer or a list of integers");
  EXPECT_EQ(expected_text({.name = "k", .type = KeyType::word, .count = Count::several}),
            "a name or an index, or a list of them");
  EXPECT_EQ(expected_text({.name = "k", .type = KeyType::part, .count = Count::list}), "a list");
  EXPECT_EQ(type_text({.name = "k", .type = KeyType::text, .words = {"min", "max"}}), "min, max");
}

TEST(Key, ShowsItsDefault) {
  EXPECT_EQ(default_text({.name = "k", .fallback = int64_t{5}}), "5");
  EXPECT_EQ(default_text({.name = "k", .doc = "one number or [h, w]: the window"}), "the window");
  EXPECT_EQ(default_text({.name = "k", .doc = "indices: all", .required = true}), "");
}

TEST(Key, HoldsAttributesOfItsType) {
  const Key axes = {.name = "axes", .count = Count::several}, dtype = {.name = "dtype", .type = KeyType::dtype};
  EXPECT_TRUE(holds(axes, std::vector<int64_t>{1}) && holds(dtype, std::string("f32")));
  EXPECT_FALSE(holds(axes, int64_t{1}) || holds(dtype, 1.0) || holds(whole({}), true));
  EXPECT_EQ(attribute_type(axes), "integers");
}

}  // namespace
}  // namespace heddle::ir
