// Names with parts that are held: what stands in their place in one name stands there in the other.
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

// A name's parts stand between dots. One is a text, or `{word}`, which holds any one part.
struct NamePattern {
  struct Part {
    std::string text;
    bool held = false;
  };
  std::vector<Part> parts;
};
using HeldParts = std::map<std::string, std::string, std::less<>>;

// Throws UserError at `where` where a part is empty, holds a brace, or is held twice.
NamePattern read_name_pattern(const std::string& text, const Location& where, const std::string& what);
std::vector<std::string> held_words(const NamePattern& pattern);  // sorted
std::optional<HeldParts> match(const NamePattern& pattern, std::string_view name);
std::string fill(const NamePattern& pattern, const HeldParts& held);

// '*' is any characters, '?' one.
bool glob(std::string_view pattern, std::string_view text);

}  // namespace heddle::frontend
