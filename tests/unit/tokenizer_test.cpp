// Tokenizers: ids and decoded texts equal those of PyPI's `tokenizers` (tests/training/reference/make_tokenizers.py drew
// them); faults are told at their place; training has known answers.
#include "runtime/text/tokenizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "ir/read_text.h"
#include "runtime/files/temporary.h"
#include "runtime/text/json_tree.h"
#include "runtime/text/train.h"
#include "runtime/text/unicode.h"
#include "tests/support/source_dir.h"

namespace heddle::runtime::text {
namespace {

namespace fs = std::filesystem;

fs::path inputs() { return testing::source_dir() / "tests/unit/Inputs/tokenizers"; }

SourceFile open(const fs::path& path) {
  return {path.filename().string(), read_text(path.string(), path.string(), size_t{1} << 24)};
}

// Tokenizers and errors point into their files, which therefore live to the end.
const SourceFile& kept(const std::string& text) {
  static std::deque<SourceFile> files;
  return files.emplace_back(SourceFile{"t.json", text});
}

Tokenizer read(const std::string& json) { return read_tokenizer_json(kept(json)); }

std::vector<uint32_t> ids_of(const Tokenizer& tokenizer, const std::string& text, const EncodeOptions& options = {}) {
  const SourceFile& file = kept(text);
  std::vector<uint32_t> ids;
  Encoder(tokenizer).encode(file, {0, static_cast<uint32_t>(text.size())}, options, ids);
  return ids;
}

std::vector<std::string> tokens_of(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<std::string> tokens;
  for (const uint32_t id : ids_of(tokenizer, text)) tokens.emplace_back(*tokenizer.token(id));
  return tokens;
}

// "line:column message" of the first error; "" where none is thrown.
template <class Action>
std::string fault_of(Action action) {
  try {
    action();
  } catch (const UserError& error) {
    const Diagnostic& d = error.diagnostics().front();
    if (!d.where.valid()) return d.message;
    const LineColumn at = line_column(d.where);
    return fmt::format("{}:{} {}", at.line, at.column, d.message);
  }
  return "";
}
std::string fault(const std::string& json) {
  return fault_of([&] { read(json); });
}

TEST(Tokenizer, EqualsTheReference) {
  const SourceFile file = open(inputs() / "cases.json");
  const JsonTree cases(file);
  std::map<std::string, Tokenizer> tokenizers;
  int count = 0;
  for (auto item = cases.root().first(); item; item = item->next(), ++count) {
    const std::string name = item->find("tokenizer")->text("name"), text = item->find("text")->text("text");
    if (!tokenizers.contains(name)) {
      static std::deque<SourceFile> files;
      tokenizers[name] = read_tokenizer(files, (inputs() / (name + ".json")).string());
    }
    std::vector<uint32_t> expected;
    for (auto id = item->find("ids")->first(); id; id = id->next()) expected.push_back(id->id("id"));
    const EncodeOptions options{.special = item->find("special")->flag(""), .around = item->find("template")->flag("")};
    EXPECT_EQ(ids_of(tokenizers[name], text, options), expected) << name << ": " << text;
    EXPECT_EQ(tokenizers[name].decode(expected, Specials::leave_out), item->find("decoded")->text("")) << name;
  }
  EXPECT_GT(count, 250);
  EXPECT_EQ(tokenizers.size(), 13U);
}

const std::string kModel =
    R"("model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "<s>": 3, "abab": 4}, "merges": ["a b", "ab ab"]}})";

// What a user writes ends nothing, even where the merges or the vocabulary would make a special token of it.
TEST(Tokenizer, SpecialTokensArePlainTextUnlessAskedFor) {
  const std::string added = R"({"added_tokens": [{"id": 4, "content": "abab", "special": true}], )";
  const Tokenizer tokenizer = read(added + kModel);
  EXPECT_EQ(ids_of(tokenizer, "abab"), (std::vector<uint32_t>{2, 2}));
  EXPECT_EQ(ids_of(tokenizer, "aababb", {.special = true}), (std::vector<uint32_t>{0, 4, 1}));
  EXPECT_EQ(tokenizer.decode(std::vector<uint32_t>{2, 4}, Specials::leave_out), "ab");
  EXPECT_EQ(tokenizer.decode(std::vector<uint32_t>{2, 4}, Specials::keep), "ab abab");
}

