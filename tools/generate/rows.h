// What texts in the rows of a generator have in common: prompts that fit, windows that go on, logits that are numbers.
#pragma once
#include "tools/generate/generate.h"

namespace heddle::tools {

// Throws UserError where a character has no token, or the model sees fewer tokens.
std::vector<uint32_t> prompt_tokens(const driver::Generator& generator, const TextOfModel& text,
                                    const SourceFile& prompt);

// Those of the tokens that there are. Throws UserError where one is not finite; `read` tokens have been read.
std::span<const float> finite_logits(const driver::Generator& generator, const TextOfModel& text, int64_t row,
                                     size_t read);

// Where a text stands in its row: the token at position 0, and the position of the next one that is read.
struct TextWindow {
  size_t first = 0, position = 0;
  size_t next() const { return first + position; }  // among the text's tokens
  // Where all positions are taken, the text of so many tokens goes on over its last half, which is read anew. Whether
  // that is so.
  bool make_room(int64_t context, size_t tokens);
};
std::string window_note(int64_t context);

}  // namespace heddle::tools
