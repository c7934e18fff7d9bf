// Name patterns: names with placeholders. A match binds each placeholder to a part of a name, and `fill` inserts the
// parts into another pattern.
//
//   match(pattern "h.{i}.attn.c_attn.{p}", "h.3.attn.c_attn.bias")   ->   i = "3", p = "bias"
//   fill(pattern "h.{i}.qkv.{p}", these)                             ->   "h.3.qkv.bias"
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/diagnostic.h"

namespace heddle::frontend {

// A name consists of parts, separated by dots. In a pattern, a part is a text, or a placeholder `{word}` for any one
// part.
struct NamePattern {
  struct Part {
    std::string text;
    bool held = false;
  };
  std::vector<Part> parts;
};
using HeldParts = std::map<std::string, std::string, std::less<>>;

// Throws UserError at `where` if a part is empty or contains a brace, or if a placeholder occurs twice.
NamePattern read_name_pattern(const std::string& text, const Location& where, const std::string& what);
std::vector<std::string> held_words(const NamePattern& pattern);  // sorted
std::optional<HeldParts> match(const NamePattern& pattern, std::string_view name);
std::string fill(const NamePattern& pattern, const HeldParts& held);

// Whether `text` matches a glob: '*' stands for any characters, '?' for one.
bool glob(std::string_view pattern, std::string_view text);

}  // namespace heddle::frontend
