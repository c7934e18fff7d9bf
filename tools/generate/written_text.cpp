#include "tools/generate/written_text.h"

#include <algorithm>
#include <utility>

namespace heddle::tools {
namespace {

// What stands for bytes that are no character yet.
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
// Of a prompt: what a token's text may depend on is near.
constexpr size_t kBefore = 8;

// A character is complete at most so many tokens after its first one.
constexpr size_t kMostOfCharacter = 3;

// The length of the longest end of `text` with which `word` begins.
size_t begins(const std::string& text, const std::string& word) {
  for (size_t n = std::min(text.size(), word.size() - 1); n > 0; --n)
    if (text.compare(text.size() - n, n, word, 0, n) == 0) return n;
  return 0;
}

}  // namespace

WrittenText::WrittenText(DecodeText decode, std::vector<std::string> stops, std::span<const uint32_t> before)
    : decode_(std::move(decode)), stops_(std::move(stops)) {
  const size_t kept = std::min(before.size(), kBefore);
  ids_.assign(before.end() - static_cast<std::ptrdiff_t>(kept), before.end());
  read_ = ids_.size();
}

// The text of the tokens from `read_` to `end`; they are decoded with those before, on which it may depend. Where whole
// characters are asked for, none while the last one is not whole.
std::string WrittenText::unread(size_t end, bool whole_characters) const {
  const std::span<const uint32_t> ids(ids_);
  const size_t before = decode_(ids.subspan(first_, read_ - first_)).size();
  const std::string with = decode_(ids.subspan(first_, end - first_));
  if (with.size() <= before || (whole_characters && with.ends_with(kReplacement))) return {};
  return with.substr(before);
}

std::string WrittenText::add(uint32_t id) {
  ids_.push_back(id);
  size_t end = ids_.size();
  std::string text = unread(end, /*whole_characters=*/true);
  if (text.empty()) {
    if (end - read_ <= 2 * kMostOfCharacter) return {};
    end -= kMostOfCharacter;  // what waits longer is no character, and would be decoded again with each token
    text = unread(end, /*whole_characters=*/false);
  }
  held_ += text;
  first_ = std::exchange(read_, end);
  return released(/*all=*/false);
}

std::string WrittenText::finish() {
  if (read_ < ids_.size() && !stopped_) {
    held_ += unread(ids_.size(), /*whole_characters=*/false);
    read_ = ids_.size();
  }
  return released(/*all=*/true);
}

std::string WrittenText::released(bool all) {
  if (stopped_) return {};
  size_t end = std::string::npos, back = 0;
  for (const std::string& stop : stops_) {
    end = std::min(end, held_.find(stop));
    back = std::max(back, begins(held_, stop));
  }
  stopped_ = end != std::string::npos;
  if (!stopped_) end = all ? held_.size() : held_.size() - back;
  std::string text = held_.substr(0, end);
  held_.erase(0, end);
  return text;
}

}  // namespace heddle::tools
