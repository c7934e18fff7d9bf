// Devlin et al. 2019, "BERT", arXiv:1810.04805: tokens that a model is to find again from what stands around them.
//
//   [CLS] the rain falls [SEP]  ->  tokens   [CLS] the [MASK] falls [SEP]
//                                   targets  -100  -100  rain   -100  -100
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "ir/map_def.h"

namespace heddle::ir {
namespace {

constexpr double kMostIds = 1 << 24;
constexpr int kIgnored = -100;
constexpr size_t kMostRanges = 256;  // of special tokens: each is a comparison in the kernel

// A share of 1 as a bound of 32 random bits.
std::string bits_below(double share) { return fmt::format("{}ull", std::llround(std::ldexp(share, 32))); }

// The tokens that are never chosen and never drawn, as ranges [first, last].
std::vector<std::pair<int64_t, int64_t>> special_ranges(const DataMap& map) {
  std::set<int64_t> ids = {map.integer("mask")};
  if (map.has("special"))
    for (const double id : map.all("special")) ids.insert(static_cast<int64_t>(id));
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const int64_t id : ids) {
    if (!ranges.empty() && ranges.back().second + 1 == id)
      ranges.back().second = id;
    else
      ranges.emplace_back(id, id);
  }
  return ranges;
}

int64_t plain_tokens(const DataMap& map) {
  int64_t count = map.integer("vocab");
  for (const auto& [first, last] : special_ranges(map)) count -= last - first + 1;
  return count;
}

void require(const DataMap& map) {
  const auto place = [&](const char* key) {
    const auto at = map.places.find(key);
    return at == map.places.end() ? map.where : at->second;
  };
  if (map.number("masked") + map.number("random") > 1)
    throw UserError(place("masked"),
                    fmt::format("'masked' and 'random' are shares of the chosen tokens: {} and {} are more than 1",
                                map.number("masked"), map.number("random")),
                    "0.8 and 0.1 leave a tenth as they are");
  if (!map.has("mask")) {
    for (const char* key : {"vocab", "special"})
      if (map.has(key))
        throw UserError(place(key),
                        fmt::format("'{}' is of a 'mask' that is an id: a token's name has a tokenizer", key),
                        "leave it out");
    return;
  }
  if (!map.has("vocab"))
    throw UserError(place("mask"), "mask_tokens knows no vocabulary of a 'mask' that is an id",
                    "add \"vocab\", the number of tokens, and \"special\", the ids that are never chosen");
  std::vector<std::pair<const char*, double>> ids = {{"mask", map.number("mask")}};
  if (map.has("special"))
    for (const double id : map.all("special")) ids.emplace_back("special", id);
  for (const auto& [key, id] : ids)
    if (id < 0 || id >= map.number("vocab") || id != std::floor(id))
      throw UserError(place(key), fmt::format("'{}' is {}, none of the ids 0 to {}", key, id, map.number("vocab") - 1),
                      "\"vocab\" is the number of tokens");
  if (const size_t ranges = special_ranges(map).size(); ranges > kMostRanges)
    throw UserError(
        place("special"),
        fmt::format("the special tokens are {} ranges of ids, at most {} are told apart", ranges, kMostRanges),
        "number them side by side");
  if (plain_tokens(map) < 1)
    throw UserError(place("special"),
                    fmt::format("all {} tokens are special: none can be chosen", map.integer("vocab")),
                    "leave one out of \"special\"");
}

std::string fault(const DataMap& map, const MapRow& row) {
  if (row.dtype != DType::i32 && row.dtype != DType::i64)
    return fmt::format("expects ids of tokens: an input of i32 or i64, not {}", to_string(row.dtype));
  if (map.has("targets") && map.number("targets") != 0 && map.number("targets") != 1)
    return "'targets' is 1 for the row of targets and 0 for that of tokens";
  return {};
}

// The words of an element: whether it is chosen, what becomes of it, and which token is drawn.
std::vector<std::string> value(const MapText& t) {
  const DataMap& map = t.map;
  const auto ranges = special_ranges(map);
  std::string plain = fmt::format("{0} >= 0 && {0} < {1}", t.x, map.integer("vocab"));
  for (const auto& [first, last] : ranges)
    plain += first == last ? fmt::format(" && {} != {}", t.x, first)
                           : fmt::format(" && !({0} >= {1} && {0} <= {2})", t.x, first, last);
  std::vector<std::string> lines = {fmt::format("const hd::Words draw_{} = {};", t.name, t.draw_element),
                                    fmt::format("const bool chosen_{0} = (hd::u64)draw_{0}.x < {1} && {2};", t.name,
                                                bits_below(map.number("rate")), plain)};
  if (map.number("targets") != 0) {
    lines.push_back(fmt::format("{0} = chosen_{1} ? {0} : {2};", t.x, t.name, kIgnored));
    return lines;
  }
  lines.push_back(fmt::format("int drawn_{0} = hd::below(draw_{0}.z, {1});", t.name, plain_tokens(map)));
  for (const auto& [first, last] : ranges)
    lines.push_back(fmt::format("drawn_{0} += drawn_{0} >= {1} ? {2} : 0;", t.name, first, last - first + 1));
  const double masked = map.number("masked");
  lines.push_back(fmt::format("drawn_{0} = (hd::u64)draw_{0}.y < {1} ? {2} : drawn_{0};", t.name, bits_below(masked),
                              map.integer("mask")));
  lines.push_back(fmt::format("{0} = chosen_{1} && (hd::u64)draw_{1}.y < {2} ? ({3})drawn_{1} : {0};", t.x, t.name,
                              bits_below(masked + map.number("random")), t.type));
  return lines;
}

const RegisterMap mask_tokens({
    .name = "mask_tokens",
    .doc =
        "hides a share `rate` of the tokens: of them `masked` become `mask`, `random` another token, the rest stays. "
        "The input `targets`, of the same text, holds what the hidden ones were, else -100. Special tokens stay",
    .keys = {{.name = "mask",
              .type = KeyType::word,
              .doc = "the token that stands for a hidden one: its name in the tokenizer, or its id",
              .required = true,
              .range = between(0, kMostIds)},
             {.name = "targets", .type = KeyType::text, .doc = "the input of the targets", .required = true},
             {.name = "rate",
              .type = KeyType::real,
              .doc = "share of tokens that are hidden",
              .fallback = 0.15,
              .range = {.low = 0, .high = 1, .above = true}},
             {.name = "masked",
              .type = KeyType::real,
              .doc = "share of those that become `mask`",
              .fallback = 0.8,
              .range = between(0, 1)},
             {.name = "random",
              .type = KeyType::real,
              .doc = "share of those that become another token",
              .fallback = 0.1,
              .range = between(0, 1)},
             {.name = "vocab",
              .type = KeyType::integer,
              .doc = "the number of tokens, where `mask` is an id",
              .range = between(1, kMostIds)},
             {.name = "special",
              .type = KeyType::integer,
              .count = Count::list,
              .doc = "ids that are never hidden, where `mask` is an id",
              .range = between(0, kMostIds)}},
    .evaluates = true,
    .integers = true,
    .tokens = true,
    .pairs = "targets",
    .require = require,
    .fault = fault,
    .value = value,
});

}  // namespace
}  // namespace heddle::ir
