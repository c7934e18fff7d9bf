// What texts in the rows of a generator have in common: prompts that fit, windows that go on, logits that are numbers.
#pragma once
#include "tools/generate/generate.h"

namespace heddle::tools {

// What a text begins with. Of a model with a source the prompt is the source.
struct PromptTokens {
  std::vector<uint32_t> ids, source = {};
};
// Throws UserError where a character has no token, or the model sees fewer tokens.
PromptTokens prompt_tokens(const driver::Generator& generator, const TextOfModel& text, const SourceFile& prompt);

// Gives the rows their sources, filled up; a row of none has one of a single token.
void encode_sources(driver::Generator& generator, const TextOfModel& text,
                    std::span<const std::vector<uint32_t>* const> sources);

// How many tokens a text of so many may still get, at most: that of a source does not go on without its begin. None may
// follow where it is below 1.
int64_t room_behind(const driver::Generator& generator, size_t tokens);

// Those of the first `tokens`. Throws UserError where one is not finite; `read` tokens have been read.
std::span<const float> finite_logits(const driver::Generator& generator, size_t tokens, int64_t row, size_t read);

// Where a text stands in its row: the token at position 0, and the position of the next one that is read.
struct TextWindow {
  size_t first = 0, position = 0;
  size_t next() const { return first + position; }  // among the text's tokens
  // Where all positions are taken, the text of so many tokens goes on over its last half, which is read anew. Whether
  // that is so.
  bool make_room(int64_t context, size_t tokens);
};
std::string window_note(int64_t context);

// A text in a row of a generator; nullptr where the row has none.
struct RowText {
  const std::vector<uint32_t>* ids = nullptr;
  TextWindow window = {};
};
// Rows without a text read what the first that has one does, so that a product finds equal rows
// (runtime/host/row_product.h). One has a text.
void fill_up(std::span<RowText> rows);
// Reads the next token of each text, and of a text that has many more those before its last one, in chunks. How a text
// is read depends on no other row.
void read_next(driver::Generator& generator, std::span<RowText> rows);

}  // namespace heddle::tools
