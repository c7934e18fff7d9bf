#include "ir/text/lexer.h"

#include <fmt/format.h>

#include <cctype>

namespace heddle::ir {
namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  explicit Lexer(const SourceFile& file) : file_(file), text_(file.text) {}

  std::vector<Token> run() {
    for (skip_blank(); at_ < text_.size(); skip_blank()) tokens_.push_back(next());
    tokens_.push_back({Token::Kind::end, "end of file", place(at_), line_ + 1});
    return std::move(tokens_);
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  Location place(size_t begin) const {
    return {&file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(std::max(at_, begin))};
  }

  void skip_blank() {
    for (; at_ < text_.size(); ++at_) {
      if (peek() == '/' && peek(1) == '/') at_ = std::min(text_.find('\n', at_), text_.size());
      if (peek() == '\n') ++line_;
      if (at_ >= text_.size() || std::isspace(static_cast<unsigned char>(peek())) == 0) return;
    }
  }

  Token make(Token::Kind kind, size_t begin, std::string text) { return {kind, std::move(text), place(begin), line_}; }

  std::string word() {
    const size_t begin = at_;
    while (in_word(peek())) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  Token next() {
    const size_t begin = at_;
    const char c = peek();
    if (c == '%' || c == '@') {
      ++at_;
      const std::string name = word();
      if (name.empty()) throw UserError(place(begin), fmt::format("expected a name after '{}'", c));
      return make(c == '%' ? Token::Kind::value : Token::Kind::symbol, begin, name);
    }
    if (digit(c) || (c == '-' && (digit(peek(1)) || peek(1) == 'i' || peek(1) == 'n'))) return number(begin);
    if (in_word(c)) return make(Token::Kind::word, begin, word());
    if (c == '"') return string(begin);
    if (c == '<' && peek(1) == '-') {
      at_ += 2;
      return make(Token::Kind::punctuation, begin, "<-");
    }
    ++at_;
    if (std::string_view("(){}[],:=+").find(c) == std::string_view::npos)
      throw UserError(place(begin), fmt::format("unexpected character '{}'",
                                                std::isprint(static_cast<unsigned char>(c)) != 0 ? c : '?'));
    return make(Token::Kind::punctuation, begin, std::string(1, c));
  }

  Token number(size_t begin) {
    if (peek() == '-') ++at_;
    while (in_word(peek()) || ((peek() == '-' || peek() == '+') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E')))
      ++at_;
    return make(Token::Kind::number, begin, text_.substr(begin, at_ - begin));
  }

  Token string(size_t begin) {
    std::string out;
    for (++at_; peek() != '"'; ++at_) {
      if (at_ >= text_.size() || peek() == '\n') throw UserError(place(begin), "string is not closed");
      if (peek() != '\\') {
        out += peek();
      } else if (++at_; peek() == 'x' && std::isxdigit(static_cast<unsigned char>(peek(1))) &&
                        std::isxdigit(static_cast<unsigned char>(peek(2)))) {
        out += static_cast<char>(std::stoi(text_.substr(at_ + 1, 2), nullptr, 16));
        at_ += 2;
      } else {
        out += peek();
      }
    }
    ++at_;
    return make(Token::Kind::string, begin, out);
  }

  const SourceFile& file_;
  const std::string& text_;
  size_t at_ = 0;
  int line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(const SourceFile& file) { return Lexer(file).run(); }

}  // namespace heddle::ir
