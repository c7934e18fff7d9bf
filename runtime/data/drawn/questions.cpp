// Questions about a short text that contains the answer: who put what where.
//
//   {"op": "synthetic", "kind": "questions", "rows": 20000, "tokens": "tokens", "part": "segment", "size": "length",
//    "first": "first", "last": "last"}
//     -> tokens u8[48] of "<cls> where is the key ? <sep> anna put the red key in the old box . ... <sep>",
//        part u8[48] 1 in the text and 0 elsewhere, first 14 and last 16: "the old box"
//
// A text tells of one person or of more, as many as its row has room for, 10 words each: of up to four in 48, and of six
// at most. With "held_out" the person and the thing that are asked for are a pair that no other rows have: one of ten.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/data/drawn/text.h"
#include "runtime/data/keyed_random.h"

namespace heddle::runtime::data {
namespace {

constexpr int64_t kFacts = 4, kMostFacts = 6;
constexpr int64_t kWordsOfQuestion = 8, kWordsOfFact = 10;  // of the longest, with <cls> and <sep>

constexpr std::array<std::string_view, 12> kPersons = {"anna",  "boris", "clara", "david", "emma",  "felix",
                                                       "greta", "hugo",  "ines",  "jonas", "karin", "lukas"};
constexpr std::array<std::string_view, 12> kThings = {"key",  "book",   "lamp",  "letter", "coin", "hat",
                                                      "ring", "basket", "knife", "flute",  "map",  "candle"};
constexpr std::array<std::string_view, 12> kPlaces = {"box",    "garden", "kitchen", "drawer", "boat", "barn",
                                                      "cellar", "attic",  "chest",   "tower",  "mill", "stable"};
constexpr std::array<std::string_view, 8> kAdjectives = {"old",    "small", "green", "heavy",
                                                         "broken", "red",   "round", "dusty"};
constexpr std::array<std::string_view, 4> kPut = {"put", "left", "hid", "forgot"};

const DrawnVocabulary& vocabulary() {
  static const DrawnVocabulary all = [] {
    std::vector<std::string> words = {"the", "in", ".", "?", "where", "is", "who", "had", "what", "have", "did"};
    for (const auto& list : {std::span<const std::string_view>(kPersons), {kThings}, {kPlaces}, {kAdjectives}, {kPut}})
      for (const std::string_view word : list) words.emplace_back(word);
    return DrawnVocabulary::of_words({"<pad>", "<cls>", "<sep>"}, words);
  }();
  return all;
}

// As many as the row has room for; some where only answers are asked for.
size_t most_facts(const ReaderRequest& request) {
  const int64_t length = row_length(request, "tokens");
  if (length == 0) return kFacts;
  return static_cast<size_t>(std::min((length - kWordsOfQuestion) / kWordsOfFact, kMostFacts));
}

void require_room(const ReaderRequest& request, const ColumnRequest& c) {
  require_text_row(request, c);
  if (c.dims[0] < kWordsOfQuestion + kWordsOfFact)
    throw UserError(
        c.where,
        fmt::format("synthetic questions have {} words and {} for each sentence of the text: input '{}' has "
                    "room for {}",
                    kWordsOfQuestion, kWordsOfFact, c.input, c.dims[0]),
        fmt::format("a row of {} words or more", kWordsOfQuestion + kWordsOfFact));
}

struct Fact {
  size_t person = 0, thing = 0, place = 0;
};

// Word by word, with the places of the answer.
class Question {
 public:
  explicit Question(const SyntheticRow& r) : random_(r.seed, static_cast<uint64_t>(r.row)) {
    const std::vector<Fact> facts = draw_facts(1 + below(most_facts(r.request)), r.request.flag("held_out"));
    const size_t asked_at = below(facts.size()), what = below(3);
    const Fact& asked = facts.front();
    add("<cls>");
    switch (what) {
      case 0: add("who"), add("had"), add("the"), add(kThings.at(asked.thing)); break;
      case 1: add("what"), add("did"), add(kPersons.at(asked.person)), add("have"); break;
      default: add("where"), add("is"), add("the"), add(kThings.at(asked.thing));
    }
    add("?"), add("<sep>");
    text_begins = words_;
    for (size_t i = 0; i < facts.size(); ++i) {
      // The first fact is told at its place, the others in their order.
      const bool here = i == asked_at;
      const Fact& fact = here ? asked : facts.at(i < asked_at ? i + 1 : i);
      answer(here && what == 0, [&] { add(kPersons.at(fact.person)); });
      add(kPut.at(below(kPut.size())));
      answer(here && what == 1, [&] { noun(kThings.at(fact.thing)); });
      add("in");
      answer(here && what == 2, [&] { noun(kPlaces.at(fact.place)); });
      add(".");
    }
    add("<sep>");
  }
  std::string text;
  int64_t text_begins = 0, first = 0, last = 0;

 private:
  size_t below(size_t n) { return static_cast<size_t>(random_.below(n)); }

  // No two of them have a person, a thing or a place in common. The first one is asked for.
  std::vector<Fact> draw_facts(size_t count, bool held_out) {
    std::vector<Fact> facts;
    while (facts.size() < count) {
      const Fact fact{below(kPersons.size()), below(kThings.size()), below(kPlaces.size())};
      const bool meets = std::ranges::any_of(facts, [&](const Fact& f) {
        return f.person == fact.person || f.thing == fact.thing || f.place == fact.place;
      });
      if (!meets && is_held_out(fact.person, fact.thing) == (held_out && facts.empty())) facts.push_back(fact);
    }
    return facts;
  }

  void add(std::string_view word) {
    if (!text.empty()) text += ' ';
    text += word, ++words_;
  }
  void noun(std::string_view word) {
    add("the");
    if (below(2) == 0) add(kAdjectives.at(below(kAdjectives.size())));
    add(word);
  }
  template <class F>
  void answer(bool is, const F& write) {
    const int64_t begin = words_;
    write();
    if (is) first = begin, last = words_ - 1;
  }

  KeyedRandom random_;
  int64_t words_ = 0;
};

SyntheticColumn place(const std::string& source, int64_t Question::*which) {
  return {.source = source,
          .type = ElementType::i32,
          .check = require_number,
          .draw = [which](const SyntheticRow& r, std::byte* to) {
            const auto n = static_cast<int32_t>(Question(r).*which);
            std::memcpy(to, &n, sizeof n);
          }};
}

SyntheticKind kind() {
  const DrawText text = [](const SyntheticRow& r) { return Question(r).text; };
  const auto segment = [](const SyntheticRow& r, std::byte* to) {
    const Question question(r);
    const int64_t end = std::ssize(vocabulary().encode(question.text));
    for (int64_t i = 0; i < r.column.dims[0]; ++i) to[i] = std::byte{i >= question.text_begins && i < end};
  };
  SyntheticColumn tokens = text_column("tokens", vocabulary, text);
  tokens.check = require_room;
  return {.name = "questions",
          .columns = {tokens,
                      length_column("length", "tokens", vocabulary, text),
                      {.source = "segment", .check = require_text_row, .draw = segment},
                      place("first", &Question::first),
                      place("last", &Question::last)},
          .holds_out = true};
}

const RegisterSynthetic registered(kind());

}  // namespace
}  // namespace heddle::runtime::data