// PyPI's `tokenizers` has the classes of Unicode 8, and the marks and normal forms of Unicode 9.
TEST(Tokenizer, HasTheClassesThatFilesMean) {
  EXPECT_FALSE(is_punctuation(0x2e43));  // of Unicode 9
  EXPECT_TRUE(is_punctuation(0x2e42));
  EXPECT_TRUE(is_punctuation(0x166d));   // a symbol since Unicode 12
  EXPECT_FALSE(is_nonspacing(0x1e000));  // of Unicode 9, where it is a mark
  EXPECT_TRUE(is_mark(0x1e000));
  EXPECT_FALSE(is_mark(0x7fd));  // of Unicode 11
  EXPECT_TRUE(is_mark(0x1cf2));  // a letter since Unicode 12
  EXPECT_FALSE(is_control(0x8e2));
  EXPECT_TRUE(is_control(0x6dd));
  // U+0EBA has changed its class since it came, in Unicode 12: it stays before U+0EB8, and "e" is composed behind it.
  EXPECT_EQ(normal_form("\u0e81\u0ec8\u0eba\u0eb8e\u0301", Form::nfc), "\u0e81\u0ec8\u0eba\u0eb8\u00e9");
  EXPECT_EQ(normal_form("\u0e81\u0ec8\u0eb8", Form::nfc), "\u0e81\u0eb8\u0ec8");
  EXPECT_EQ(normal_form("\u32ff\u32fe", Form::nfkd), "\u32ff\u30f2");  // an era of 2019, and a letter in a circle
}

TEST(Tokenizer, RefusesAnUnknownCharacterAtItsPlace) {
  const Tokenizer tokenizer = read("{" + kModel);
  EXPECT_EQ(fault_of([&] { ids_of(tokenizer, "abba\nab\u00e9ab"); }).substr(0, 4),
            "1:5 ");  // the line's end is none either
  EXPECT_EQ(fault_of([&] { ids_of(tokenizer, "abba\u00e9ab"); }),
            "1:5 the tokenizer has no token for '\u00e9' (U+00E9), and none for what is unknown");
}

TEST(Tokenizer, NamesIds) {
  const auto with = [](const std::string& added) { return read(R"({"added_tokens": [)" + added + "], " + kModel); };
  const NamedIds named =
      with(R"({"id": 3, "content": "<s>", "special": true}, {"id": 9, "content": "</s>", "special": true})").named;
  EXPECT_EQ(named.begin, 3U);
  EXPECT_EQ(named.end, 9U);
  EXPECT_FALSE(named.padding);
  EXPECT_FALSE(named.unknown);
}

TEST(Tokenizer, TellsFaultsAtTheirPlace) {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"", "1:1 the file is empty"},
      {"[]", "1:1 a tokenizer must be an object, is a list"},
      {"{\"model\": {}, \"extra\": 1}", "1:15 a tokenizer has no 'extra' that is supported"},
      {"{\"version\": \"2.0\"}", "1:13 the version is not 1.0"},
      {"{}", "1:1 'model' is missing here"},
      {R"({"model": {"type": "Nope"}})", "1:20 the model 'Nope' is not supported"},
      {R"({"normalizer": {"type": "Precompiled"}, )" + kModel, "1:25 the normalizer 'Precompiled' is not supported"},
      {R"({"decoder": {"type": "CTC"}, )" + kModel, "1:22 the decoder 'CTC' is not supported"},
      {R"({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated"}, )" + kModel,
       "1:58 the regular expression is not taken: missing closing parenthesis at byte 1"},
      {R"({"post_processor": {"type": "BertProcessing", "sep": ["x", 7], "cls": ["a", 0]}, )" + kModel,
       "1:20 the post-processor adds the id 7, which no token has"},
      {R"({"added_tokens": [{"id": 1, "content": "c"}], )" + kModel,
       "1:26 the added token 'c' has the id 1, which is that of 'b'"},
      {R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": ["a b"]}})",
       "1:65 the merge of 'a' and 'b' makes 'ab', which is not in the vocabulary"},
      {R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 0}, "merges": []}})", "1:50 'b' has the id 0, as 'a' has"},
      {R"({"model": {"type": "BPE", "vocab": {"a": 0, "a": 1}, "merges": []}})", "1:45 the token 'a' is given twice"},
      {R"({"model": {"type": "BPE", "vocab": {"a": 99999999}, "merges": []}})",
       "1:42 the id of 'a' must be an integer from 0 to 4194303, is 99999999"},
      {R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [], "byte_fallback": true}})",
       "1:77 byte_fallback needs a token of each byte; the vocabulary has no '<0x00>'"},
      {R"({"model": {"type": "BPE", "vocab": {}, "merges": [], "unk_token": "u"}})", "1:67 the vocabulary has no 'u'"},
      {R"({"model": {"type": "Unigram", "vocab": [["a", -1.5]], "unk_id": 1}})",
       "1:65 'unk_id' is 1, the vocabulary has 1 tokens"},
      {"{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 01}}}", "1:42 a number does not begin with 0"},
      {"{\"a\": \"\\ud800\"}", "1:8 half of a pair of surrogates"},
      {"{\"a\": \"\xff\"}", "1:8 not valid UTF-8"},
      {std::string(100, '['), "1:66 nesting deeper than 64"}};
  for (const auto& [json, message] : faults) EXPECT_EQ(fault(json), message) << json;
}

