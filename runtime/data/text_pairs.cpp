#include "runtime/data/text_pairs.h"

#include <algorithm>
#include <array>

namespace heddle::runtime::data {

std::optional<PairPart> pair_part(std::string_view word) {
  constexpr std::array kWords = {"source", "target", "next", "source_length", "target_length"};
  if (std::ranges::count(kWords, word) == 0) return std::nullopt;
  return PairPart{.side = word.starts_with("source") ? "source" : "target",
                  .length = word.ends_with("length"),
                  .shape = {.begin = word == "target", .end = word == "next", .targets = word == "next"}};
}

std::string pair_unit(const ReaderRequest& request) {
  if (request.find("unit") != nullptr) return request.text("unit");
  return request.find("tokenizer") != nullptr ? "tokens" : "characters";
}

}  // namespace heddle::runtime::data
