// Mutated tokenizers, and mutated texts through those that are well formed: ids that have tokens, or a UserError.
#include "runtime/text/tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <stdexcept>

#include "runtime/text/train.h"
#include "runtime/text/unicode.h"
#include "tests/fuzz/campaign.h"
#include "tests/support/source_dir.h"
#include "tests/support/text_files.h"

namespace heddle::testing {
namespace {

namespace fs = std::filesystem;
using runtime::text::Encoder;
using runtime::text::Specials;
using runtime::text::Tokenizer;

std::vector<std::string> tokenizers() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(source_dir() / "tests/unit/Inputs/tokenizers"))
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());  // so that a case's number means the same everywhere
  std::vector<std::string> texts;
  for (const fs::path& path : paths)  // beside them lie what they must make of texts, lists
    if (std::string text = read_text(path); text.starts_with('{')) texts.push_back(std::move(text));
  return texts;
}

const std::vector<std::string>& sentences() {
  static const std::vector<std::string> all = {"",
                                               " ",
                                               "The dog's 12 paws.",
                                               "caf\xc3\xa9 na\xc3\xafve \xe9\x9b\xa8 \xf0\x9f\x98\x80",
                                               "<s>[CLS]<|endoftext|></s>",
                                               std::string("a\0b", 3),
                                               "\r\n\t\xc2\xa0\xe2\x80\x8b",
                                               "e\xcc\x81\xcc\x81\xcc\x81",
                                               std::string(3000, 'a'),
                                               "\xef\xbf\xbf\xf4\x8f\xbf\xbf"};
  return all;
}

// Ids have tokens, and these a text.
void use(const Tokenizer& tokenizer, std::string_view text) {
  Encoder encoder(tokenizer);
  for (const bool special : {false, true}) {
    std::vector<uint32_t> ids;
    if (!encoder.encode(text, {.special = special, .around = special}, ids)) continue;
    for (const uint32_t id : ids)
      if (id >= tokenizer.size() || !tokenizer.token(id)) throw std::runtime_error("an id without a token");
    tokenizer.decode(ids, special ? Specials::keep : Specials::leave_out);
  }
}

TEST(Fuzz, Tokenizers) {
  Campaign c{.name = "tokenizer", .corpus = tokenizers(), .target = {}};
  c.target = [](const std::string& text) {
    const SourceFile file{"tokenizer.json", text};
    const Tokenizer tokenizer = runtime::text::read_tokenizer_json(file);
    for (const std::string& sentence : sentences()) use(tokenizer, sentence);
  };
  run(c, 400);
}

TEST(Fuzz, TextsOfTokenizers) {
  std::deque<SourceFile> files;
  std::deque<Tokenizer> all;
  for (const std::string& json : tokenizers())
    all.push_back(runtime::text::read_tokenizer_json(files.emplace_back(SourceFile{"tokenizer.json", json})));
  Campaign c{.name = "tokenized", .corpus = sentences(), .binary = true, .target = {}};
  c.target = [&](const std::string& text) {
    const SourceFile file{"t.txt", text};
    runtime::text::require_utf8(file);
    for (const Tokenizer& tokenizer : all) use(tokenizer, text);
  };
  run(c, 400);
}

// What a text trains has ids for the text itself.
TEST(Fuzz, TextsToTrainOn) {
  Campaign c{.name = "tokenizer_text", .corpus = sentences(), .binary = true, .target = {}};
  for (std::string& text : c.corpus) text += " the rain falls on the hills\n";
  c.target = [](const std::string& text) {
    const std::vector<SourceFile> texts = {{"t.txt", text}};
    for (const char* kind : {"bpe", "bytes", "characters", "unigram", "wordpiece"}) {
      const std::string json = runtime::text::train_tokenizer(
          {.kind = kind, .size = std::string_view(kind) == "bytes" ? 0U : 400U, .special = {"<pad>"}}, texts);
      const SourceFile file{"tokenizer.json", json};
      const Tokenizer tokenizer = runtime::text::read_tokenizer_json(file);
      std::vector<uint32_t> ids;
      if (!Encoder(tokenizer).encode(text, {}, ids)) throw std::runtime_error(std::string(kind) + " lacks a token");
    }
  };
  run(c, 200);
}

}  // namespace
}  // namespace heddle::testing
