// Shared code for texts in the rows of a generator: checks prompts, moves the window of long texts, reads tokens, and
// checks logits.
#pragma once
#include "tools/generate/generate.h"

namespace heddle::tools {

// The first ids of a text. For a model with a source, the prompt is the source.
struct PromptTokens {
  std::vector<uint32_t> ids, source = {};
};
// Throws UserError where a character has no token, or the prompt is longer than the model's context.
PromptTokens prompt_tokens(const driver::Generator& generator, const TextOfModel& text, const SourceFile& prompt);

// Passes the rows' sources to the generator, padded. A row without a source gets one with a single token.
void encode_sources(driver::Generator& generator, const TextOfModel& text,
                    std::span<const std::vector<uint32_t>* const> sources);

// How many more tokens a text of `tokens` tokens may get. Below 1: none. Only models with a source have a limit: their
// window cannot move, since the text needs its begin token.
int64_t room_behind(const driver::Generator& generator, size_t tokens);

// The logits of the ids below `tokens`. Throws UserError where one is not finite. `read`: the number of tokens read so
// far, for the message.
std::span<const float> finite_logits(const driver::Generator& generator, size_t tokens, int64_t row, size_t read);

// A text's position in its row: which of its tokens is at position 0, and the position of the next token to read.
struct TextWindow {
  size_t first = 0, position = 0;
  size_t next() const { return first + position; }  // index among the text's tokens
  // If all positions are used, moves the window so that it begins with the last context / 2 of the text's `tokens`
  // tokens, which are then read again. Returns whether it did.
  bool make_room(int64_t context, size_t tokens);
};
std::string window_note(int64_t context);

// A text in a row of a generator. ids: nullptr where the row has no text.
struct RowText {
  const std::vector<uint32_t>* ids = nullptr;
  TextWindow window = {};
};
// Gives rows without a text the text of the first row that has one, because a row product computes equal rows once
// (runtime/host/row_product.h). At least one row must have a text.
void fill_up(std::span<RowText> rows);
// Reads the next token of each text. If a text has many unread tokens, it first reads all but the last in chunks. How a
// text is read does not depend on other rows.
void read_next(driver::Generator& generator, std::span<RowText> rows);

}  // namespace heddle::tools
