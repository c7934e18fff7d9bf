// tokenize: splits .hir text into tokens with their locations.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ir/diagnostic.h"

namespace heddle::ir {

struct Token {
  enum class Kind { word, value, symbol, number, string, punctuation, end };
  Kind kind = Kind::end;
  std::string text;  // value and symbol names without % and @; strings unescaped
  Location where;
  int line = 0;
};

// word: relu, f32, return; value: %x; symbol: @f; punctuation: one character, or "<-". Comments run from // to the
// end of the line. Throws UserError at a character that cannot start a token.
std::vector<Token> tokenize(const SourceFile& file);

}  // namespace heddle::ir
