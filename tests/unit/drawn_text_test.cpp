// Drawn texts: what the kinds promise of them, read again by other rules than those that drew them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "runtime/data/drawn/text.h"
#include "runtime/text/tokenizer.h"

namespace heddle::runtime::data {
namespace {

using Strings = std::vector<std::string>;

// Some rows of a kind, column by column, as numbers and as the text that the tokenizer makes of them.
class Drawn {
 public:
  struct Input {
    std::string source;
    std::vector<int64_t> dims;
  };

  Drawn(const std::string& kind, const std::vector<Input>& inputs, int64_t rows, bool held_out = false) {
    for (const Input& i : inputs)
      request_.columns.push_back(
          {.input = i.source, .sources = {{i.source}}, .dtype = "i32", .dims = i.dims, .where = {}});
    request_.settings = {
        {"kind", Strings{kind}, {}}, {"rows", rows, {}}, {"seed", int64_t{7}, {}}, {"held_out", held_out, {}}};
    header_ = synthetic_header(request_);
    table_ = draw_table(request_);
  }

  std::vector<int64_t> row(size_t column, int64_t row) const {
    const Column& c = table_.columns.at(column);
    std::vector<int64_t> out;
    for (int64_t i = row * c.row_elements(); i < (row + 1) * c.row_elements(); ++i)
      visit(c.type, [&](auto element) {
        std::memcpy(&element, c.bytes.data() + i * static_cast<int64_t>(sizeof element), sizeof element);
        out.push_back(static_cast<int64_t>(element));
      });
    return out;
  }
  int64_t number(size_t column, int64_t at) const { return row(column, at).at(0); }

  // What the tokenizer makes of a text.
  std::vector<uint32_t> encoded(size_t column, const std::string& text) const {
    const SourceFile file{"tokenizer.json", header_.tokenizers.at(column)};
    const text::Tokenizer tokenizer = text::read_tokenizer_json(file);
    text::Encoder encoder(tokenizer);
    std::vector<uint32_t> ids;
    EXPECT_TRUE(encoder.encode(text, {}, ids)) << text;
    return ids;
  }

  // Without what is -100.
  std::string text(size_t column, int64_t at, text::Specials specials = text::Specials::leave_out) const {
    const SourceFile file{"tokenizer.json", header_.tokenizers.at(column)};
    std::vector<uint32_t> ids;
    for (const int64_t id : row(column, at))
      if (id >= 0) ids.push_back(static_cast<uint32_t>(id));
    return text::read_tokenizer_json(file).decode(ids, specials);
  }

