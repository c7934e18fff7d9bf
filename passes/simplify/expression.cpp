#include "passes/simplify/expression.h"

#include <cctype>
#include <cstdlib>

#include "ir/check.h"

namespace heddle::passes {
using namespace ir;

namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Expression whole() {
    Expression e = expression();
    HEDDLE_CHECK(at_ == text_.size(), std::string(text_));
    return e;
  }

 private:
  Expression expression() {
    Expression e;
    const std::string word = this->word();
    if (std::isalpha(static_cast<unsigned char>(word[0])) == 0) {
      e.number = std::strtod(word.c_str(), nullptr);
      return e;
    }
    e.name = word;
    if (!accept('(')) return e;
    do e.operands.push_back(expression());
    while (accept(','));
    HEDDLE_CHECK(accept(')'), std::string(text_));
    return e;
  }
  std::string word() {
    while (accept(' ')) continue;
    const size_t begin = at_;
    while (at_ < text_.size() && std::string_view("(), ").find(text_[at_]) == std::string_view::npos) ++at_;
    HEDDLE_CHECK(at_ > begin, std::string(text_));
    return std::string(text_.substr(begin, at_ - begin));
  }
  bool accept(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

bool match_operands(const Graph& g, const Expression& e, const Values& operands, Bindings& bindings) {
  for (size_t i = 0; i < operands.size(); ++i)
    if (!match(g, e.operands[i], operands[i], bindings)) return false;
  return true;
}

}  // namespace

Expression parse_expression(std::string_view text) { return Parser(text).whole(); }

bool match(const Graph& g, const Expression& e, ValueId v, Bindings& bindings) {
  if (e.number) return splat(g, v) == e.number;
  if (e.is_value()) return bindings.emplace(e.name, v).first->second == v;
  const Node* n = g.def(v);
  if (n == nullptr || n->op->name != e.name || !n->attrs.empty() || n->operands.size() != e.operands.size())
    return false;
  Bindings tried = bindings;
  bool matches = match_operands(g, e, n->operands, tried);
  if (!matches && n->operands.size() == 2 && n->op->traits.commutative) {
    tried = bindings;
    matches = match_operands(g, e, {n->operands[1], n->operands[0]}, tried);
  }
  if (matches) bindings = std::move(tried);
  return matches;
}

ValueId build(Builder& b, const Expression& e, const Bindings& bindings, ValueId like) {
  if (e.number) return b.like(*e.number, like);
  if (e.is_value()) return bindings.at(e.name);
  Values operands;
  for (const Expression& operand : e.operands) operands.push_back(build(b, operand, bindings, like));
  return b(e.name, operands);
}

}  // namespace heddle::passes