// A pattern whose search grows without bounds is given up.
TEST(Tokenizer, GivesUpASlowExpression) {
  const Tokenizer tokenizer =
      read(R"({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated"}, )" + kModel);
  EXPECT_NE(fault_of([&] { ids_of(tokenizer, std::string(64, 'a') + "b"); }).find("takes too long"), std::string::npos);
}

// One word of a million characters: the heap's way equals the scan's, and ends.
TEST(Tokenizer, EncodesALongWord) {
  const Tokenizer tokenizer = read("{" + kModel);
  std::string text;
  for (int i = 0; i < 250'000; ++i) text += "abab";
  EXPECT_EQ(ids_of(tokenizer, text), std::vector<uint32_t>(250'000, 4));
}

TEST(Tokenizer, ReadsTheFilesOfGpt2) {
  const TemporaryFolder folder;
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(fs::path(folder.path()) / name) << text;
  };
  write("vocab.json", R"({"a": 0, "Ġ": 1, "Ġa": 2, "<|endoftext|>": 3})");
  write("merges.txt", "#version: 0.2\nĠ a\n");
  std::deque<SourceFile> files;
  const Tokenizer tokenizer = read_tokenizer(files, folder.path());
  EXPECT_EQ(ids_of(tokenizer, "a a"), (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(tokenizer.decode(std::vector<uint32_t>{0, 2, 3}, Specials::leave_out), "a a");
  EXPECT_EQ(tokenizer.named.end, 3U);
  write("merges.txt", "#version: 0.2\na b\n");
  EXPECT_EQ(fault_of([&] { read_tokenizer(files, folder.path()); }),
            "2:1 the merge of 'a' and 'b' reads 'b', which is not in the vocabulary");
}

// The example of Sennrich, Haddow and Birch (2016): low 5, lower 2, newest 6, widest 3. Of "es" and "st", both 9 times,
// the pair with the lower ids joins first: e s.
TEST(TrainTokenizer, JoinsTheMostFrequentPairs) {
  const Counted words = {{"low", 5}, {"lower", 2}, {"newest", 6}, {"widest", 3}};
  const TrainedPairs made = train_pairs(words, 14, {}, {"d", "e", "i", "l", "n", "o", "r", "s", "t", "w"}, "");
  EXPECT_EQ(std::vector<std::string>(made.tokens.begin() + 10, made.tokens.end()),
            (std::vector<std::string>{"es", "est", "lo", "low"}));
}

// Where one word makes up the text, its parts lose to it.
TEST(TrainTokenizer, UnigramKeepsWhatExplainsTheText) {
  const auto made = train_unigram({{"abc", 100}, {"abd", 1}}, 5);
  EXPECT_EQ(made.front().first, "abc");
  EXPECT_EQ(made.size(), 5U);  // a, b, c, d stay
}

TEST(TrainTokenizer, WritesWhatItReads) {
  const std::vector<SourceFile> texts = {
      {"a.txt", "the cat sat on the mat\nthe cats sat <|end|>\n\u4f60\u597d \u4f60\u597d\n"}};
  for (const std::string& kind : train_kinds()) {
    const TrainRequest request{.kind = kind, .size = kind == "bpe" ? 270U : 40U, .special = {"<|end|>"}};
    const std::string json = train_tokenizer(request, texts);
    EXPECT_EQ(json, train_tokenizer(request, texts)) << kind;
    const Tokenizer tokenizer = read(json);
    EXPECT_EQ(tokenizer.decode(ids_of(tokenizer, "the cat \u4f60\u597d"), Specials::leave_out),
              kind == "wordpiece" ? "the cat \u4f60 \u597d" : "the cat \u4f60\u597d")
        << kind;
    EXPECT_EQ(tokens_of(tokenizer, "<|end|>").size() > 1, true) << kind;
    EXPECT_EQ(ids_of(tokenizer, "<|end|>", {.special = true}).size(), 1U) << kind;
  }
}

TEST(TrainTokenizer, RefusesWhatItCannotTrain) {
  const auto refused = [](const TrainRequest& request, const std::string& text) {
    const std::vector<SourceFile> texts = {{"a.txt", text}};
    return fault_of([&] { train_tokenizer(request, texts); });
  };
  EXPECT_EQ(refused({.kind = "bpe", .size = 300}, ""), "there is no text to train on: all files are empty");
  EXPECT_EQ(refused({.kind = "bpe", .size = 300}, "ab\n\xff"), "2:1 not valid UTF-8");
  EXPECT_EQ(refused({.kind = "bpe", .size = 10}, "ab"),
            "a vocabulary of 10 does not hold the 256 bytes and special tokens");
  EXPECT_EQ(refused({.kind = "unigram", .size = 2}, "ab"),
            "a vocabulary of 2 does not hold the 4 characters and special tokens");
}

}  // namespace
}  // namespace heddle::runtime::text
