// Tokenizer: turns a text into ids, and ids into text.
//
//   const Tokenizer tokenizer = read_tokenizer(files, "tokenizer.json");
//   Encoder encoder(tokenizer);                       // of one thread: it remembers words
//   encoder.encode(file, range, {}, ids)              // UserError at a character that has no token
//   tokenizer.decode({464, 3290}, Specials::leave_out) -> "The dog"
//
// Special tokens in a text are plain text unless the caller asks for them. So a user who writes "<|endoftext|>" does
// not end a text.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/diagnostic.h"
#include "runtime/text/added_tokens.h"
#include "runtime/text/part_def.h"
#include "runtime/text/word_cache.h"

namespace heddle::runtime::text {

// The ids of tokens with a role, for readers.
struct NamedIds {
  std::optional<uint32_t> begin, end, padding, unknown;
};

enum class Specials { leave_out, keep };

struct Tokenizer {
  Model model;
  Normalizer normalizer;       // empty: none
  PreTokenizer pre_tokenizer;  // empty: none
  Decoder decoder;             // empty: joins the tokens with spaces
  Template around = {std::nullopt};
  std::map<uint32_t, AddedToken> added;
  TokenFinder raw, normalized;  // of `added`
  NamedIds named;

  // One more than the last id.
  uint32_t size() const;
  // Returns nothing where no token has the id.
  std::optional<std::string_view> token(uint32_t id) const;
  std::optional<uint32_t> find(std::string_view token) const;
  // Throws UserError at `where` at an id that no token has.
  std::string decode(std::span<const uint32_t> ids, Specials specials, const Location& where = {}) const;
};

// Finds these ids among the added tokens and in the model.
NamedIds named_ids(const Tokenizer& tokenizer);

struct EncodeOptions {
  bool special = false;  // finds special tokens in the text
  bool around = false;   // adds the ids around a text, such as [CLS] and [SEP]
};

class Encoder {
 public:
  explicit Encoder(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}
  // Appends the ids of a part of a file, which must be valid UTF-8. Throws UserError at the first character without a
  // token, where the tokenizer has no unknown token.
  void encode(const SourceFile& file, Range range, const EncodeOptions& options, std::vector<uint32_t>& ids);
  // The same for a text. Returns false where a character has no token.
  bool encode(std::string_view text, const EncodeOptions& options, std::vector<uint32_t>& ids);

 private:
  bool plain(std::string_view text, bool begins, const EncodeOptions& options, std::vector<uint32_t>& ids);
  bool normalized(std::string_view text, bool begins, std::vector<uint32_t>& ids);
  bool piece(std::string_view text, std::vector<uint32_t>& ids);
  const Tokenizer& tokenizer_;
  WordCache cache_;
  Pieces pieces_;
};

// Reads a tokenizer. `path` is a tokenizer.json, a folder with one or with GPT-2's vocab.json and merges.txt, or such a
// vocab.json. The files are added to `files`, into which messages point. Throws UserError at the first part that is
// wrong or not supported.
Tokenizer read_tokenizer(std::deque<SourceFile>& files, const std::string& path);

// Reads a tokenizer.json that is in memory. `file` must outlive the tokenizer, whose messages point into it.
Tokenizer read_tokenizer_json(const SourceFile& file);

}  // namespace heddle::runtime::text
