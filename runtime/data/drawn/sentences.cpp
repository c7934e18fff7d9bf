// Sentences of a small language, for models that predict the next character: verbs agree with their subjects, also
// across the nouns between.
//
//   {"op": "synthetic", "kind": "sentences", "rows": 20000, "tokens": "window", "targets": "next"}
//     -> window u8[64] of "the old bird near the rivers sings. two dogs see a small house. th"
//
// 0 is the space, 1 the full stop, 2 to 27 are a to z. A row begins with a sentence. With "held_out" every subject and
// its verb are a pair from the tenth that other rows never have.
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "runtime/data/keyed_random.h"
#include "runtime/data/synthetic.h"
#include "runtime/text/train.h"

namespace heddle::runtime::data {
namespace {

constexpr int64_t kMaxLength = 65'536;

// Their plurals, and the verbs' singulars, end with an s.
constexpr std::array<std::string_view, 12> kNouns = {"bird", "dog",   "house", "river", "tree",  "farmer",
                                                     "ship", "cloud", "king",  "lamp",  "horse", "song"};
constexpr std::array<std::string_view, 10> kVerbs = {"see",  "follow", "paint",    "find", "want",
                                                     "keep", "hear",   "remember", "draw", "leave"};
constexpr std::array<std::string_view, 6> kAdjectives = {"old", "small", "green", "quiet", "bright", "tall"};
constexpr std::array<std::string_view, 4> kPlaces = {"near", "behind", "under", "beside"};
constexpr std::array<std::string_view, 3> kOfOne = {"the", "a", "this"}, kOfMany = {"the", "two", "these"};

class Sentence {
 public:
  Sentence(KeyedRandom& random, bool held_out) : random_(random) {
    const bool many = chance();
    size_t subject = 0, verb = 0;
    do subject = below(kNouns.size()), verb = below(kVerbs.size());
    while (is_held_out(subject, verb) != held_out);
    noun(kNouns.at(subject), many);
    if (chance()) {
      word(kPlaces.at(below(kPlaces.size())));
      noun(kNouns.at(below(kNouns.size())), chance());
    }
    word(kVerbs.at(verb));
    if (!many) text += 's';
    noun(kNouns.at(below(kNouns.size())), chance());
    text += '.';
  }
  std::string text;

 private:
  size_t below(size_t n) { return static_cast<size_t>(random_.below(n)); }
  bool chance() { return random_.below(2) == 0; }
  void word(std::string_view w) {
    if (!text.empty()) text += ' ';
    text += w;
  }
  void noun(std::string_view n, bool many) {
    word(many ? kOfMany.at(below(kOfMany.size())) : kOfOne.at(below(kOfOne.size())));
    if (chance()) word(kAdjectives.at(below(kAdjectives.size())));
    word(n);
    if (many) text += 's';
  }
  KeyedRandom& random_;
};

// The row's first `length` characters.
std::string draw_text(const SyntheticRow& r, size_t length) {
  KeyedRandom random(r.seed, static_cast<uint64_t>(r.row));
  std::string text;
  while (text.size() < length) {
    if (!text.empty()) text += ' ';
    text += Sentence(random, r.request.flag("held_out")).text;
  }
  return text.substr(0, length);
}

void require_window(const ReaderRequest&, const ColumnRequest& c) {
  if (c.dims.size() != 1 || c.dims[0] < 1 || c.dims[0] > kMaxLength)
    throw UserError(c.where, fmt::format("\"{}\" of synthetic sentences is a row [length] of at most {} characters, "
                                         "input '{}' has another size",
                                         c.source(), kMaxLength, c.input));
}

// The characters from `from` on, as many as the row has.
void write(const SyntheticRow& r, size_t from, std::byte* to) {
  const auto length = static_cast<size_t>(r.column.dims[0]);
  const std::string text = draw_text(r, from + length);
  for (size_t i = 0; i < length; ++i) {
    const char c = text[from + i];
    to[i] = std::byte(c == ' ' ? 0 : c == '.' ? 1 : c - 'a' + 2);
  }
}

SyntheticKind kind() {
  const auto characters = [] {
    std::vector<std::string> all = {" ", "."};
    for (char c = 'a'; c <= 'z'; ++c) all.emplace_back(1, c);
    return text::character_tokenizer({}, all, "");
  };
  const auto window = [](const SyntheticRow& r, std::byte* to) { write(r, 0, to); };
  const auto next = [](const SyntheticRow& r, std::byte* to) { write(r, 1, to); };
  return {.name = "sentences",
          .columns = {{.source = "window", .check = require_window, .draw = window, .tokenizer = characters},
                      {.source = "next", .check = require_window, .draw = next, .tokenizer = characters}},
          .holds_out = true};
}

const RegisterSynthetic registered(kind());

}  // namespace
}  // namespace heddle::runtime::data
