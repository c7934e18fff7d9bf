// Texts that a model writes: the same alone and beside others, and the likeliest ones that a search finds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "runtime/files/temporary.h"
#include "runtime/files/write_file.h"
#include "runtime/text/train.h"
#include "runtime/weights/read_weights.h"
#include "tools/api/heddle.h"
#include "tools/driver/quantize_weights.h"
#include "tools/generate/written_text.h"

namespace heddle {
namespace {

// One layer of attention over `context` tokens, with weights that make some tokens much likelier than others.
std::string attends(int64_t context, int64_t vocabulary, int64_t width = 8) {
  const std::string t = std::to_string(context), v = std::to_string(vocabulary), d = std::to_string(width);
  return R"({"format": "heddle-model/1", "name": "writer",
    "inputs": {"text": {"shape": ["N", )" +
         t + R"(], "dtype": "i32"}, "next": {"shape": ["N", )" + t + R"(], "dtype": "i32"}},
    "nodes": [{"name": "x", "op": "embedding", "in": "text", "vocab": )" +
         v + R"(, "units": )" + d + R"(}, {"name": "p", "op": "learned_positions", "in": "x"},
      {"name": "h", "op": "attention", "in": ["p", "p", "p"], "causal": true, "heads": 2},
      {"name": "logits", "op": "dense", "units": )" +
         v + R"(}],
    "outputs": {"logits": "logits"},
    "train": {"batch": {"N": 2}, "steps": 1, "seed": 5, "init": {"op": "normal", "std": 1},
      "loss": {"op": "cross_entropy", "in": ["logits", "next"]}, "optimizer": "sgd"}})";
}

class Generate : public ::testing::Test {
 protected:
  std::string tokenizer(const std::vector<std::string>& characters, const std::vector<std::string>& special = {}) {
    std::string path = folder_.path() + "/tokenizer.json";
    runtime::write_file(path, runtime::text::character_tokenizer(special, characters, ""));
    return path;
  }
  Model model(const std::string& text, int threads = 1) {
    Model made = Model::parse(text, {.device = "host", .threads = threads, .note = [this](const std::string& note) {
                                       notes_.push_back(note);
                                     }});
    made.compile();
    return made;
  }
  runtime::TemporaryFolder folder_;
  std::vector<std::string> notes_;
};

void expect_equal(const Generated& a, const Generated& b) {
  EXPECT_EQ(a.text, b.text);
  EXPECT_EQ(a.tokens, b.tokens);
  EXPECT_EQ(a.log_probabilities, b.log_probabilities);  // bit for bit
  EXPECT_EQ(a.end, b.end);
}

// A program that was compiled for f32 weights is not used for int8 weights, nor the other way round.
TEST_F(Generate, ReadsInt8WeightsWhereTheyAreLoaded) {
  const std::string text = attends(12, 5, 64), f32 = folder_.path() + "/f32", int8 = folder_.path() + "/int8";
  Model made = model(text);
  made.save(f32);
  std::vector<frontend::ProductWeight> weights(2);
  weights[0] = {.name = "x.weight", .use = frontend::WeightUse::table, .axis = 0};
  weights[1] = {.name = "logits.weight", .use = frontend::WeightUse::matrix, .axis = 0};
  runtime::write_safetensors(
      int8, driver::quantize_weights(runtime::read_weights(f32).file, weights, {.keep = {}, .model = "writer"}).file);
  const GenerateOptions options{
      .tokens = 9, .temperature = 0, .seed = 3, .tokenizer = tokenizer({"a", "b", "c", "d", "e"})};
  std::vector<std::vector<std::vector<Generated>>> written;
  Model reader = Model::parse(
      text, {.device = "host", .threads = 1, .note = [this](const std::string& note) { notes_.push_back(note); }});
  for (const std::string& path : {f32, int8, int8, f32}) {
    reader.load_weights(path);
    written.push_back(reader.generate({{"a"}, {"dcc"}}, options));
  }
  EXPECT_EQ(std::ranges::count_if(notes_, [](const std::string& n) { return n.find("int8 in the program") != n.npos; }),
            1);
  for (size_t i = 0; i < 2; ++i) {
    expect_equal(written[0][i][0], written[3][i][0]);
    expect_equal(written[1][i][0], written[2][i][0]);
    EXPECT_NE(written[0][i][0].log_probabilities, written[1][i][0].log_probabilities);
    for (size_t t = 0; t < 9; ++t)
      EXPECT_NEAR(written[0][i][0].log_probabilities[t], written[1][i][0].log_probabilities[t], 0.1);
  }
}

// Five texts in rows of three and of ten, with prompts of different lengths: rows are taken over as texts end.
TEST_F(Generate, HasTheSameBitsAloneAndBesideOthers) {
  GenerateOptions options{.tokens = 9, .seed = 3, .samples = 2, .tokenizer = tokenizer({"a", "b", "c", "d", "e"})};
  const std::vector<Prompt> prompts = {{"a"}, {"abcde"}, {"cc"}, {"eddeabc"}, {"b"}};
  Model one = model(attends(12, 5)), two = model(attends(12, 5), 2);
  const auto all = one.generate(prompts, options), on_two = two.generate(prompts, options);
  options.batch = 3;
  const auto in_turns = one.generate(prompts, options);
  options.batch = 0;
  std::set<std::string> different;
  for (size_t i = 0; i < prompts.size(); ++i) {
    const auto alone = one.generate({prompts[i]}, options);
    for (size_t sample = 0; sample < 2; ++sample) {
      EXPECT_EQ(all[i][sample].tokens.size(), 9U);
      expect_equal(all[i][sample], alone[0][sample]);
      expect_equal(all[i][sample], in_turns[i][sample]);
      expect_equal(all[i][sample], on_two[i][sample]);
      different.insert(all[i][sample].text);
    }
  }
  EXPECT_GT(different.size(), 5U);
}

// Whatever the number of texts: products of a library may add up the last rows in another order than the others, and so do
// those of a program that does not ask for lone rows.
TEST_F(Generate, HasTheSameBitsInEveryNumberOfRows) {
  Model one = model(attends(12, 15, 96));
  GenerateOptions options{.tokens = 3, .tokenizer = tokenizer({"a", "b", "c", "d", "e"})};
  const Generated alone = one.generate({{"abc"}}, options)[0][0];
  for (const int rows : {2, 3, 4, 7, 8, 9, 15, 31, 65, 130}) {
    options.batch = rows;
    for (const auto& made : one.generate(std::vector<Prompt>(static_cast<size_t>(rows), {"abc"}), options)) {
      SCOPED_TRACE(rows);
      expect_equal(made[0], alone);
    }
  }
}

// What is drawn has the probability that a prediction of the whole text gives it; a long prompt is read in chunks.
TEST_F(Generate, TellsTheProbabilitiesOfTheWholeText) {
  Model one = model(attends(12, 5));
  for (const std::string prompt : {"cab", "cabbed", "cabbeddcae"}) {
    const size_t before = prompt.size(), count = 12 - before;
    const GenerateOptions options{.tokens = static_cast<int>(count), .tokenizer = tokenizer({"a", "b", "c", "d", "e"})};
    const Generated made = one.generate({{prompt}}, options)[0][0];
    std::vector<int32_t> ids;
    for (const char c : prompt) ids.push_back(c - 'a');
    ids.insert(ids.end(), made.tokens.begin(), made.tokens.end());
    const std::vector<float> logits = one.predict({{"text", Array::i32({1, 12}, ids)}}).at("logits").floats();
    for (size_t i = 0; i < count; ++i) {
      double sum = 0;
      const float* at = &logits[(i + before - 1) * 5];
      for (size_t token = 0; token < 5; ++token) sum += std::exp(static_cast<double>(at[token]));
      const double expected = static_cast<double>(at[made.tokens[i]]) - std::log(sum);
      EXPECT_NEAR(made.log_probabilities[i], expected, 1e-5);
    }
  }
}

TEST_F(Generate, EndsWhereItIsTold) {
  Model one = model(attends(12, 5));
  GenerateOptions options{.tokens = 9, .tokenizer = tokenizer({"a", "b", "c", "d", "e"})};
  const std::string whole = one.generate({{"a"}}, options)[0][0].text;
  ASSERT_EQ(whole.size(), 9U);
  options.stop = {"zz", whole.substr(4, 2)};
  const Generated stopped = one.generate({{"a"}}, options)[0][0];
  EXPECT_EQ(stopped.text, whole.substr(0, whole.find(options.stop[1])));
  EXPECT_EQ(stopped.end, "stop");
  options.stop = {};
  options.tokenizer = tokenizer({"a", "b", "c", "d"}, {"</s>"});
  options.tokens = 200;
  const Generated ended = one.generate({{"a"}}, options)[0][0];
  EXPECT_EQ(ended.end, "end");
  EXPECT_EQ(ended.tokens.back(), 0U);
  EXPECT_EQ(ended.text.size(), ended.tokens.size() - 1);  // the end is no text
}

TEST_F(Generate, GoesOnBeyondTheContextAndSaysSoOnce) {
  Model one = model(attends(6, 5));
  GenerateOptions options{.tokens = 5, .samples = 3, .tokenizer = tokenizer({"a", "b", "c", "d", "e"})};
  const auto within = one.generate({{"ab"}}, options);
  EXPECT_EQ(notes_, std::vector<std::string>{});
  options.tokens = 40;
  const auto beyond = one.generate({{"ab"}}, options);
  ASSERT_EQ(notes_.size(), 1U);
  EXPECT_NE(notes_[0].find("longer than the 6 tokens"), std::string::npos) << notes_[0];
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(beyond[0][i].tokens.size(), 40U);
    EXPECT_TRUE(std::equal(within[0][i].tokens.begin(), within[0][i].tokens.end(), beyond[0][i].tokens.begin()));
  }
  // The seventh token is read behind the fifth and sixth, at position 2, and says which the eighth is.
  std::vector<int32_t> ids = {0, 1};
  ids.insert(ids.end(), beyond[0][0].tokens.begin(), beyond[0][0].tokens.end());
  const std::vector<int32_t> last = {ids[4], ids[5], ids[6], 0, 0, 0};
  const std::vector<float> logits = one.predict({{"text", Array::i32({1, 6}, last)}}).at("logits").floats();
  double sum = 0;
  for (size_t token = 0; token < 5; ++token) sum += std::exp(static_cast<double>(logits[2 * 5 + token]));
  const auto next = static_cast<size_t>(ids[7]);
  EXPECT_NEAR(beyond[0][0].log_probabilities[5], static_cast<double>(logits[2 * 5 + next]) - std::log(sum), 1e-5);
}

// All texts of up to six tokens of three characters, as the whole model sees them.
TEST_F(Generate, FindsTheLikeliestTextWithAsManyBeamsAsThereAre) {
  constexpr int kVocabulary = 3, kTokens = 8;
  Model one = model(attends(kTokens, kVocabulary));
  for (const int length : {1, 2, 4, 6}) {
    const auto texts = static_cast<int64_t>(std::pow(kVocabulary, length));
    std::vector<int32_t> ids;
    for (int64_t text = 0; text < texts; ++text) {
      ids.insert(ids.end(), {0, 1});
      int64_t divisor = texts;
      for (int i = 0; i < kTokens - 2; ++i) {
        divisor /= i < length ? kVocabulary : 1;
        ids.push_back(i < length ? static_cast<int32_t>(text / divisor % kVocabulary) : 0);
      }
    }
    const std::vector<float> logits = one.predict({{"text", Array::i32({texts, kTokens}, ids)}}).at("logits").floats();
    std::map<std::vector<uint32_t>, double> sums;
    std::vector<uint32_t> best;
    for (int64_t text = 0; text < texts; ++text) {
      double sum = 0;
      std::vector<uint32_t> tokens;
      for (int i = 0; i < length; ++i) {
        const float* at = &logits[static_cast<size_t>((text * kTokens + 1 + i) * kVocabulary)];
        tokens.push_back(static_cast<uint32_t>(ids[static_cast<size_t>(text * kTokens + 2 + i)]));
        double all = 0;
        for (int token = 0; token < kVocabulary; ++token) all += std::exp(static_cast<double>(at[token]));
        sum += static_cast<double>(at[tokens.back()]) - std::log(all);
      }
      if (best.empty() || sum > sums.at(best)) best = tokens;
      sums[tokens] = sum;
    }
    const auto width = static_cast<int>(std::max<int64_t>(texts / kVocabulary, 1));
    const auto found = one.generate(
        {{"ab"}}, {.tokens = length, .samples = width, .beams = width, .tokenizer = tokenizer({"a", "b", "c"})})[0];
    ASSERT_EQ(found.size(), static_cast<size_t>(width));
    EXPECT_EQ(found[0].tokens, best) << "of " << length;
    for (const Generated& text : found) {  // each goes on from its own beam
      double sum = 0;
      for (const double log : text.log_probabilities) sum += log;
      EXPECT_NEAR(sum, sums.at(text.tokens), 1e-5);
    }
  }
}

// Of the token behind each text of up to `context` tokens, as the whole model sees it.
std::vector<double> log_probabilities_behind(Model& model, std::vector<int32_t> ids, int64_t context) {
  const size_t last = ids.size() - 1;
  ids.resize(static_cast<size_t>(context), 0);
  const std::vector<float> logits = model.predict({{"text", Array::i32({1, context}, ids)}}).at("logits").floats();
  const size_t vocabulary = logits.size() / static_cast<size_t>(context);
  std::vector<double> all;
  double sum = 0;
  for (size_t token = 0; token < vocabulary; ++token) {
    all.push_back(static_cast<double>(logits[last * vocabulary + token]));
    sum += std::exp(all.back());
  }
  for (double& log : all) log -= std::log(sum);
  return all;
}

struct Searched {
  std::vector<int32_t> ids;
  double sum = 0;
  size_t first = 0;  // token that is not of the prompt
  bool ends_with(const std::vector<int32_t>& tokens) const {
    return ids.size() >= first + tokens.size() && std::equal(tokens.rbegin(), tokens.rend(), ids.rbegin());
  }
  double score(double penalty) const { return sum / std::pow(static_cast<double>(ids.size() - first), penalty); }
};

// The whole search, which ends nowhere before the last token: 0 ends a text, and {2, 2} does.
std::vector<Searched> searched(Model& model, const std::vector<int32_t>& prompt, size_t width, size_t tokens,
                               double penalty) {
  std::vector<Searched> live{{prompt, 0, prompt.size()}}, ended;
  for (size_t n = 1; n <= tokens; ++n) {
    std::vector<Searched> all, next;
    for (const Searched& text : live) {
      const std::vector<double> logs = log_probabilities_behind(model, text.ids, 12);
      for (size_t token = 0; token < logs.size(); ++token) {
        all.push_back({text.ids, text.sum + logs[token], text.first});
        all.back().ids.push_back(static_cast<int32_t>(token));
      }
    }
    std::ranges::stable_sort(all, std::ranges::greater{}, &Searched::sum);
    for (Searched& text : all) {
      if (next.size() == width) break;
      const bool ends = text.ids.back() == 0 || text.ends_with({2, 2}) || n == tokens;
      (ends ? ended : next).push_back(std::move(text));
    }
    live = std::move(next);
  }
  std::ranges::stable_sort(ended, std::ranges::greater{}, [&](const Searched& text) { return text.score(penalty); });
  if (ended.size() > width) ended.resize(width);
  return ended;
}

// With an end token, a stop text and a penalty of lengths: where the search ends early, nothing better would have come.
TEST_F(Generate, SearchesTextsOfDifferentLengths) {
  Model one = model(attends(12, 3));
  std::set<size_t> lengths;
  for (const double penalty : {0.0, 1.0, 2.5})
    for (const int width : {1, 2, 3, 5}) {
      SCOPED_TRACE(penalty);
      SCOPED_TRACE(width);
      const auto expected = searched(one, {1, 2}, static_cast<size_t>(width), 7, penalty);
      const auto found = one.generate({{"ab"}}, {.tokens = 7,
                                                 .stop = {"bb"},
                                                 .samples = width,
                                                 .beams = width,
                                                 .length_penalty = penalty,
                                                 .tokenizer = tokenizer({"a", "b"}, {"</s>"})})[0];
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i) {
        const Searched& text = expected[i];
        EXPECT_EQ(found[i].tokens, std::vector<uint32_t>(text.ids.begin() + 2, text.ids.end()));
        const bool stopped = text.ends_with({2, 2});
        EXPECT_EQ(found[i].end, text.ids.back() == 0 ? "end" : stopped ? "stop" : "tokens");
        EXPECT_EQ(found[i].text.find("bb"), std::string::npos);
        lengths.insert(found[i].tokens.size());
      }
    }
  EXPECT_GT(lengths.size(), 2U);
}

// The reader's tokens stand around a text: an empty prompt begins with one, and the other ends it.
TEST_F(Generate, BeginsAndEndsAsTheReaderSays) {
  std::string text = attends(12, 5);
  text.insert(text.rfind('}'),
              R"(, "data": {"train": {"op": "tokens", "file": "absent.txt", "begin": "<s>", "end": "<e>",
    "text": "window", "next": "next"}})");
  Model one = model(text);
  GenerateOptions options{.tokens = 30, .samples = 8, .tokenizer = tokenizer({"a", "b", "c"}, {"<s>", "<e>"})};
  for (const auto& [prompt, ids] :
       {std::pair{std::string(), std::vector<int32_t>{0}}, {std::string("cb"), std::vector<int32_t>{0, 4, 3}}}) {
    const std::vector<double> logs = log_probabilities_behind(one, ids, 12);
    int ended = 0;
    const auto all = one.generate({{prompt}}, options);
    for (const Generated& made : all[0]) {
      EXPECT_NEAR(made.log_probabilities[0], logs[made.tokens[0]], 1e-5);
      ended += made.end == "end" ? 1 : 0;
      EXPECT_EQ(made.tokens.back() == 1, made.end == "end");
    }
    EXPECT_GT(ended, 0);
  }
}

