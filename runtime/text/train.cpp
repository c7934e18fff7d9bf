#include "runtime/text/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>

#include "runtime/data/printable.h"
#include "runtime/json_text.h"
#include "runtime/text/byte_level.h"
#include "runtime/text/part_def.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

using Special = std::vector<std::string>;

// The parts of a tokenizer.json around the model, and the pre-tokenizer that makes the model's words.
struct Frame {
  std::string normalizer = "null", pre_tokenizer = "null", decoder = "null";
};

constexpr const char* kByteLevel =
    R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true})";
// A line's end is a word of its own.
constexpr const char* kLines =
    R"({"type": "Sequence", "pretokenizers": [{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true}, {"type": "Split", "pattern": {"String": "\n"}, "behavior": "Isolated", "invert": false}]})";
constexpr const char* kMetaspace =
    R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true})";

// Splits each line with its end, so that no word holds a part of two.
Counted count_words(const std::vector<SourceFile>& texts, const Frame& frame) {
  std::deque<SourceFile> files;
  const auto part = [&](const std::string& json, auto make) {
    const JsonTree tree(files.emplace_back(SourceFile{"", json}));
    return make(tree.root());
  };
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  if (frame.normalizer != "null")
    normalizer = part(frame.normalizer, [](const JsonValue& v) { return normalizer_of(v).make(v); });
  if (frame.pre_tokenizer != "null")
    pre_tokenizer = part(frame.pre_tokenizer, [](const JsonValue& v) { return pre_tokenizer_of(v).make(v); });
  std::unordered_map<std::string, uint64_t> counts;
  Pieces pieces;
  for (const SourceFile& file : texts) {
    require_utf8(file);
    const std::string_view text = file.text;
    for (size_t begin = 0, end = 0; begin < text.size(); begin = end) {
      end = text.find('\n', begin);
      end = end == std::string_view::npos ? text.size() : end + 1;
      pieces.text = std::string(text.substr(begin, end - begin));
      if (normalizer) pieces.text = normalizer(std::move(pieces.text));
      pieces.ranges.assign(pieces.text.empty() ? 0 : 1, Range{0, static_cast<uint32_t>(pieces.text.size())});
      pieces.begins = true;
      if (pre_tokenizer) pre_tokenizer(pieces);
      for (const Range& range : pieces.ranges) ++counts[pieces.text.substr(range.begin, range.end - range.begin)];
    }
  }
  Counted words(counts.begin(), counts.end());
  std::sort(words.begin(), words.end());
  return words;
}

// The characters of the words in the order of their code points.
std::vector<std::string> alphabet_of(const Counted& words) {
  std::set<uint32_t> codes;
  for (const auto& [word, count] : words)
    for (size_t at = 0; at < word.size();) codes.insert(next_code(word, at));
  std::vector<std::string> characters;
  for (const uint32_t code : codes) append_code(characters.emplace_back(), code);
  return characters;
}

std::vector<std::string> byte_alphabet() {
  std::set<uint32_t> codes;
  for (unsigned byte = 0; byte < 256; ++byte) codes.insert(byte_character(static_cast<unsigned char>(byte)));
  std::vector<std::string> characters;
  for (const uint32_t code : codes) append_code(characters.emplace_back(), code);
  return characters;
}

std::string vocabulary_json(const std::vector<std::string>& tokens) {
  std::string json = "{";
  for (size_t id = 0; id < tokens.size(); ++id)
    json += fmt::format("{}\n      {}: {}", id == 0 ? "" : ",", json_quoted(tokens[id]), id);
  return json + "\n    }";
}

// `unknown` is a token, "": none.
std::string pairs_model(const TrainedPairs& made, const std::string& unknown = {}) {
  std::string merges;
  for (const auto& [left, right] : made.merges)
    merges += fmt::format("{}\n      [{}, {}]", merges.empty() ? "" : ",", json_quoted(made.tokens[left]),
                          json_quoted(made.tokens[right]));
  return fmt::format(
      R"({{
    "type": "BPE", "dropout": null, "unk_token": {}, "continuing_subword_prefix": null, "end_of_word_suffix": null,
    "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
    "vocab": {},
    "merges": [{}]
  }})",
      unknown.empty() ? "null" : json_quoted(unknown), vocabulary_json(made.tokens), merges);
}

