// The line of progress at every width, and what text can do to a terminal.
#include "runtime/train/progress.h"

#include <gtest/gtest.h>

#include "runtime/process/terminal.h"

namespace heddle::runtime {
namespace {

const std::vector<ProgressPart> kParts = {
    {"epoch", "3/15", "3/15", 2}, {"", "211/422", {}, 3},        {"", "312 steps/s", {}, 6}, {"eta", "0:41", {}, 4},
    {"loss", "0.0412", {}, 1},    {"accuracy", "0.9871", {}, 5}, {"lr", "0.001", {}, 7},     {"", "84 MB", {}, 8}};

std::string without_colours(const std::string& line) {
  std::string out;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b')
      out += line[i];
    else
      i = line.find('m', i);
  }
  return out;
}

TEST(ProgressLine, LeavesOutWhatMattersLeast) {
  EXPECT_EQ(progress_line(kParts, 100, false),
            "epoch 3/15  211/422  312 steps/s  eta 0:41  loss 0.0412  accuracy 0.9871  lr 0.001  84 MB");
  EXPECT_EQ(progress_line(kParts, 63, false), "3/15 211/422 312 steps/s eta 0:41 loss 0.0412 accuracy 0.9871");
  EXPECT_EQ(progress_line(kParts, 40, false), "3/15 211/422 eta 0:41 loss 0.0412");
  EXPECT_EQ(progress_line(kParts, 20, false), "3/15 loss 0.0412");
  EXPECT_EQ(progress_line(kParts, 1, false), "");
  EXPECT_EQ(progress_line(kParts, 0, false), "");
}

TEST(ProgressLine, IsNarrowerThanTheTerminalAtEveryWidth) {
  for (size_t columns = 0; columns <= 200; ++columns)
    for (const bool colours : {false, true}) {
      const std::string line = without_colours(progress_line(kParts, columns, colours));
      EXPECT_LE(line.size(), columns == 0 ? 0 : columns - 1) << line;
      EXPECT_EQ(line, progress_line(kParts, columns, false));
    }
}

TEST(ProgressLine, GrowsWithTheWidth) {
  for (size_t columns = 20; columns < 200; ++columns) {
    size_t parts[2];
    for (const size_t more : {size_t{0}, size_t{1}}) {
      const std::string line = progress_line(kParts, columns + more, false);
      parts[more] = static_cast<size_t>(std::count_if(kParts.begin(), kParts.end(), [&](const ProgressPart& p) {
        return line.find(p.value) != std::string::npos;
      }));
    }
    EXPECT_LE(parts[0], parts[1]) << columns;
  }
}

TEST(Terminal, ShowsNothingThatActsOnIt) {
  EXPECT_EQ(visible("a\x1b[2Jb\r\n\x7f"), "a?[2Jb???");
  EXPECT_EQ(visible("\xc2\x9b"
                    "31m"),
            "?31m");  // the eight-bit schedule of an escape
  EXPECT_EQ(visible("\xe2\x80\xae"
                    "abc"),
            "?abc");                     // right to left
  EXPECT_EQ(visible("\xff\xc3"), "??");  // no UTF-8
  EXPECT_EQ(visible("gr\xc3\xbc\xc3\x9f"
                    "e"),
            "gr\xc3\xbc\xc3\x9f"
            "e");  // text stays
}

TEST(Terminal, CutsBetweenCharacters) {
  EXPECT_EQ(cut("conv1.weight", 12), "conv1.weight");
  EXPECT_EQ(cut("conv1.weight", 8), "conv1...");
  EXPECT_EQ(cut("conv1", 3), "con");
  EXPECT_EQ(cut("abc", 0), "");
  EXPECT_EQ(cut("\xe5\xad\x97\xe5\xad\x97", 3), "\xe5\xad\x97");  // two columns each
  for (size_t n = 0; n < 20; ++n) EXPECT_LE(columns_of(cut("\xe5\xad\x97 a\xc3\xbc long text", n)), n);
}

TEST(Terminal, TakesColumnsFromTheEnvironment) {
  std::FILE* file = std::tmpfile();
  const auto with = [&](const char* value) {
    ::setenv("COLUMNS", value, 1);
    const int columns = terminal_columns(file);
    ::unsetenv("COLUMNS");
    return columns;
  };
  EXPECT_EQ(with("57"), 57);
  EXPECT_EQ(with("1"), 1);
  for (const char* none : {"", "0", "-3", "x", "57x"}) EXPECT_EQ(with(none), 80) << none;
  for (const char* large : {"10000", "2147483647", "99999999999999999999"}) EXPECT_EQ(with(large), 10'000) << large;
  EXPECT_FALSE(renews_lines(file));
  EXPECT_FALSE(takes_colours(file));
  std::fclose(file);
}

}  // namespace
}  // namespace heddle::runtime
