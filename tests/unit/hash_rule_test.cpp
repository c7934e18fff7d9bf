// Numbers of texts by a hash: those that xxHash's specification gives, and which settings are refused.
#include "runtime/data/hash_rule.h"

#include <gtest/gtest.h>

#include "ir/diagnostic.h"

namespace heddle::runtime::data {
namespace {

// XXH64 with seed 0 of "" is 0xef46db3751d8e999, of "a" 0xd24ec4f1a98c6e5b, of "abc" 0x44bc2cf5ad770999.
TEST(HashRule, NumbersAreThoseOfXxHash) {
  EXPECT_EQ(hashed("", int64_t{1} << 32), 0x51d8e999);
  EXPECT_EQ(hashed("a", int64_t{1} << 32), 0xa98c6e5b);
  EXPECT_EQ(hashed("abc", int64_t{1} << 32), 0xad770999);
  EXPECT_EQ(hashed("abc", 1000), static_cast<int64_t>(0x44bc2cf5ad770999U % 1000));
  EXPECT_EQ(hashed("abc", 1), 0);
  EXPECT_EQ(hashed("", 7), static_cast<int64_t>(0xef46db3751d8e999U % 7));
}

TEST(HashRule, ColumnsThatItFits) {
  const auto ids = [](ColumnRequest column, std::vector<ReaderSetting> more = {}) {
    std::vector<ReaderSetting> settings = {{"hash", ClassNames{{"user", {"1000"}}}, {}}};
    settings.insert(settings.end(), more.begin(), more.end());
    return hash_ids({.op = "csv", .columns = {}, .settings = settings, .where = {}}, column);
  };
  const ColumnRequest user{"user", {{"u"}}, "i32", {}, 0, false, {}};
  EXPECT_EQ(ids(user), 1000);
  EXPECT_EQ(ids({"item", {{"u"}}, "f32", {}, 0, false, {}}), 0);
  EXPECT_EQ(ids({"user", {{"u"}}, "i32", {}, 1000, false, {}}), 1000);
  EXPECT_EQ(ids({"user", {{"u"}}, "f32", {}, 1000, true, {}}), 1000);
  EXPECT_THROW(ids({"user", {{"u"}}, "i32", {}, 999, false, {}}), UserError);
  EXPECT_THROW(ids({"user", {{"u"}}, "u8", {}, 0, false, {}}), UserError);
  EXPECT_THROW(ids({"user", {{"u"}}, "f32", {}, 0, false, {}}), UserError);
  EXPECT_THROW(ids(user, {{"classes", ClassNames{{"user", {}}}, {}}}), UserError);
  EXPECT_THROW(ids(user, {{"text", ClassNames{{"user", {"bytes"}}}, {}}}), UserError);
  EXPECT_EQ(ids(user, {{"classes", ClassNames{{"label", {}}}, {}}}), 1000);
}

}  // namespace
}  // namespace heddle::runtime::data
