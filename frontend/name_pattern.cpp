#include "frontend/name_pattern.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/expression.h"
#include "frontend/json/json.h"

namespace heddle::frontend {
namespace {

std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool is_held(std::string_view part) { return part.size() > 2 && part.front() == '{' && part.back() == '}'; }

}  // namespace

NamePattern read_name_pattern(const std::string& text, const Location& where, const std::string& what) {
  const auto fail = [&](const std::string& why, const std::string& help) {
    throw UserError(where, fmt::format("{}: {} {}", what, quote(text), why), help);
  };
  NamePattern pattern;
  for (const std::string_view part : parts_of(text)) {
    if (part.empty()) fail("has an empty part", "the parts of a name stand between dots: h.{i}.weight");
    if (!is_held(part)) {
      if (part.find_first_of("{}") != std::string_view::npos)
        fail("has a brace inside a part", "braces hold a whole part between dots: h.{i}.weight");
      pattern.parts.push_back({std::string(part), false});
      continue;
    }
    const std::string word(part.substr(1, part.size() - 2));
    if (!is_name(word)) fail("holds a part without a name", "a name is letters, digits and '_': h.{i}.weight");
    if (std::ranges::count(held_words(pattern), word) > 0)
      fail(fmt::format("holds '{}' twice", word), "give the parts two names");
    pattern.parts.push_back({word, true});
  }
  return pattern;
}

std::vector<std::string> held_words(const NamePattern& pattern) {
  std::vector<std::string> words;
  for (const NamePattern::Part& part : pattern.parts)
    if (part.held) words.push_back(part.text);
  std::ranges::sort(words);
  return words;
}

std::optional<HeldParts> match(const NamePattern& pattern, std::string_view name) {
  const std::vector<std::string_view> parts = parts_of(name);
  if (parts.size() != pattern.parts.size()) return std::nullopt;
  HeldParts held;
  for (size_t i = 0; i < parts.size(); ++i) {
    const NamePattern::Part& part = pattern.parts[i];
    if (part.held)
      held.emplace(part.text, parts[i]);
    else if (part.text != parts[i])
      return std::nullopt;
  }
  return held;
}

std::string fill(const NamePattern& pattern, const HeldParts& held) {
  std::string name;
  for (const NamePattern::Part& part : pattern.parts) {
    if (!name.empty()) name += '.';
    name += part.held ? held.at(part.text) : part.text;
  }
  return name;
}

// Greedy with one point to return to: linear in practice, never exponential.
bool glob(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace heddle::frontend
