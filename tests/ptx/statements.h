// Cuts PTX text into statements.
//
//   "{ // loop\n  $L1: add.s32 %r1, %r1, 1;"   ->   open, label "$L1", instruction "add.s32 %r1, %r1, 1"
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace heddle::ptx {

struct Statement {
  enum class Kind { open, close, label, directive, function, instruction };
  Kind kind = Kind::instruction;
  std::string text;  // without its end; white space is one blank
  int line = 0;
};

// A statement of kind `function` is the head of an entry or function: a body follows unless it is a declaration, which
// ends with ';'.
std::vector<Statement> statements_of(const std::string& text);

std::string trimmed(std::string_view text);
// At the separator outside of brackets and braces: "a, {b, c}" -> "a", "{b, c}".
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace heddle::ptx