std::string tokenizer_json(const Frame& frame, const Special& special, const std::string& model) {
  std::string added;
  for (size_t id = 0; id < special.size(); ++id)
    added += fmt::format(
        "{}\n    {{\"id\": {}, \"content\": {}, \"single_word\": false, \"lstrip\": false, \"rstrip\": false, "
        "\"normalized\": false, \"special\": true}}",
        id == 0 ? "" : ",", id, json_quoted(special[id]));
  return fmt::format(
      "{{\n  \"version\": \"1.0\",\n  \"truncation\": null,\n  \"padding\": null,\n  \"added_tokens\": [{}],\n"
      "  \"normalizer\": {},\n  \"pre_tokenizer\": {},\n  \"post_processor\": null,\n  \"decoder\": {},\n"
      "  \"model\": {}\n}}\n",
      added, frame.normalizer, frame.pre_tokenizer, frame.decoder, model);
}

void require_room(uint32_t size, size_t needed, const char* what) {
  if (size < needed)
    throw UserError(ExitCode::usage, fmt::format("a vocabulary of {} does not hold the {} {}", size, needed, what),
                    fmt::format("give --vocab {} or more", needed));
}

void require_apart(const Special& special, const std::vector<std::string>& of_text) {
  for (const std::string& token : special)
    if (std::ranges::find(of_text, token) != of_text.end()) throw special_in_text(token);
}

// The special tokens, with an unknown token added where none is given.
Special with_unknown(Special special, const char* unknown) {
  if (std::ranges::find(special, unknown) == special.end()) special.insert(special.begin(), unknown);
  return special;
}

std::string train_bpe(const TrainRequest& request, const std::vector<SourceFile>& texts) {
  const Frame frame{.pre_tokenizer = kByteLevel, .decoder = kByteLevel};
  const std::vector<std::string> alphabet = byte_alphabet();
  require_room(request.size, alphabet.size() + request.special.size(), "bytes and special tokens");
  const TrainedPairs made = train_pairs(count_words(texts, frame), request.size, request.special, alphabet, "");
  return tokenizer_json(frame, request.special, pairs_model(made));
}

std::string train_bytes(const TrainRequest& request, const std::vector<SourceFile>&) {
  require_apart(request.special, byte_alphabet());
  return byte_tokenizer(request.special);
}

std::string train_characters(const TrainRequest& request, const std::vector<SourceFile>& texts) {
  const std::vector<std::string> characters = alphabet_of(count_words(texts, {}));
  if (request.size != 0)
    require_room(request.size, request.special.size() + characters.size(), "characters and special tokens");
  require_apart(request.special, characters);
  return character_tokenizer(request.special, characters, "");
}

std::string train_word_piece(const TrainRequest& request, const std::vector<SourceFile>& texts) {
  const Frame frame{
      .normalizer =
          R"({"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true})",
      .pre_tokenizer = R"({"type": "BertPreTokenizer"})",
      .decoder = R"({"type": "WordPiece", "prefix": "##", "cleanup": true})"};
  const Special special = with_unknown(request.special, "[UNK]");
  const Counted words = count_words(texts, frame);
  const TrainedPairs made = train_pairs(words, request.size, special, alphabet_of(words), "##");
  if (made.merges.empty()) require_room(request.size, made.tokens.size(), "characters and special tokens");
  return tokenizer_json(
      frame, special,
      fmt::format("{{\n    \"type\": \"WordPiece\", \"unk_token\": \"[UNK]\", \"continuing_subword_prefix\": "
                  "\"##\", \"max_input_chars_per_word\": 100,\n    \"vocab\": {}\n  }}",
                  vocabulary_json(made.tokens)));
}

