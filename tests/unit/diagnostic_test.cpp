#include "ir/diagnostic.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "ir/check.h"

namespace heddle {
namespace {

const SourceFile kFile{"m.json", "{\n  \"op\": \"relo\",\n  \"x\": 1\n}\n"};

TEST(Diagnostic, shows_line_caret_and_help) {
  const Diagnostic d{Severity::error, {&kFile, 10, 16}, "unknown op 'relo'", {}, "did you mean 'relu'?"};
  EXPECT_EQ(render(d),
            "m.json:2:9: error: unknown op 'relo'\n"
            "    2 |   \"op\": \"relo\",\n"
            "      |         ^~~~~~\n"
            "help: did you mean 'relu'?\n");
}

TEST(Diagnostic, end_of_file_has_a_place) {
  const auto end = static_cast<uint32_t>(kFile.text.size());
  EXPECT_EQ(to_string(Location{&kFile, end, end}), "m.json:5:1");
  EXPECT_NE(render({Severity::error, {&kFile, end, end}, "unexpected end", {}, ""}).find("^"), std::string::npos);
}

TEST(Diagnostic, control_characters_do_not_reach_the_terminal) {
  const SourceFile hostile{"a\x1b[2J.json", "\x1b[31m!"};
  const std::string text = render({Severity::error, {&hostile, 0, 1}, "bad", {}, ""});
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
}

TEST(Diagnostic, a_long_line_is_cut_around_the_caret) {
  SourceFile file{"long.json", std::string(10001, 'a')};
  file.text[5000] = '!';
  const std::string text = render({Severity::error, {&file, 5000, 5001}, "here", {}, ""});
  EXPECT_LT(text.size(), 600u);
  EXPECT_NE(text.find("a!a"), std::string::npos);
}

TEST(Diagnostics, stops_at_the_limit) {
  Diagnostics all;
  const auto report = [&] {
    for (int i = 0; i < 100; ++i) all.error({&kFile, 0, 1}, "error " + std::to_string(i));
  };
  try {
    report();
    FAIL() << "nothing was thrown";
  } catch (const UserError& error) {
    EXPECT_EQ(error.diagnostics().size(), Diagnostics::kMaxErrors);
  }
}

TEST(DidYouMean, finds_near_words_only) {
  const std::vector<std::string> ops = {"relu", "gelu", "conv2d", "max_pool2d"};
  EXPECT_EQ(did_you_mean("rleu", ops), "did you mean 'relu'?");
  EXPECT_EQ(did_you_mean("maxpool2d", ops), "did you mean 'max_pool2d'?");
  EXPECT_EQ(did_you_mean("transformer", ops), "");
  EXPECT_EQ(did_you_mean("", ops), "");
}

// tests/support/failing_check.cpp
TEST(Check, fails_its_test_with_the_trace_and_lets_the_others_run) {
  EXPECT_NONFATAL_FAILURE(
      {
        SCOPED_TRACE("seed 17");
        EXPECT_THROW(HEDDLE_CHECK(1 + 1 == 3, "arithmetic"), std::logic_error);
      },
      "seed 17");
}

}  // namespace
}  // namespace heddle
