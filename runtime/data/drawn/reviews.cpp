// Reviews of one or two clauses, good or bad. A clause may be negated, before or after the adjective. Where two clauses
// differ, one of them decides.
//
//   {"op": "synthetic", "kind": "reviews", "rows": 12000, "tokens": "tokens", "size": "length", "label": "label"}
//     -> "although the food was not bad , to call the service good would be wrong" of label 0:
//        tokens u8[24] {5, 1, 13, 9, 10, ...}, size 15
//
// In "X but Y" good and bad adjectives are equally frequent, and two of five clauses are negated, so counting good and
// bad words tells little. With "held_out" every noun and its adjective are a pair from the tenth that other rows never
// have.
#include <array>

#include "runtime/data/drawn/text.h"
#include "runtime/data/keyed_random.h"

namespace heddle::runtime::data {
namespace {

constexpr std::array<std::string_view, 12> kNouns = {"food",   "service", "plot",   "music", "room",  "view",
                                                     "acting", "price",   "garden", "sound", "staff", "coffee"};
// The first half is good, the second bad.
constexpr std::array<std::string_view, 16> kAdjectives = {
    "good", "great", "lovely",   "charming", "pleasant", "brilliant", "fine",  "fresh",
    "bad",  "dull",  "dreadful", "poor",     "boring",   "ugly",      "awful", "stale"};
constexpr std::array<std::string_view, 4> kVery = {"very", "really", "quite", "rather"};
constexpr std::array<std::string_view, 5> kNot = {"not", "never", "hardly", "anything but", "far from"};

const DrawnVocabulary& vocabulary() {
  static const DrawnVocabulary all = [] {
    std::vector<std::string> words = {"the",   "was",    ",",         "and",    "but",   "although", "not",
                                      "never", "hardly", "anything",  "far",    "from",  "it",       "is",
                                      "true",  "that",   "everybody", "nobody", "would", "say",      "to",
                                      "call",  "be",     "right",     "fair",   "wrong", "unfair"};
    for (const auto& list : {std::span<const std::string_view>(kNouns), {kAdjectives}, {kVery}})
      for (const std::string_view word : list) words.emplace_back(word);
    return DrawnVocabulary::of_words({"<pad>"}, words);
  }();
  return all;
}

class Review {
 public:
  explicit Review(const SyntheticRow& r)
      : random_(r.seed, static_cast<uint64_t>(r.row)), held_out_(r.request.flag("held_out")), good(below(2) == 0) {
    switch (below(5)) {
      case 0: text = clause(good); break;
      case 1: text = clause(good), text += " and " + clause(good); break;
      case 2: text = clause(!good), text += " , but " + clause(good); break;
      case 3: text = "although " + clause(!good), text += " , " + clause(good); break;
      default: text = clause(good), text += " , although " + clause(!good);
    }
  }

 private:
  size_t below(size_t n) { return static_cast<size_t>(random_.below(n)); }
  template <size_t n>
  std::string one_of(const std::array<std::string_view, n>& words) {
    return std::string(words.at(below(n)));
  }

  std::string clause(bool praises) {
    const bool denied = below(5) < 2;
    size_t noun = 0, adjective = 0;
    do noun = below(kNouns.size()), adjective = below(kAdjectives.size());
    while ((adjective < kAdjectives.size() / 2) != (praises != denied) || is_held_out(noun, adjective) != held_out_);
    const std::string of = "the " + std::string(kNouns.at(noun)), is(kAdjectives.at(adjective));
    const std::string very = below(2) == 0 ? one_of(kVery) + " " : "";
    switch (below(3)) {
      case 0: return of + " was " + (denied ? one_of(kNot) + " " : "") + very + is;
      case 1: {
        const std::string held = below(2) == 0 ? (denied ? "it is not true that " : "it is true that ")
                                               : (denied ? "nobody would say that " : "everybody would say that ");
        return held + of + " was " + very + is;
      }
      default: {
        const std::string verdict = below(2) == 0 ? (denied ? "wrong" : "right") : (denied ? "unfair" : "fair");
        return "to call " + of + " " + very + is + " would be " + verdict;
      }
    }
  }

  KeyedRandom random_;
  bool held_out_;

 public:
  bool good;
  std::string text;
};

SyntheticKind kind() {
  const DrawText text = [](const SyntheticRow& r) { return Review(r).text; };
  const auto label = [](const SyntheticRow& r, std::byte* to) { *to = std::byte{Review(r).good}; };
  return {.name = "reviews",
          .columns = {text_column("tokens", vocabulary, text),
                      length_column("length", "tokens", vocabulary, text),
                      {.source = "label", .check = require_number, .draw = label}},
          .holds_out = true};
}

const RegisterSynthetic registered(kind());

}  // namespace
}  // namespace heddle::runtime::data
