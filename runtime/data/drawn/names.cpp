// Names of six invented languages, which differ in their syllables, in the order of their letters and in their endings.
//
//   {"op": "synthetic", "kind": "names", "rows": 6000, "name": "characters", "size": "length", "label": "label"}
//     -> "tamiko" of language 0: name u8[length] {20, 1, 13, 9, 11, 15, 0...}, size 6
//
// The first two have the same letters, as have the next two: only their order tells them apart. One name in ten is
// borrowed from another language.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/data/keyed_random.h"
#include "runtime/data/synthetic.h"
#include "runtime/text/train.h"

namespace heddle::runtime::data {
namespace {

using Parts = std::vector<std::string_view>;

struct Language {
  Parts first, second;  // of a syllable
  Parts endings;
};

const std::array<Language, 6>& languages() {
  static const std::array<Language, 6> all = {{
      {{"k", "t", "m", "n", "s", "r"}, {"a", "i", "o", "u"}, {"ko", "mi", "ta", "no"}},
      {{"a", "i", "o", "u"}, {"k", "t", "m", "n", "s", "r"}, {"ok", "im", "at", "on"}},
      {{"br", "dv", "gl", "st", "v"}, {"e", "o", "y"}, {"ev", "ov", "sky"}},
      {{"e", "o", "y"}, {"br", "dv", "gl", "st", "v"}, {"ve", "vo", "yks"}},
      {{"f", "l", "d", "p", "ch"}, {"ia", "ea", "ou", "e"}, {"ini", "etti", "ola"}},
      {{"w", "h", "b", "th", "gr"}, {"ee", "all", "or", "en"}, {"ton", "ford", "son"}},
  }};
  return all;
}

struct Name {
  uint8_t language = 0;
  std::string text;  // a to z
};

Name draw_name(const SyntheticRow& r) {
  KeyedRandom random(r.seed, static_cast<uint64_t>(r.row));
  const auto below = [&random](size_t n) { return static_cast<size_t>(random.below(n)); };
  Name name{.language = static_cast<uint8_t>(below(languages().size())), .text = {}};
  // One name in ten comes from another language, so no model reaches more than about nine tenths.
  const size_t borrowed = below(10) == 0 ? 1 + below(languages().size() - 1) : 0;
  const Language& language = languages()[(name.language + borrowed) % languages().size()];
  const auto one_of = [&](const Parts& parts) { name.text += parts[below(parts.size())]; };
  for (size_t syllables = 1 + below(3); syllables > 0; --syllables) one_of(language.first), one_of(language.second);
  if (below(4) > 0) one_of(language.endings);
  return name;
}

// A name that is longer than its row is cut.
int64_t length_of(const ReaderRequest& request) {
  for (const ColumnRequest& c : request.columns)
    if (c.source() == "characters") return c.dims.at(0);
  return INT32_MAX;
}

void require_row(const ReaderRequest&, const ColumnRequest& c) {
  constexpr int64_t kMost = 256;
  if (c.dims.size() != 1 || c.dims[0] > kMost)
    throw UserError(c.where,
                    fmt::format("\"characters\" of synthetic names are a row [length] of at most {}, input '{}' "
                                "has {} axes",
                                kMost, c.input, c.dims.size()));
}

SyntheticKind kind() {
  const auto characters = [](const SyntheticRow& r, std::byte* to) {
    const std::string text = draw_name(r).text;
    for (size_t i = 0; i < static_cast<size_t>(r.column.dims[0]); ++i)
      to[i] = std::byte(i < text.size() ? text[i] - 'a' + 1 : 0);
  };
  const auto length = [](const SyntheticRow& r, std::byte* to) {
    *to = std::byte(std::min(std::ssize(draw_name(r).text), length_of(r.request)));
  };
  const auto letters = [] {
    std::vector<std::string> all;
    for (char c = 'a'; c <= 'z'; ++c) all.emplace_back(1, c);
    return text::character_tokenizer({"<pad>"}, all, "");
  };
  const auto label = [](const SyntheticRow& r, std::byte* to) { *to = std::byte{draw_name(r).language}; };
  return {.name = "names",
          .columns = {{.source = "characters", .check = require_row, .draw = characters, .tokenizer = letters},
                      {.source = "length", .check = require_number, .draw = length},
                      {.source = "label", .check = require_number, .draw = label}}};
}

const RegisterSynthetic registered(kind());

}  // namespace
}  // namespace heddle::runtime::data
