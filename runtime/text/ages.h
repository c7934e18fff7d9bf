// The ages of code points. PyPI's `tokenizers`, whose files we read, has the classes of Unicode 8 and the normal forms of
// Unicode 9: a code point that came later has no class there, and is its own normal form. The ids of a text, and what a
// model was trained on, depend on it.
#pragma once
#include <cstdint>

namespace heddle::runtime::text {

// Whether Unicode 14 has a code point that Unicode 8, or 9, had not.
bool is_later_than_8(uint32_t code);
bool is_later_than_9(uint32_t code);

}  // namespace heddle::runtime::text
