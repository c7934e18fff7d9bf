// TokenReader: the tokens of .hir text, taken one after another, and the pieces that a few of them make.
//
//   f32[64,128]                   ->  Type{f32, {64, 128}}
//   %y: f32[4] at %x + 16         ->  Declaration{name %y, type f32[4], base %x, offset 16}
//   {axis = 1, schedule = rows}       ->  Attrs{axis: 1, schedule: "rows"}
//
// It knows tokens alone, no graph. Whatever does not stand where it should is a UserError at its token.
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

// `%y: f32[4] layout [..] at %x + 16`: a result, a parameter, a member of a group.
struct Declaration {
  Token name;
  Type type;
  Layout layout;
  Token base;           // of `at %base + offset`; Token::Kind::end: none
  int64_t offset = -1;  // bytes, of a group's member elements; -1: no place
};

class TokenReader {
 public:
  explicit TokenReader(const SourceFile& file) : tokens_(tokenize(file)) {}

  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool at_end() const { return peek().kind == Token::Kind::end; }
  Token take();  // at the end it stays there
  size_t position() const { return at_; }
  const Token& token(size_t position) const { return tokens_[position]; }

  bool is(std::string_view text) const;  // a word or punctuation
  bool accept(std::string_view text);    // takes it, where it is there
  void expect(std::string_view text);
  Token expect(Token::Kind kind, std::string_view what);
  [[noreturn]] void fail_expected(std::string_view what) const;  // "expected WHAT, got 'relu'"
  bool is_scalar() const;                                        // $rate

  // open, items separated by commas, close.
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
  // {name = value, ..}. `wheres` takes the places of the names.
  Attrs attrs(std::map<std::string, Location>* wheres = nullptr);

 private:
  Layout layout(const Type& type);
  Attr attr_value();

  std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace heddle::ir