std::string train_unigram_model(const TrainRequest& request, const std::vector<SourceFile>& texts) {
  const Frame frame{.normalizer = R"({"type": "NFKC"})", .pre_tokenizer = kLines, .decoder = kMetaspace};
  const Special special = with_unknown(request.special, "<unk>");
  const Counted words = count_words(texts, frame);
  require_room(request.size, special.size() + alphabet_of(words).size(), "characters and special tokens");
  std::string vocabulary;
  const auto add = [&](const std::string& token, double score) {
    vocabulary += fmt::format("{}\n      [{}, {}]", vocabulary.empty() ? "" : ",", json_quoted(token), score);
  };
  for (const std::string& token : special) add(token, 0);
  for (const auto& [token, score] : train_unigram(words, request.size - static_cast<uint32_t>(special.size()))) {
    if (token == "<unk>") continue;  // a text may say it, too
    require_apart(request.special, {token});
    add(token, score);
  }
  const auto unknown = std::ranges::find(special, "<unk>") - special.begin();
  return tokenizer_json(
      frame, special,
      fmt::format("{{\n    \"type\": \"Unigram\", \"unk_id\": {}, \"byte_fallback\": false,\n    \"vocab\": [{}]\n  }}",
                  unknown, vocabulary));
}

using Trainer = std::string (*)(const TrainRequest&, const std::vector<SourceFile>&);
const std::map<std::string, Trainer>& trainers() {
  static const std::map<std::string, Trainer> all = {{"bpe", train_bpe},
                                                     {"bytes", train_bytes},
                                                     {"characters", train_characters},
                                                     {"unigram", train_unigram_model},
                                                     {"wordpiece", train_word_piece}};
  return all;
}

}  // namespace

UserError special_in_text(const std::string& token) {
  return {ExitCode::usage, fmt::format("the special token '{}' is a token of the text, too", data::printable(token)),
          "choose a name that the text does not contain, such as <|end|>"};
}

std::vector<std::string> train_kinds() {
  std::vector<std::string> names;
  for (const auto& [name, trainer] : trainers()) names.push_back(name);
  return names;
}

std::string character_tokenizer(const std::vector<std::string>& special, const std::vector<std::string>& characters,
                                const std::string& unknown) {
  const Frame frame{.decoder = R"({"type": "Fuse"})"};
  TrainedPairs made{special, {}};
  made.tokens.insert(made.tokens.end(), characters.begin(), characters.end());
  return tokenizer_json(frame, special, pairs_model(made, unknown));
}

std::string word_tokenizer(const std::vector<std::string>& special, const std::vector<std::string>& words) {
  const Frame frame{.pre_tokenizer = R"({"type": "WhitespaceSplit"})"};
  std::vector<std::string> tokens = special;
  tokens.insert(tokens.end(), words.begin(), words.end());
  return tokenizer_json(
      frame, special,
      fmt::format("{{\n    \"type\": \"WordLevel\", \"unk_token\": \"<unk>\",\n    \"vocab\": {}\n  }}",
                  vocabulary_json(tokens)));
}

// A byte's id is the byte, behind the special tokens.
std::string byte_tokenizer(const std::vector<std::string>& special) {
  const Frame frame{
      .pre_tokenizer = R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false})",
      .decoder = kByteLevel};
  TrainedPairs made{special, {}};
  for (unsigned byte = 0; byte < 256; ++byte)
    append_code(made.tokens.emplace_back(), byte_character(static_cast<unsigned char>(byte)));
  return tokenizer_json(frame, special, pairs_model(made));
}

std::string train_tokenizer(const TrainRequest& request, const std::vector<SourceFile>& texts) {
  if (request.size >= kMaxIds)
    throw UserError(ExitCode::usage,
                    fmt::format("a vocabulary has fewer than {} tokens, not {}", kMaxIds, request.size));
  for (auto one = request.special.begin(); one != request.special.end(); ++one)
    if (one->empty() || std::find(request.special.begin(), one, *one) != one)
      throw UserError(ExitCode::usage,
                      fmt::format("the special token '{}' is empty or given twice", data::printable(*one)));
  const bool empty = std::ranges::all_of(texts, [](const SourceFile& file) { return file.text.empty(); });
  if (empty && request.kind != "bytes")
    throw UserError(ExitCode::failed, "there is no text to train on: all files are empty", "name files that hold text");
  return trainers().at(request.kind)(request, texts);
}

}  // namespace heddle::runtime::text
