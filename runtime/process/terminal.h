// What a terminal shows: how wide it is, whether it takes colours, and text that cannot do anything else to it.
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

// $COLUMNS, else what the terminal says, else 80. At least 1.
int terminal_columns(std::FILE* out);
// Whether lines can be renewed: a terminal that $TERM names, and not as "dumb".
bool renews_lines(std::FILE* out);
// Whether escapes for colours are welcome: as above, and $NO_COLOR is unset or empty (https://no-color.org).
bool takes_colours(std::FILE* out);

// Whether the cursor stands behind a line that is renewed. Whoever writes for people next sets it
// to false, and ends that line first where it was true: another thread than the one that renews it,
// too.
std::atomic<bool>& line_is_open();

// Control characters, what is no UTF-8, and what turns the direction of writing, as '?'.
std::string visible(std::string_view text);
// How many columns a text takes at most: two for each character that some terminals show in two.
size_t columns_of(std::string_view text);
// The text in so many columns; "..." says that it was longer, where there is room to say so.
std::string cut(std::string_view text, size_t columns);

}  // namespace heddle::runtime
