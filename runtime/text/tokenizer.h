// Tokenizer: ids of a text, and the text of ids.
//
//   const Tokenizer tokenizer = read_tokenizer(files, "tokenizer.json");
//   Encoder encoder(tokenizer);                       // of one thread: it remembers words
//   encoder.encode(file, range, {}, ids)              // UserError at a character that has no token
//   tokenizer.decode({464, 3290}, Specials::leave_out) -> "The dog"
//
// Special tokens in a text are plain text unless they are asked for: a user who writes "<|endoftext|>" ends nothing.
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

// Ids that a reader asks for by what they are for.
struct NamedIds {
  std::optional<uint32_t> begin, end, padding, unknown;
};

enum class Specials { leave_out, keep };

struct Tokenizer {
  Model model;
  Normalizer normalizer;       // empty: none
  PreTokenizer pre_tokenizer;  // empty: none
  Decoder decoder;             // empty: tokens with spaces between them
  Template around = {std::nullopt};
  std::map<uint32_t, AddedToken> added;
  TokenFinder raw, normalized;  // of `added`
  NamedIds named;

  // One more than the last id.
  uint32_t size() const;
  // Nothing where no token has the id.
  std::optional<std::string_view> token(uint32_t id) const;
  std::optional<uint32_t> find(std::string_view token) const;
  // Throws UserError at `where` where no token has an id.
  std::string decode(std::span<const uint32_t> ids, Specials specials, const Location& where = {}) const;
};

// The ids that a file's added tokens and its model name.
NamedIds named_ids(const Tokenizer& tokenizer);

struct EncodeOptions {
  bool special = false;  // special tokens in the text are those
  bool around = false;   // what the file puts around a text, such as [CLS] and [SEP]
};

class Encoder {
 public:
  explicit Encoder(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}
  // Appends the ids of a part of a file, which is valid UTF-8. Throws UserError at its first character that has no
  // token, where the tokenizer has no unknown.
  void encode(const SourceFile& file, Range range, const EncodeOptions& options, std::vector<uint32_t>& ids);
  // The same of a text; false where a character has no token.
  bool encode(std::string_view text, const EncodeOptions& options, std::vector<uint32_t>& ids);

 private:
  bool plain(std::string_view text, bool begins, const EncodeOptions& options, std::vector<uint32_t>& ids);
  bool normalized(std::string_view text, bool begins, std::vector<uint32_t>& ids);
  bool piece(std::string_view text, std::vector<uint32_t>& ids);
  const Tokenizer& tokenizer_;
  WordCache cache_;
  Pieces pieces_;
};

// A tokenizer.json; a folder that holds one, or GPT-2's vocab.json and merges.txt; or such a vocab.json itself. The
// files are put into `files`, which messages point into. Throws UserError at what is wrong or not supported.
Tokenizer read_tokenizer(std::deque<SourceFile>& files, const std::string& path);

// The same of a text that holds a tokenizer.json. The file outlives the tokenizer: its messages point into it.
Tokenizer read_tokenizer_json(const SourceFile& file);

}  // namespace heddle::runtime::text
