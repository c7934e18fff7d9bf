// The ages of code points: the Unicode version that introduced each. PyPI's `tokenizers`, whose files we read, has the
// classes of Unicode 8 and the normal forms of Unicode 9. There, a later code point has no class and is its own normal
// form. We do the same, because the ids of a text, and so the input of trained models, depend on it.
#pragma once
#include <cstdint>

namespace heddle::runtime::text {

// Whether the code point is in Unicode 14 but not yet in Unicode 8 (or 9).
bool is_later_than_8(uint32_t code);
bool is_later_than_9(uint32_t code);

}  // namespace heddle::runtime::text
