// Which rows an expression over columns takes, and where its faults are.
#include "runtime/data/row_condition.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

namespace heddle::runtime::data {
namespace {

using Numbers = std::map<std::string, double>;
using Texts = std::map<std::string, std::string>;

const Numbers kNumbers = {{"size", 3}, {"petal width", 0.5}, {"none", 0}, {"x", -2}};
const Texts kTexts = {{"kind", "dog"}, {"name", "it's"}, {"empty", ""}};

size_t find(std::vector<std::string>& names, const std::string& name, const Location& where) {
  if (!kNumbers.contains(name) && !kTexts.contains(name) && name != "gone")
    throw UserError(where, "there is no column '" + name + "'");
  names.push_back(name);
  return names.size() - 1;
}

bool takes(const std::string& text) {
  std::vector<std::string> names;
  const RowCondition condition(
      text, {}, [&](const std::string& name, const Location& where) { return find(names, name, where); });
  const auto fail = [](const std::string& what) { throw UserError(Location{}, what); };
  return condition.holds({.number =
                              [&](size_t column) {
                                const auto found = kNumbers.find(names.at(column));
                                if (found == kNumbers.end()) fail("is no number");
                                return found->second;
                              },
                          .text =
                              [&](size_t column) {
                                const auto found = kTexts.find(names.at(column));
                                if (found == kTexts.end()) fail("is no text");
                                return found->second;
                              },
                          .missing = [&](size_t column) { return names.at(column) == "gone"; },
                          .fail = fail});
}

// "COLUMN MESSAGE", where the column counts from 1 at the opening quote.
std::string fault(const std::string& text) {
  const SourceFile file{"m.json", "\"" + text + "\""};
  std::vector<std::string> names;
  try {
    RowCondition(text, {&file, 0, static_cast<uint32_t>(file.text.size())},
                 [&](const std::string& name, const Location& where) { return find(names, name, where); });
  } catch (const UserError& error) {
    const Diagnostic& d = error.diagnostics().front();
    const size_t behind = d.message.rfind("': ");
    return fmt::format("{} {}", line_column(d.where).column,
                       behind == std::string::npos ? d.message : d.message.substr(behind + 3));
  }
  return "";
}

TEST(RowCondition, Comparisons) {
  EXPECT_TRUE(takes("size == 3") && takes("size >= 3") && takes("size <= 3") && takes("size != 2"));
  EXPECT_FALSE(takes("size > 3") || takes("size < 3") || takes("size != 3") || takes("3 == x"));
  EXPECT_TRUE(takes("`petal width` == 0.5") && takes("`petal width`==5e-1") && takes("size>x"));
  EXPECT_TRUE(takes("kind == 'dog'") && takes("'dog' == kind") && takes("kind != 'dogs'") && takes("kind > 'cat'"));
  EXPECT_TRUE(takes("name == 'it''s'") && takes("empty == ''") && takes("kind < 'doh'"));
  EXPECT_FALSE(takes("kind == 'Dog'") || takes("kind < 'dog'"));
}

TEST(RowCondition, Arithmetic) {
  EXPECT_TRUE(takes("2 + size * 4 == 14") && takes("(2 + size) * 4 == 20") && takes("size - 1 - 1 == 1"));
  EXPECT_TRUE(takes("size / 2 == 1.5") && takes("size % 2 == 1") && takes("-size == 0 - 3") && takes("x % 3 == -2"));
  EXPECT_TRUE(takes("7/2 == size + 0.5") && takes("sqrt(size*size + 16) == 5") && takes("2 - -size == 5"));
}

TEST(RowCondition, Lists) {
  EXPECT_TRUE(takes("size in [1, 3]") && takes("x in [-2]") && takes("size + 1 in [4.0, 5]"));
  EXPECT_TRUE(takes("kind in ['cat', 'dog']") && takes("kind not in ['cat']") && takes("not kind in ['cat']"));
  EXPECT_FALSE(takes("size in [2]") || takes("size not in [3]") || takes("kind in ['do', 'g']"));
}

// not binds closer than and, and that closer than or; what need not be looked at is not.
TEST(RowCondition, TruthsAndTheirOrder) {
  EXPECT_TRUE(takes("size == 3 or size == 3 and size == 4") && takes("not size == 4 and size == 3"));
  EXPECT_FALSE(takes("(size == 3 or size == 3) and size == 4") || takes("not (size == 4 or size == 3)"));
  EXPECT_TRUE(takes("not not size == 3") && takes("(size == 3) or size == 4 or 1 / none > 2"));
  EXPECT_FALSE(takes("size != 3 and 1 / none > 2") || takes("missing(size)"));
  EXPECT_TRUE(takes("missing(gone) or gone > 3") && takes("not missing(kind) and kind == 'dog'"));
  EXPECT_THROW(takes("1 / none > 2 and size != 3"), UserError);
  EXPECT_THROW(takes("size % none > 2"), UserError);
  EXPECT_THROW(takes("sqrt(x) > 2"), UserError);
  EXPECT_THROW(takes("1e200 * 1e200 * size > 2"), UserError);
  EXPECT_THROW(takes("kind > 2"), UserError);
  EXPECT_THROW(takes("size == 'three'"), UserError);
}

TEST(RowCondition, FaultsHaveTheirPlaces) {
  EXPECT_EQ(fault("size > 3"), "");
  EXPECT_EQ(fault("length > 3"), "2 there is no column 'length'");
  EXPECT_EQ(fault("size > 3 and `petal` > 1"), "15 there is no column 'petal'");
  EXPECT_EQ(fault("size = 3"), "7 there is no operator '='");
  EXPECT_EQ(fault("kind == 'dog' and size + 1 == 'x'"), "29 a text is compared with a number");
  EXPECT_EQ(fault("0 < size < 5"), "11 a comparison of a comparison");
  EXPECT_EQ(fault("1 < 2"), "2 it names no column, so that it leaves all rows or none");
  EXPECT_EQ(fault("size"), "2 expected a comparison, found a number");
  EXPECT_EQ(fault("size > 3 or kind"), "14 expected a comparison, found a number");
  EXPECT_EQ(fault("(size > 3) + 1 > 2"), "8 a comparison where a number is expected");
  EXPECT_EQ(fault("size > \xc3\xa4"), "9 expected a column, a number or a text, found '\xc3\xa4'");
  EXPECT_NE(fault("size > " + std::string(100, '(') + "1" + std::string(100, ')')), "");
  EXPECT_NE(fault(std::string(100, '-') + "size > 1"), "");
  std::string nots;
  for (int i = 0; i < 100; ++i) nots += "not ";
  EXPECT_NE(fault(nots + "size > 1"), "");
  EXPECT_NE(fault("size > 1" + std::string(5000, ' ')), "");
}

// Any text is an expression or has one fault.
TEST(RowCondition, AnyWordsAreReadOrRefused) {
  const std::vector<std::string> words = {
      "size", "kind", "`petal width`", "gone",  "and",  "or", "not", "in", "[", "]", "(",  ")",  ",", "'dog'", "'",
      "`",    "3",    "1.5",           "1e",    ".",    "+",  "-",   "*",  "/", "%", "==", "!=", "<", ">=",    "=",
      "!",    "&",    "missing(",      "sqrt(", "\xff", " "};
  std::mt19937 random(17);
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (size_t n = random() % 9; n > 0; --n) text += words[random() % words.size()] + (random() % 2 == 0 ? " " : "");
    try {
      takes(text);
      ++read;
    } catch (const UserError& error) {
      EXPECT_EQ(error.diagnostics().size(), 1U) << text;
    }
  }
  EXPECT_GT(read, 0);
}

TEST(RowCondition, RowsThatAreLeft) {
  std::vector<std::string> names;
  const RowCondition condition(
      "size > 3", {}, [&](const std::string& name, const Location& where) { return find(names, name, where); });
  EXPECT_EQ(left_out_note(condition, "t.csv", 5, 5), "");
  EXPECT_EQ(left_out_note(condition, "t.csv", 2, 5), "t.csv: 'where' leaves 2 of 5 rows");
  EXPECT_THROW(left_out_note(condition, "t.csv", 0, 5), UserError);
}

}  // namespace
}  // namespace heddle::runtime::data
