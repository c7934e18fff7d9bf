#include "frontend/expression.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "frontend/limits.h"

namespace heddle::frontend {
namespace {

const Scope kOuter{.names = {{"d", int64_t{384}}, {"layers", int64_t{6}}, {"rate", 0.5}}, .outer = nullptr};

Number value(const std::string& text) { return evaluate(text, kOuter, {}); }
int64_t integer(const std::string& text) { return std::get<int64_t>(value(text)); }
double real(const std::string& text) { return std::get<double>(value(text)); }

std::string fault(const std::string& text) {
  const SourceFile file{"m.json", "\"" + text + "\""};
  try {
    evaluate(text, kOuter, {&file, 0, static_cast<uint32_t>(file.text.size())});
  } catch (const UserError& error) {
    const Diagnostic& d = error.diagnostics().front();
    return fmt::format("{} {}", line_column(d.where).column, d.message.substr(d.message.rfind("': ") + 3));
  }
  return "";
}

TEST(Expression, Integers) {
  EXPECT_EQ(integer("4*d"), 1536);
  EXPECT_EQ(integer("2 + 3 * 4 - 1"), 13);
  EXPECT_EQ(integer("(2 + 3) * 4 % 7"), 6);
  EXPECT_EQ(integer("10 - 4 - 3"), 3);  // from the left
  EXPECT_EQ(integer("24 / 4 / 3"), 2);
  EXPECT_EQ(integer("-d / 2"), -192);
  EXPECT_EQ(integer("2 - -3"), 5);
}

TEST(Expression, OneRealOperandMakesTheResultReal) {
  EXPECT_DOUBLE_EQ(real("1/255.0"), 1 / 255.0);
  EXPECT_DOUBLE_EQ(real("0.02/sqrt(2*layers)"), 0.02 / std::sqrt(12.0));
  EXPECT_DOUBLE_EQ(real("rate * 3"), 1.5);
  EXPECT_DOUBLE_EQ(real("1e-4 + 2E2"), 200.0001);
}

TEST(Expression, Faults) {
  EXPECT_EQ(fault("7 / 2"), "4 7 / 2 leaves a remainder");
  EXPECT_EQ(fault("d / (layers - 6)"), "4 division by zero");
  EXPECT_EQ(fault("d % 0"), "4 division by zero");
  EXPECT_EQ(fault("9223372036854775807 + 1"), "22 the result does not fit in 64 bits");
  EXPECT_EQ(fault("(0 - 9223372036854775807 - 1) / -1"), "32 the result does not fit in 64 bits");
  EXPECT_EQ(fault("9223372036854775808"), "2 9223372036854775808 is out of range");
  EXPECT_EQ(fault("2 * (3 + 4"), "12 expected ')'");
  EXPECT_EQ(fault("2 3"), "4 expected an operator, found '3'");
  EXPECT_EQ(fault("width"), "2 'width' is not defined");
  EXPECT_EQ(fault(""), "2 expected a number or a name at its end");
  EXPECT_EQ(fault("1.2.3"), "2 '1.2.3' is not a number");
  EXPECT_EQ(fault("1e"), "2 '1e' is not a number");
  EXPECT_EQ(fault("d ** 2"), "4 there is no operator '**'");
  EXPECT_EQ(fault("d // 2"), "4 there is no operator '//'");
  EXPECT_EQ(fault("d * / 2"), "6 expected a number or a name, found '/'");
  EXPECT_EQ(fault("sqrt(0-1)"), "2 sqrt of -1");
  EXPECT_EQ(fault("1e308 * 10"), "8 the result is out of range");
  EXPECT_NE(fault(std::string(100, '(') + "1" + std::string(100, ')')).find("nesting deeper"), std::string::npos);
  EXPECT_NE(fault(std::string(100, '-') + "1").find("nesting deeper"), std::string::npos);
  EXPECT_NE(fault(std::string(kMaxExpressionBytes + 1, '1')).find("longer than"), std::string::npos);
}

TEST(Expression, InnerScopesHideOuterOnes) {
  const Scope inner{.names = {{"d", int64_t{2}}}, .outer = &kOuter};
  EXPECT_EQ(std::get<int64_t>(evaluate("d * layers", inner, {})), 12);
  EXPECT_EQ(inner.all_names(), (std::vector<std::string>{"d", "layers", "rate"}));
}

TEST(Expression, Names) {
  EXPECT_TRUE(is_name("_a9"));
  for (const std::string bad : {"", "9a", "a.b", "a b", "a/b", "a*/", "\xc3\xa4"}) EXPECT_FALSE(is_name(bad)) << bad;
  EXPECT_TRUE(is_name(std::string(kMaxNameBytes, 'a')));
  EXPECT_FALSE(is_name(std::string(kMaxNameBytes + 1, 'a')));
  EXPECT_EQ(names_in("2*d + sqrt(layers)"), (std::vector<std::string>{"d", "sqrt", "layers"}));
}

}  // namespace
}  // namespace heddle::frontend
