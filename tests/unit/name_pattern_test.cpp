// Patterns of names: what they hold, what they make of it, and which are refused.
#include "frontend/name_pattern.h"

#include <gtest/gtest.h>

namespace heddle::frontend {
namespace {

NamePattern pattern(const std::string& text) { return read_name_pattern(text, {}, "weights"); }

std::string renamed(const std::string& from, const std::string& to, const std::string& name) {
  const auto held = match(pattern(from), name);
  return held ? fill(pattern(to), *held) : "no match";
}

TEST(NamePattern, HoldsWholeParts) {
  EXPECT_EQ(renamed("h.{i}.c_fc.{p}", "layers.{i}.fc.{p}", "h.11.c_fc.bias"), "layers.11.fc.bias");
  EXPECT_EQ(renamed("{a}.{b}", "{b}.{a}", "x.y"), "y.x");
  EXPECT_EQ(renamed("wte.weight", "emb.weight", "wte.weight"), "emb.weight");
  for (const char* other : {"h.1.c_fc", "h.1.c_fc.bias.x", "g.1.c_fc.bias", "h.1.c_fcx.bias", ""})
    EXPECT_EQ(renamed("h.{i}.c_fc.{p}", "layers.{i}.fc.{p}", other), "no match") << other;
}

TEST(NamePattern, IsRefusedWithItsReason) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      pattern(text);
    } catch (const UserError& error) {
      return error.diagnostics().front().message;
    }
    return "taken";
  };
  EXPECT_EQ(refusal("h..w"), "weights: 'h..w' has an empty part");
  EXPECT_EQ(refusal(""), "weights: '' has an empty part");
  EXPECT_EQ(refusal("h.x{i}.w"), "weights: 'h.x{i}.w' has a brace inside a part");
  EXPECT_EQ(refusal("h.{}.w"), "weights: 'h.{}.w' has a brace inside a part");
  EXPECT_EQ(refusal("h.{1}.w"), "weights: 'h.{1}.w' holds a part without a name");
  EXPECT_EQ(refusal("{i}.{i}"), "weights: '{i}.{i}' holds 'i' twice");
  EXPECT_EQ(refusal("h.{i}.w"), "taken");
}

TEST(Glob, StarsAndMarks) {
  EXPECT_TRUE(glob("h.*.attn.bias", "h.3.attn.bias"));
  EXPECT_TRUE(glob("*", ""));
  EXPECT_TRUE(glob("a?c*", "abcd"));
  EXPECT_FALSE(glob("h.*.bias", "h.3.weight"));
  EXPECT_FALSE(glob("?", ""));
}

}  // namespace
}  // namespace heddle::frontend