TEST_F(Generate, SearchesWithOneBeamAsWithoutTemperature) {
  Model one = model(attends(12, 5));
  GenerateOptions options{.tokens = 8, .temperature = 0, .tokenizer = tokenizer({"a", "b", "c", "d", "e"})};
  const Generated greedy = one.generate({{"ba"}}, options)[0][0];
  options.temperature = 1;
  options.beams = 1;
  EXPECT_EQ(one.generate({{"ba"}}, options)[0][0].tokens, greedy.tokens);
  options.beams = options.samples = 4;
  const auto four = one.generate({{"ba"}}, options)[0];
  ASSERT_EQ(four.size(), 4U);
  std::vector<double> sums;
  for (const Generated& text : four) {
    sums.push_back(0);
    for (const double log : text.log_probabilities) sums.back() += log;
  }
  EXPECT_TRUE(std::ranges::is_sorted(sums, std::ranges::greater{}));
}

TEST_F(Generate, TellsPiecesAndEndsWhereItIsAskedTo) {
  Model one = model(attends(12, 5));
  std::string pieces;
  GenerateOptions options{.tokens = 8, .tokenizer = tokenizer({"a", "b", "c", "d", "e"})};
  options.each = [&](size_t prompt, size_t sample, const std::string& piece) {
    EXPECT_EQ(prompt + sample, 0U);
    pieces += piece;
    return pieces.size() < 3;
  };
  const Generated made = one.generate({{"a"}}, options)[0][0];
  EXPECT_EQ(pieces, made.text);
  EXPECT_EQ(made.text.size(), 3U);
}

