#include "frontend/read/foreign_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "ir/diagnostic.h"

namespace heddle::frontend {
namespace {

std::string called(std::string_view word, std::string_view ours) {
  return fmt::format("'{}' is called '{}' here", word, ours);
}

}  // namespace

std::string plain_word(std::string_view word) {
  std::string out;
  for (const char c : word)
    if (c != '_' && c != '-' && c != '.') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::string foreign_hint(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > 64) return "";
  const std::string wanted = plain_word(word);
  for (const std::string& candidate : candidates)
    if (plain_word(candidate) == wanted) return called(word, candidate);
  for (const ForeignName& entry : foreign_names()) {
    if (std::find(entry.names.begin(), entry.names.end(), wanted) == entry.names.end()) continue;
    for (const std::string_view ours : entry.ours)
      if (std::find(candidates.begin(), candidates.end(), ours) != candidates.end())
        return entry.advice.empty() ? called(word, ours) : std::string(entry.advice);
  }
  return "";
}

std::string suggest_needed(std::string_view word, std::vector<Needed>& needed) {
  for (auto it = needed.begin(); it != needed.end(); ++it) {
    std::string hint = foreign_hint(word, {it->name});
    if (hint.empty()) hint = did_you_mean(word, {it->name});
    if (hint.empty()) continue;
    needed.erase(it);
    return hint;
  }
  return {};
}

}  // namespace heddle::frontend
