// Sentences of a small English, and their translations into an invented language, whose words have another order, and
// agree where the English ones do not.
//
//   {"op": "synthetic", "kind": "translations", "rows": 16000, "english": "source", "other": "target", "next": "next"}
//     -> english u8[12] of "the old dogs near a river will see some houses",
//        other u8[12] of "<begin> rima ma ul korun vekun sun domin mun virirun"
//
// Nouns have one of two classes. A noun's adjective and article stand behind it and agree with its class and number.
// What lies near a noun stands before it, with the place behind. The verb comes last and agrees with the subject's
// class and number. With "held_out" every subject and its verb are a pair from the tenth that other rows never have.
#include <algorithm>
#include <array>

#include "runtime/data/drawn/text.h"
#include "runtime/data/keyed_random.h"

namespace heddle::runtime::data {
namespace {

struct Word {
  std::string_view english, other;
};

// The class of every second noun is the second one: nothing in the word tells it.
constexpr std::array<Word, 12> kNouns = {{{"dog", "koru"},
                                          {"bird", "piri"},
                                          {"house", "domi"},
                                          {"river", "rima"},
                                          {"farmer", "tavel"},
                                          {"king", "orun"},
                                          {"ship", "neva"},
                                          {"lamp", "lusi"},
                                          {"tree", "bako"},
                                          {"cloud", "fumet"},
                                          {"horse", "galan"},
                                          {"song", "melo"}}};
constexpr std::array<Word, 8> kVerbs = {{{"see", "vir"},
                                         {"follow", "seg"},
                                         {"paint", "kolor"},
                                         {"find", "trov"},
                                         {"want", "dez"},
                                         {"keep", "gard"},
                                         {"hear", "aud"},
                                         {"draw", "trak"}}};
constexpr std::array<Word, 8> kAdjectives = {{{"old", "vek"},
                                              {"small", "mik"},
                                              {"green", "zel"},
                                              {"quiet", "tih"},
                                              {"bright", "sven"},
                                              {"tall", "hod"},
                                              {"red", "rus"},
                                              {"heavy", "tung"}}};
constexpr std::array<Word, 4> kPlaces = {{{"near", "ul"}, {"behind", "post"}, {"under", "sub"}, {"beside", "apud"}}};
// Of a noun of the first class and of the second, of one and of many.
constexpr std::array<std::string_view, 4> kEndings = {"o", "a", "un", "an"};

std::string ending(size_t noun, bool many) { return std::string(kEndings.at(noun % 2 + (many ? 2 : 0))); }
std::string joined(std::string_view stem, const std::string& end) { return std::string(stem) + end; }

const DrawnVocabulary& english() {
  static const DrawnVocabulary all = [] {
    std::vector<std::string> words = {"the", "a", "some", "will"};
    for (const Word& w : kPlaces) words.emplace_back(w.english);
    for (const Word& w : kAdjectives) words.emplace_back(w.english);
    for (const auto& list : {std::span<const Word>(kNouns), {kVerbs}})
      for (const Word& w : list) words.emplace_back(w.english), words.push_back(joined(w.english, "s"));
    return DrawnVocabulary::of_words({"<pad>"}, words);
  }();
  return all;
}

const DrawnVocabulary& other() {
  static const DrawnVocabulary all = [] {
    std::vector<std::string> words(kPlaces.size());
    std::ranges::transform(kPlaces, words.begin(), [](const Word& w) { return std::string(w.other); });
    for (const Word& w : kNouns) words.emplace_back(w.other), words.push_back(joined(w.other, "n"));
    for (const std::string_view end : kEndings) {
      for (const char* article : {"s", "m"}) words.push_back(joined(article, std::string(end)));
      for (const Word& w : kAdjectives) words.push_back(joined(w.other, std::string(end)));
      for (const Word& w : kVerbs)
        for (const char* time : {"e", "ir"}) words.push_back(joined(w.other, time + std::string(end)));
    }
    return DrawnVocabulary::of_words({"<pad>", "<begin>", "<end>"}, words);
  }();
  return all;
}

struct Texts {
  std::string english, other;
};

class Translation {
 public:
  explicit Translation(const SyntheticRow& r) : random_(r.seed, static_cast<uint64_t>(r.row)) {
    size_t subject = 0, verb = 0;
    do subject = below(kNouns.size()), verb = below(kVerbs.size());
    while (is_held_out(subject, verb) != r.request.flag("held_out"));
    const bool many = chance(), later = chance();
    Texts who = phrase(subject, many);
    if (chance()) {
      const Word place = kPlaces.at(below(kPlaces.size()));
      const Texts where = phrase(below(kNouns.size()), chance());
      who = {who.english + " " + std::string(place.english) + " " + where.english,
             where.other + " " + std::string(place.other) + " " + who.other};
    }
    const Texts whom = phrase(below(kNouns.size()), chance());
    const Word does = kVerbs.at(verb);
    const std::string verb_english = (later ? "will " : "") + joined(does.english, many || later ? "" : "s");
    texts.english = who.english + " " + verb_english + " " + whom.english;
    texts.other = who.other + " " + whom.other + " " + joined(does.other, (later ? "ir" : "e") + ending(subject, many));
  }
  Texts texts;

 private:
  size_t below(size_t n) { return static_cast<size_t>(random_.below(n)); }
  bool chance() { return random_.below(2) == 0; }

  Texts phrase(size_t number, bool many) {
    const Word noun = kNouns.at(number);
    const bool known = chance();
    Texts t{known ? "the" : many ? "some" : "a", joined(noun.other, many ? "n" : "")};
    const std::string end = ending(number, many);
    if (chance()) {
      const Word adjective = kAdjectives.at(below(kAdjectives.size()));
      t.english += " " + std::string(adjective.english), t.other += " " + joined(adjective.other, end);
    }
    t.english += " " + joined(noun.english, many ? "s" : ""), t.other += (known ? " s" : " m") + end;
    return t;
  }

  KeyedRandom random_;
};

SyntheticKind kind() {
  return {.name = "translations",
          .columns = pair_columns({english, [](const SyntheticRow& r) { return Translation(r).texts.english; }},
                                  {other, [](const SyntheticRow& r) { return Translation(r).texts.other; }}),
          .holds_out = true};
}

const RegisterSynthetic registered(kind());

}  // namespace
}  // namespace heddle::runtime::data