// Four texts at once: the fifth begins when one of them is complete.
TEST_F(Generate, TellsTextsAsTheyAreComplete) {
  Model one = model(attends(12, 5));
  std::vector<std::string> texts(6);
  std::vector<size_t> told;
  GenerateOptions options{.tokens = 8, .batch = 2, .tokenizer = tokenizer({"a", "b", "c", "d", "e"})};
  options.each = [&](size_t prompt, size_t, const std::string& piece) {
    texts[prompt] += piece;
    return true;
  };
  options.done = [&](size_t prompt, size_t sample, const Generated& made) {
    EXPECT_EQ(sample, 0U);
    EXPECT_EQ(made.text, texts[prompt]);
    EXPECT_EQ(made.tokens.size(), 8U);
    told.push_back(prompt);
    return told.size() < 4;
  };
  const auto made = one.generate({{"a"}, {"b"}, {"c"}, {"d"}, {"e"}, {"a"}}, options);
  EXPECT_EQ(told, (std::vector<size_t>{0, 1, 2, 3}));
  ASSERT_EQ(made.size(), 6U);
  EXPECT_EQ(made[3][0].text, texts[3]);
  EXPECT_TRUE(made[4][0].tokens.empty());
  told.clear();
  options = {.tokens = 8, .samples = 2, .beams = 3, .tokenizer = options.tokenizer};
  options.done = [&](size_t prompt, size_t sample, const Generated&) {
    told.push_back(2 * prompt + sample);
    return told.size() < 3;
  };
  one.generate({{"a"}, {"b"}, {"c"}}, options);
  EXPECT_EQ(told, (std::vector<size_t>{0, 1, 2}));
}

