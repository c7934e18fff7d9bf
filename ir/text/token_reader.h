// TokenReader: reads the tokens of .hir text in order, and parses small units such as types and attributes.
//
//   f32[64,128]                   ->  Type{f32, {64, 128}}
//   %y: f32[4] at %x + 16         ->  Declaration{name %y, type f32[4], base %x, offset 16}
//   {axis = 1, schedule = rows}       ->  Attrs{axis: 1, schedule: "rows"}
//
// It does not know graphs. An unexpected token is a UserError at its location.
#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attr.h"
#include "ir/text/lexer.h"
#include "ir/type.h"

namespace heddle::ir {

// `%y: f32[4] layout [..] at %x + 16`: the declaration of a result, a parameter, or a member of a group.
struct Declaration {
  Token name;
  Type type;
  Layout layout;
  Token base;           // of `at %base + offset`; Token::Kind::end: none
  int64_t offset = -1;  // in bytes; in elements for a member of a group; -1: no place is given
};

class TokenReader {
 public:
  explicit TokenReader(const SourceFile& file) : tokens_(tokenize(file)) {}

  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool at_end() const { return peek().kind == Token::Kind::end; }
  Token take();  // returns the current token and advances, except at the end
  size_t position() const { return at_; }
  const Token& token(size_t position) const { return tokens_[position]; }

  bool is(std::string_view text) const;  // a word or punctuation
  bool accept(std::string_view text);    // if `is(text)`, takes the token and returns true
  void expect(std::string_view text);
  Token expect(Token::Kind kind, std::string_view what);
  [[noreturn]] void fail_expected(std::string_view what) const;  // "expected WHAT, got 'relu'"
  bool is_scalar() const;                                        // $rate

  // Parses `open`, items separated by commas, `close`. `item` parses an item.
  template <class Item>
  void list(std::string_view open, std::string_view close, Item item) {
    expect(open);
    if (accept(close)) return;
    do {
      item();
    } while (accept(","));
    expect(close);
  }

  int64_t integer(std::string_view what);
  DType dtype();
  Type type();
  Declaration declaration();
  // Parses {name = value, ..}. `wheres` receives the locations of the names.
  Attrs attrs(std::map<std::string, Location>* wheres = nullptr);

 private:
  Layout layout(const Type& type);
  Attr attr_value();

  std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace heddle::ir
