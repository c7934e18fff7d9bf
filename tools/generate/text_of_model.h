// TextOfModel: converts between text and the token ids of a model that generates, with the tokenizer of its weights or
// of a file.
//
//   TextOfModel text(generator, "");
//   text.encode(prompt)        ->   the ids, behind the model's begin token where its reader has one
//   text.decode({464, 3290})   ->   "The dog"
//
// For a model that reads a source, the prompt is the source, and the text begins with the begin token:
//
//   text.encode_source(prompt)   ->   the ids of the source        text.begin()   ->   {1}
#pragma once
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/text/tokenizer.h"
#include "tools/driver/generator.h"

namespace heddle::tools {

class TextOfModel {
 public:
  // `path`: a tokenizer.json or a folder with one, also for the source; empty: the tokenizers of the weights.
  // `special`: whether special tokens in prompts are read as such instead of as plain text. Throws UserError where
  // there is no tokenizer, or where it has more tokens than the model.
  TextOfModel(const driver::Generator& generator, const std::string& path, bool special);
  // The ids of a prompt, after the begin token unless the prompt has it. Throws UserError at a character that has no
  // token, and where there are no ids.
  std::vector<uint32_t> encode(const SourceFile& prompt) const;
  std::string decode(std::span<const uint32_t> ids) const {
    return tokenizer_.decode(ids, runtime::text::Specials::leave_out);
  }
  // For a model with a source: the ids of the source, and those that begin the text. Throw UserError as `encode` does,
  // and where there is no begin token.
  std::vector<uint32_t> encode_source(const SourceFile& prompt) const;
  std::vector<uint32_t> begin() const;
  uint32_t padding() const { return padding_; }  // the source's
  // Whether the id is the end token.
  bool is_end(uint32_t id) const { return end_ == id; }
  // All ids are below it.
  uint32_t size() const { return tokenizer_.size(); }

 private:
  void read_source(const driver::Generator& generator, const std::string& path);
  std::vector<uint32_t> ids_of(const runtime::text::Tokenizer& tokenizer, const SourceFile& prompt) const;
  std::deque<SourceFile> files_;
  runtime::text::Tokenizer tokenizer_;
  std::optional<runtime::text::Tokenizer> source_ = {};
  bool special_ = false;
  uint32_t padding_ = 0;
  std::optional<uint32_t> begin_, end_;
};

}  // namespace heddle::tools
