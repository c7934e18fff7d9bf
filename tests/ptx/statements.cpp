#include "tests/ptx/statements.h"

#include <cctype>

#include "tests/ptx/module.h"

namespace heddle::ptx {
namespace {

// Comments and white space become one blank each; the lines stay known.
class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  std::vector<Statement> run() {
    while (at_ < text_.size()) {
      const size_t comment = comment_length();
      if (comment > 0) {
        skip(comment);
      } else {
        take(text_[at_]);
      }
    }
    if (!trimmed(current_).empty()) throw ParseError(line_, current_, "the text ends within a statement");
    return std::move(all_);
  }

 private:
  size_t comment_length() const {
    if (text_.compare(at_, 2, "//") == 0) return std::min(text_.find('\n', at_), text_.size()) - at_;
    if (text_.compare(at_, 2, "/*") != 0) return 0;
    const size_t end = text_.find("*/", at_ + 2);
    return end == std::string::npos ? text_.size() - at_ : end + 2 - at_;
  }

  void skip(size_t length) {
    for (const size_t end = at_ + length; at_ < end; ++at_)
      if (text_[at_] == '\n') ++line_;
    add(' ');
  }

  void add(char c) {
    if (c == ' ' && (current_.empty() || current_.back() == ' ')) return;
    if (current_.empty()) first_ = line_;
    current_ += c;
  }

  void take(char c) {
    ++at_;
    if (c == '\n') end_of_line();
    if (std::isspace(static_cast<unsigned char>(c)) != 0) return add(' ');
    if (depth_ == 0 && structure(c)) return;
    depth_ += c == '{' || c == '(' || c == '[';
    depth_ -= c == '}' || c == ')' || c == ']';
    add(c);
  }

  // Of the file's three first directives the line is the end.
  void end_of_line() {
    const std::string head = trimmed(current_);
    const bool whole = head.starts_with(".version") || head.starts_with(".target") ||
                       head.starts_with(".address_size") || head.starts_with(".file") || head.starts_with(".loc ");
    if (whole && depth_ == 0) emit(Statement::Kind::directive);
    ++line_;
  }

  bool structure(char c) {
    const std::string head = trimmed(current_);
    if (c == ';') {
      if (!head.empty()) emit(kind_of(head));
      return true;
    }
    if (c == ':' && at_ < text_.size() && text_[at_] != ':' && !head.ends_with(":") && is_label(head)) {
      emit(Statement::Kind::label);
      return true;
    }
    if (c == '{' && (head.empty() || kind_of(head) == Statement::Kind::function)) {
      if (!head.empty()) emit(Statement::Kind::function);
      current_ = c;
      first_ = line_;
      emit(Statement::Kind::open);
      return true;
    }
    if (c != '}' || !head.empty()) return false;
    current_ = c;
    first_ = line_;
    emit(Statement::Kind::close);
    return true;
  }

  static bool is_label(const std::string& head) { return head.find_first_of(" .,") == std::string::npos; }

  static Statement::Kind kind_of(const std::string& head) {
    if (head[0] != '.') return Statement::Kind::instruction;
    const bool function = head.find(".entry") != std::string::npos || head.find(".func") != std::string::npos;
    return function ? Statement::Kind::function : Statement::Kind::directive;
  }

  void emit(Statement::Kind kind) {
    std::string text = trimmed(current_);
    // A declaration has no body.
    if (kind == Statement::Kind::function && text_[at_ - 1] == ';') kind = Statement::Kind::directive;
    all_.push_back({kind, std::move(text), first_});
    current_.clear();
  }

  const std::string& text_;
  size_t at_ = 0;
  int line_ = 1, first_ = 1, depth_ = 0;
  std::string current_;
  std::vector<Statement> all_;
};

}  // namespace

std::vector<Statement> statements_of(const std::string& text) { return Reader(text).run(); }

std::string trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::string current;
  int depth = 0;
  for (const char c : text) {
    depth += c == '{' || c == '[' || c == '(';
    depth -= c == '}' || c == ']' || c == ')';
    if (c == separator && depth == 0) {
      parts.push_back(trimmed(current));
      current.clear();
    } else {
      current += c;
    }
  }
  if (!trimmed(current).empty()) parts.push_back(trimmed(current));
  return parts;
}

}  // namespace heddle::ptx
