// Properties of a terminal (its width, whether it takes colours), and text that is safe to print on it.
//
//   cut("conv1.weight", 8)    -> "conv1..."
//   visible("a\x1b[2Jb")      -> "a?[2Jb"
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace heddle::runtime {

// The width in columns: $COLUMNS, else the terminal's, else 80. At least 1.
int terminal_columns(std::FILE* out);
// Whether a line can be rewritten in place: `out` is a terminal, and $TERM is set and not "dumb".
bool renews_lines(std::FILE* out);
// Whether colours may be used: as above, and $NO_COLOR is unset or empty (https://no-color.org).
bool takes_colours(std::FILE* out);

// Whether the cursor stands at the end of a line that is rewritten in place. Code that prints a message, on any thread,
// first sets this to false; if it was true, it first ends that line.
std::atomic<bool>& line_is_open();

// Replaces control characters, invalid UTF-8 and characters that change the direction of writing by '?'.
std::string visible(std::string_view text);
// How many columns a text takes at most. A character that some terminals show in two columns counts as two.
size_t columns_of(std::string_view text);
// Cuts the text to at most `columns` columns. A cut text ends in "..." where there is room for it.
std::string cut(std::string_view text, size_t columns);

}  // namespace heddle::runtime