 private:
  ReaderRequest request_{.op = "synthetic", .columns = {}, .settings = {}, .where = {}};
  TableHeader header_;
  Table table_;
};

Strings split(const std::string& text) {
  std::istringstream in(text);
  Strings words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

bool is_one_of(const std::string& word, const Strings& all) { return std::ranges::count(all, word) > 0; }

const Strings kGood = {"good", "great", "lovely", "charming", "pleasant", "brilliant", "fine", "fresh"};
const Strings kBad = {"bad", "dull", "dreadful", "poor", "boring", "ugly", "awful", "stale"};

struct Clause {
  bool praises = false;
  std::string noun, adjective;
};
Clause read_clause(const Strings& words) {
  Clause c;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& w = words[i];
    if (w == "the") c.noun = words.at(i + 1);
    if (is_one_of(w, kGood)) c.adjective = w, c.praises = !c.praises;
    if (is_one_of(w, kBad)) c.adjective = w;
    if (is_one_of(w, {"not", "never", "hardly", "anything", "far", "nobody", "wrong", "unfair"}))
      c.praises = !c.praises;
  }
  return c;
}

// Clauses, and which of them counts.
struct Reading {
  std::vector<Clause> clauses;
  bool good = false;
};
Reading read_review(const std::string& text) {
  Reading out;
  std::vector<Strings> parts(1);
  bool although = false;
  for (const std::string& w : split(text)) {
    if (is_one_of(w, {"and", ","}))
      parts.emplace_back();
    else if (w == "although")
      although = parts.size() > 1;
    else if (w != "but")
      parts.back().push_back(w);
  }
  for (const Strings& part : parts) out.clauses.push_back(read_clause(part));
  out.good = although ? out.clauses.front().praises : out.clauses.back().praises;
  return out;
}

constexpr int64_t kRows = 1000;

TEST(Reviews, LabelsAreWhatTheTextSays) {
  std::set<std::pair<std::string, std::string>> pairs[2];
  for (const bool held_out : {false, true}) {
    const Drawn drawn("reviews", {{"tokens", {24}}, {"length", {}}, {"label", {}}}, kRows, held_out);
    int64_t good = 0, by_words = 0, longest = 0;
    for (int64_t row = 0; row < kRows; ++row) {
      const std::string text = drawn.text(0, row);
      const Reading reading = read_review(text);
      EXPECT_EQ(drawn.number(2, row), reading.good ? 1 : 0) << text;
      const bool differ = reading.clauses.front().praises != reading.clauses.back().praises;
      EXPECT_EQ(differ, text.find(',') != std::string::npos) << text;
      EXPECT_EQ(drawn.number(1, row), std::ssize(split(text))) << text;
      longest = std::max(longest, drawn.number(1, row));
      good += reading.good ? 1 : 0;
      int64_t praise = 0;
      for (const Clause& c : reading.clauses) {
        pairs[held_out ? 1 : 0].emplace(c.noun, c.adjective);
        praise += is_one_of(c.adjective, kGood) ? 1 : -1;
      }
      by_words += (praise > 0) == reading.good ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(good), kRows / 2.0, 80);  // 5 deviations
    EXPECT_LT(by_words, kRows * 7 / 10);
    EXPECT_GT(longest, 18);
    EXPECT_LT(longest, 24);
  }
  for (const auto& pair : pairs[1]) EXPECT_EQ(pairs[0].count(pair), 0U) << pair.first << " " << pair.second;
  EXPECT_GT(pairs[1].size(), 5U);
}

const Strings kMonths = {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"};
const Strings kWeekdays = {"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"};

// Sakamoto's formula: 0 is Sunday.
int weekday(int y, int m, int d) {
  constexpr std::array kShift = {0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4};
  if (m < 3) --y;
  return (y + y / 4 - y / 100 + y / 400 + kShift.at(static_cast<size_t>(m - 1)) + d) % 7;
}

std::string read_date(const std::string& text) {
  std::string numbers = text;
  int month = 0, named = -1;
  for (const std::string& word : split(text)) {
    for (size_t m = 0; m < kMonths.size(); ++m)
      if (word.starts_with(kMonths[m])) month = static_cast<int>(m) + 1;
    for (size_t w = 0; w < kWeekdays.size(); ++w)
      if (word == kWeekdays[w] + ",") named = static_cast<int>(w);
  }
  for (char& c : numbers)
    if (c < '0' || c > '9') c = ' ';
  std::vector<int> found;
  for (const std::string& number : split(numbers)) found.push_back(std::stoi(number));
  int day = found.at(0);
  if (month == 0) month = found.at(1);
  if (text.find('/') != std::string::npos) std::swap(day, month);
  EXPECT_TRUE(named < 0 || named == weekday(found.back(), month, day)) << text;
  return fmt::format("{:04}-{:02}-{:02}", found.back(), month, day);
}

TEST(Dates, AreTheSameInBothForms) {
  std::set<std::string> days[2];
  for (const bool held_out : {false, true}) {
    const Drawn drawn(
        "dates", {{"source", {30}}, {"source_length", {}}, {"target", {12}}, {"next", {12}}, {"target_length", {}}},
        kRows, held_out);
    for (int64_t row = 0; row < kRows; ++row) {
      const std::string written = drawn.text(0, row), iso = drawn.text(2, row);
      EXPECT_EQ(iso, read_date(written)) << written;
      EXPECT_EQ(drawn.number(1, row), std::ssize(written));
      EXPECT_EQ(drawn.text(2, row, text::Specials::keep), "<begin>" + iso + "<pad>");
      EXPECT_EQ(drawn.text(3, row, text::Specials::keep), iso + "<end>");
      EXPECT_EQ(drawn.row(3, row).back(), -100);
      EXPECT_EQ(drawn.number(4, row), 11);
      days[held_out ? 1 : 0].insert(iso);
    }
  }
  for (const std::string& day : days[1]) EXPECT_EQ(days[0].count(day), 0U) << day;
  EXPECT_GT(days[1].size(), 800U);
}

// A noun, its adjective and its article: how the latter two end, and the noun without its plural.
struct Phrase {
  std::string noun, ending;
};
Phrase read_phrase(const Strings& words, size_t& at) {
  const auto is_article = [](const std::string& w) {
    return w.size() <= 3 && (w[0] == 's' || w[0] == 'm') && w != "sub";
  };
  const auto ending_of = [](const std::string& w) { return w.substr(w.back() == 'n' ? w.size() - 2 : w.size() - 1); };
  Phrase p{.noun = words.at(at++), .ending = {}};
  std::string adjective;
  if (!is_article(words.at(at))) adjective = words.at(at++);
  p.ending = words.at(at++).substr(1);
  EXPECT_TRUE(adjective.empty() || ending_of(adjective) == p.ending) << adjective;
  return p;
}

TEST(Translations, WordsAgree) {
  std::map<std::string, std::set<std::string>> endings;  // of a noun
  std::set<std::pair<std::string, std::string>> pairs[2];
  for (const bool held_out : {false, true}) {
    const Drawn drawn("translations", {{"source", {12}}, {"target", {12}}, {"next", {12}}, {"source_length", {}}},
                      kRows, held_out);
    for (int64_t row = 0; row < kRows; ++row) {
      const std::string english = drawn.text(0, row), other = drawn.text(1, row);
      const Strings words = split(other), source = split(english);
      EXPECT_EQ(drawn.text(2, row, text::Specials::keep), other + " <end>");
      EXPECT_EQ(drawn.number(3, row), std::ssize(source));
      size_t at = 0;
      Phrase subject = read_phrase(words, at);
      endings[subject.noun].insert(subject.ending);
      const bool near = is_one_of(words.at(at), {"ul", "post", "sub", "apud"});
      if (near) ++at, subject = read_phrase(words, at), endings[subject.noun].insert(subject.ending);
      EXPECT_EQ(near, std::ranges::any_of(source,
                                          [](const auto& w) {
                                            return is_one_of(w, {"near", "behind", "under", "beside"});
                                          }))
          << english;
      const Phrase object = read_phrase(words, at);
      endings[object.noun].insert(object.ending);
      const std::string& verb = words.at(at);
      EXPECT_EQ(at + 1, words.size()) << other;
      EXPECT_TRUE(verb.ends_with(subject.ending)) << other;
      const std::string stem = verb.substr(0, verb.size() - subject.ending.size());
      const bool later = is_one_of("will", source);
      EXPECT_TRUE(stem.ends_with(later ? "ir" : "e")) << english << ": " << other;
      const bool many = subject.ending.size() == 2;
      pairs[held_out ? 1 : 0].emplace(subject.noun.substr(0, subject.noun.size() - (many ? 1 : 0)),
                                      stem.substr(0, stem.size() - (later ? 2 : 1)));
    }
  }
  // A noun has one class, and as many nouns have the one as the other.
  std::map<std::string, int> nouns;
  for (const auto& [noun, found] : endings) {
    EXPECT_EQ(found.size(), 1U) << noun;
    ++nouns[*found.begin()];
  }
  EXPECT_EQ(nouns, (std::map<std::string, int>{{"o", 6}, {"a", 6}, {"un", 6}, {"an", 6}}));
  for (const auto& pair : pairs[1]) EXPECT_EQ(pairs[0].count(pair), 0U) << pair.first << " " << pair.second;
  EXPECT_GT(pairs[1].size(), 3U);
}

Strings part(const Strings& words, int64_t first, int64_t last) {
  return {words.begin() + first, words.begin() + last + 1};
}

TEST(Questions, TheSpanIsTheAnswer) {
  std::set<std::pair<std::string, std::string>> pairs[2];
  for (const bool held_out : {false, true}) {
    const Drawn drawn("questions", {{"tokens", {48}}, {"segment", {48}}, {"length", {}}, {"first", {}}, {"last", {}}},
                      kRows, held_out);
    std::map<std::string, int> asked;
    for (int64_t row = 0; row < kRows; ++row) {
      const Strings words = split(drawn.text(0, row, text::Specials::keep));
      const auto size = static_cast<int64_t>(std::ranges::find(words, "<pad>") - words.begin());
      EXPECT_EQ(drawn.number(2, row), size);
      EXPECT_EQ(words.at(6), "<sep>");
      EXPECT_EQ(words.at(static_cast<size_t>(size) - 1), "<sep>");
      const std::vector<int64_t> segment = drawn.row(1, row);
      for (int64_t i = 0; i < 48; ++i) EXPECT_EQ(segment[static_cast<size_t>(i)], i > 6 && i < size ? 1 : 0);
      // person verb thing in place .
      const Strings answer = part(words, drawn.number(3, row), drawn.number(4, row));
      int found = 0;
      for (int64_t at = 7; at + 1 < size;) {
        const auto in = std::ranges::find(words.begin() + at, words.end(), "in") - words.begin();
        const auto stop = std::ranges::find(words.begin() + at, words.end(), ".") - words.begin();
        const std::string &person = words.at(static_cast<size_t>(at)), &thing = words.at(static_cast<size_t>(in) - 1);
        const std::string key = words.at(1) == "what" ? person : thing;
        if (key == words.at(words.at(1) == "what" ? 3 : 4)) {
          ++found, ++asked[words.at(1)];
          pairs[held_out ? 1 : 0].emplace(person, thing);
          EXPECT_EQ(answer, words.at(1) == "who"    ? Strings{person}
                            : words.at(1) == "what" ? part(words, at + 2, in - 1)
                                                    : part(words, in + 1, stop - 1));
        }
        at = stop + 1;
      }
      EXPECT_EQ(found, 1);
    }
    EXPECT_EQ(asked.size(), 3U);
  }
  for (const auto& pair : pairs[1]) EXPECT_EQ(pairs[0].count(pair), 0U) << pair.first << " " << pair.second;
  EXPECT_GT(pairs[1].size(), 5U);
}

// A row has one sentence up to as many as it has room for, and the answer is in one of them.
TEST(Questions, FitTheRow) {
  for (const auto& [length, sentences] : {std::pair(18, 1), std::pair(30, 2), std::pair(200, 6)}) {
    const Drawn drawn("questions", {{"tokens", {length}}, {"last", {}}, {"length", {}}}, 200);
    std::set<std::ptrdiff_t> counts;
    for (int64_t row = 0; row < 200; ++row) {
      const Strings words = split(drawn.text(0, row, text::Specials::keep));
      counts.insert(std::ranges::count(words, "."));
      EXPECT_EQ(std::ranges::count(words, "<sep>"), 2);
      EXPECT_LT(drawn.number(1, row), drawn.number(2, row) - 1);
    }
    EXPECT_EQ(std::ssize(counts), sentences);
    EXPECT_EQ(*counts.begin(), 1);
    EXPECT_EQ(*counts.rbegin(), sentences);
  }
}

const Strings kNumbers = {"two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"};

// What a report's sentences say: number, goods and shop.
struct Sale {
  std::ptrdiff_t number = 0;
  std::string shop, goods;
};
std::vector<Sale> read_sales(const Strings& report) {
  std::vector<Sale> sales;
  for (size_t i = 0; i + 1 < report.size(); ++i) {
    if (report[i] != "sold") continue;
    // "the north shop sold two maps", "two maps were sold in the north"
    const bool shop_first = report[i - 1] == "shop";
    const size_t number = shop_first ? i + 1 : i - 3;
    sales.push_back({.number = std::ranges::find(kNumbers, report.at(number)) - kNumbers.begin(),
                     .shop = report.at(shop_first ? i - 2 : i + 3),
                     .goods = report.at(number + 1)});
  }
  return sales;
}

std::string summary_of(const std::vector<Sale>& sales) {
  const auto [least, most] = std::ranges::minmax_element(sales, {}, &Sale::number);
  const auto goods = [](const Sale& s) { return kNumbers.at(static_cast<size_t>(s.number)) + " " + s.goods; };
  return fmt::format("the {} sold {} , the {} only {}", most->shop, goods(*most), least->shop, goods(*least));
}

TEST(Reports, SummariesFollowFromThem) {
  std::set<std::pair<std::string, std::string>> pairs[2];
  for (const bool held_out : {false, true}) {
    const Drawn drawn("reports", {{"window", {96}}, {"next", {96}}, {"document", {96}}, {"position", {96}}}, kRows,
                      held_out);
    for (int64_t row = 0; row < kRows; ++row) {
      const Strings words = split(drawn.text(0, row, text::Specials::keep));
      const Strings told = split(drawn.text(1, row, text::Specials::keep));
      const std::vector<int64_t> next = drawn.row(1, row), document = drawn.row(2, row), position = drawn.row(3, row);
      size_t at = 0, of_told = 0;
      for (int64_t n = 0; n < 2; ++n) {
        const auto end = std::ranges::find(words.begin() + static_cast<std::ptrdiff_t>(at), words.end(), "<summary>");
        const Strings report(words.begin() + static_cast<std::ptrdiff_t>(at), end);
        const auto begins = static_cast<size_t>(end - words.begin());
        const std::vector<Sale> sales = read_sales(report);
        ASSERT_EQ(sales.size(), 3U);
        const Strings summary = split(summary_of(sales) + " <end>");
        EXPECT_EQ(words.at(at), "<begin>");
        for (size_t i = 0; i < begins + summary.size() - at; ++i) {
          EXPECT_EQ(document[at + i], n);
          EXPECT_EQ(position[at + i], static_cast<int64_t>(i));
          if (at + i < begins) {
            EXPECT_EQ(next[at + i], -100);
          }
        }
        for (size_t i = 0; i < summary.size(); ++i) {
          EXPECT_EQ(told.at(of_told++), summary[i]);
          if (i + 1 < summary.size()) {
            EXPECT_EQ(words.at(begins + 1 + i), summary[i]);
          }
        }
        const Sale& most = *std::ranges::max_element(sales, {}, &Sale::number);
        pairs[held_out ? 1 : 0].emplace(most.shop, most.goods);
        at = begins + summary.size();
      }
      EXPECT_EQ(of_told, told.size());
      for (; at < 96; ++at) {
        EXPECT_EQ(words.at(at), "<pad>");
        EXPECT_EQ(document[at], 2);
        EXPECT_EQ(next[at], -100);
      }
    }
  }
  for (const auto& pair : pairs[1]) EXPECT_EQ(pairs[0].count(pair), 0U) << pair.first << " " << pair.second;
  EXPECT_GT(pairs[1].size(), 3U);
}

// The tokenizer gives a text the ids that its row has: of words, and of characters.
TEST(DrawnText, TokenizersGiveTheSameIds) {
  for (const auto& [kind, column] : {std::pair("reviews", "tokens"), std::pair("dates", "source")}) {
    const Drawn drawn(kind, {{column, {40}}}, 100);
    for (int64_t row = 0; row < 100; ++row) {
      std::vector<uint32_t> ids = drawn.encoded(0, drawn.text(0, row));
      ids.resize(40);
      const std::vector<int64_t> expected = drawn.row(0, row);
      EXPECT_TRUE(std::ranges::equal(ids, expected)) << drawn.text(0, row);
    }
  }
}

// A short row holds the beginning of the text.
TEST(DrawnText, IsCutAtTheEndOfTheRow) {
  const Drawn dates("dates", {{"source", {4}}, {"source_length", {}}, {"target", {3}}, {"next", {3}}}, 50);
  for (int64_t row = 0; row < 50; ++row) {
    EXPECT_EQ(dates.number(1, row), 4);
    EXPECT_EQ(dates.row(2, row)[2], dates.row(3, row)[1]);
    EXPECT_GE(dates.row(3, row)[2], 0);
  }
}

TEST(DrawnText, RefusesRowsOfOtherSizes) {
  const auto error = [](const Drawn::Input& input, const std::string& kind = "reviews") -> std::string {
    try {
      const Drawn drawn(kind, {input}, 1);
    } catch (const UserError& e) {
      return e.diagnostics().at(0).message;
    }
    return "no error";
  };
  EXPECT_EQ(error({"tokens", {4, 4}}),
            "\"tokens\" of synthetic reviews is a row [length] of 1 to 4096 tokens, input 'tokens' has another size");
  EXPECT_EQ(error({"tokens", {4097}}),
            "\"tokens\" of synthetic reviews is a row [length] of 1 to 4096 tokens, input 'tokens' has another size");
  EXPECT_EQ(error({"label", {2}}), "\"label\" of synthetic reviews is one number a row, input 'label' has [2]");
  EXPECT_EQ(error({"tokens", {17}}, "questions"),
            "synthetic questions have 8 words and 10 for each sentence of the text: input 'tokens' has room for 17");
  EXPECT_EQ(error({"window", {256}}, "reports"),
            "synthetic reports lie in rows of at most 255 tokens, input 'window' has 256");
  EXPECT_EQ(error({"words", {4}}), "synthetic reviews have \"tokens\", \"length\", \"label\", not \"words\"");
}

}  // namespace
}  // namespace heddle::runtime::data
