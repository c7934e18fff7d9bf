#include "runtime/text/added_tokens.h"

#include <algorithm>

#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

size_t character_before(std::string_view text, size_t end) {
  do --end;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U);
  return end;
}

uint32_t code_at(std::string_view text, size_t at) { return next_code(text, at); }

bool inside_word(std::string_view text, size_t begin, size_t end) {
  return (begin > 0 && is_word(code_at(text, character_before(text, begin)))) ||
         (end < text.size() && is_word(code_at(text, end)));
}

}  // namespace

void TokenFinder::add(std::string_view text, const AddedToken& token) {
  if (text.empty()) return;
  const auto index = static_cast<uint32_t>(tokens_.size());
  tokens_.push_back(token);
  all_.add(text, index);
  if (!token.special) plain_.add(text, index);
}

void TokenFinder::each(std::string_view text, bool special,
                       const std::function<void(Range, const AddedToken*)>& part) const {
  const Trie& trie = special ? all_ : plain_;
  const auto range = [](size_t begin, size_t end) {
    return Range{static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  };
  size_t done = 0;
  for (size_t at = 0; at < text.size() && !trie.empty();) {
    size_t length = 0;
    uint32_t found = 0;
    trie.each_prefix(text.substr(at), [&](size_t size, uint32_t index) { length = size, found = index; });
    if (length == 0) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[found];
    size_t begin = at, end = at + length;
    at = end;
    if (token.single_word && inside_word(text, begin, end)) continue;
    for (size_t before; token.lstrip && begin > done; begin = before)
      if (before = character_before(text, begin); !is_space(code_at(text, before))) break;
    for (size_t after = end; token.rstrip && after < text.size() && is_space(next_code(text, after));) end = after;
    begin = std::max(begin, done);
    if (end <= done) continue;
    if (begin > done) part(range(done, begin), nullptr);
    part(range(begin, end), &token);
    done = end;
  }
  if (done < text.size()) part(range(done, text.size()), nullptr);
}

}  // namespace heddle::runtime::text