// Bytes as tokens.
std::string text_of(std::span<const uint32_t> ids) {
  std::string text, out;
  for (const uint32_t id : ids) text += static_cast<char>(id);
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const size_t length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    out += i + length <= text.size() && byte >= 0x20 ? text.substr(i, length) : "\xEF\xBF\xBD";
    i += length;
  }
  return out;
}

std::vector<std::string> written(const std::string& bytes, const std::vector<std::string>& stops) {
  tools::WrittenText text(text_of, stops, std::vector<uint32_t>{'x', 'y'});
  std::vector<std::string> pieces;
  for (const char c : bytes) pieces.push_back(text.add(static_cast<unsigned char>(c)));
  pieces.push_back(text.finish());
  return pieces;
}

TEST(WrittenText, HoldsBackWhatIsNotCertain) {
  using Pieces = std::vector<std::string>;
  EXPECT_EQ(written("ab", {}), (Pieces{"a", "b", ""}));
  EXPECT_EQ(written("a\xC3\xA4z", {}), (Pieces{"a", "", "ä", "z", ""}));
  EXPECT_EQ(written("abcx", {"bcd"}), (Pieces{"a", "", "", "bcx", ""}));
  EXPECT_EQ(written("abc", {"bcd"}), (Pieces{"a", "", "", "bc"}));
  EXPECT_EQ(written("abcde", {"bcd", "q"}), (Pieces{"a", "", "", "", "", ""}));
  EXPECT_EQ(written("aab", {"ab"}), (Pieces{"", "a", "", ""}));  // the second a may begin it, too
  EXPECT_EQ(written("ab", {"b"}), (Pieces{"a", "", ""}));
}

// Tokens of no character, and of no text, do not wait for one that comes: each is decoded a few times, however many there are.
TEST(WrittenText, DoesNotWaitForWhatIsNoCharacter) {
  for (const std::string& each : {std::string("\xEF\xBF\xBD"), std::string()}) {
    size_t longest = 0;
    const auto decode = [&](std::span<const uint32_t> ids) {
      longest = std::max(longest, ids.size());
      std::string text;
      for (const uint32_t id : ids) text += id == 'a' ? "a" : each;
      return text;
    };
    tools::WrittenText text(decode, {}, {});
    std::string pieces, expected;
    for (int i = 0; i < 100; ++i) {
      pieces += text.add(i == 50 ? 'a' : 0);
      expected += i == 50 ? "a" : each;
    }
    EXPECT_GE(pieces.size(), expected.size() * 9 / 10);
    EXPECT_EQ(pieces + text.finish(), expected);
    EXPECT_LT(longest, 16U);
  }
}

}  // namespace
}  // namespace heddle
