#include "ir/text/token_reader.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

namespace heddle::ir {
namespace {

using Kind = Token::Kind;

constexpr int64_t kMaxDim = int64_t{1} << 40;
constexpr int64_t kMaxElements = int64_t{1} << 48;

std::string shown(const Token& t) {
  if (t.kind == Kind::end) return "end of file";
  return fmt::format("'{}{}'", t.kind == Kind::value ? "%" : t.kind == Kind::symbol ? "@" : "", t.text);
}

}  // namespace

Token TokenReader::take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }

bool TokenReader::is(std::string_view text) const {
  return (peek().kind == Kind::punctuation || peek().kind == Kind::word) && peek().text == text;
}

bool TokenReader::accept(std::string_view text) {
  if (!is(text)) return false;
  take();
  return true;
}

void TokenReader::expect(std::string_view text) {
  if (!accept(text)) fail_expected(fmt::format("'{}'", text));
}

Token TokenReader::expect(Kind kind, std::string_view what) {
  if (peek().kind != kind) fail_expected(what);
  return take();
}

void TokenReader::fail_expected(std::string_view what) const {
  throw UserError(peek().where, fmt::format("expected {}, got {}", what, shown(peek())));
}

bool TokenReader::is_scalar() const {
  return peek().kind == Kind::word && peek().text.size() > 1 && peek().text[0] == '$';
}

int64_t TokenReader::integer(std::string_view what) {
  const Token t = expect(Kind::number, what);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(t.text.data(), t.text.data() + t.text.size(), value);
  if (error != std::errc() || end != t.text.data() + t.text.size())
    throw UserError(t.where, fmt::format("expected {}, got {}", what, shown(t)));
  return value;
}

DType TokenReader::dtype() {
  const Token name = expect(Kind::word, "a type like f32[64,128]");
  if (const auto dtype = parse_dtype(name.text)) return *dtype;
  std::vector<std::string> names;
  for (const DType d : all_dtypes()) names.push_back(to_string(d));
  throw UserError(name.where, fmt::format("unknown element type '{}'", name.text), did_you_mean(name.text, names));
}

Type TokenReader::type() {
  Type t{dtype(), {}};
  int64_t elements = 1;
  list("[", "]", [&] {
    const Location where = peek().where;
    const int64_t d = integer("a dimension");
    if (d < 1 || d > kMaxDim || (elements > kMaxElements / d))
      throw UserError(where, fmt::format("dimension {} is out of range", d));
    elements *= d;
    t.dims.push_back(d);
  });
  return t;
}

Declaration TokenReader::declaration() {
  Declaration d{.name = expect(Kind::value, "a value like %x"), .type = {}, .layout = {}, .base = {}, .offset = -1};
  expect(":");
  d.type = type();
  if (is("layout")) d.layout = layout(d.type);
  if (!accept("at")) return d;
  if (peek().kind != Kind::value) {
    d.offset = integer("an offset");
    return d;
  }
  d.base = take();
  d.offset = accept("+") ? integer("an offset") : 0;
  return d;
}

Layout TokenReader::layout(const Type& type) {
  const Location where = take().where;
  Layout axes;
  list("[", "]", [&] { axes.push_back(integer("an axis")); });
  if (axes.empty() || !is_layout(axes, type.rank()))
    throw UserError(where,
                    fmt::format("layout {} is no permutation of the axes of {}", to_string(axes), to_string(type)));
  return axes;
}

Attr TokenReader::attr_value() {
  if (accept("true")) return true;
  if (accept("false")) return false;
  if (peek().kind == Kind::string) return take().text;
  if (is("[")) {
    std::vector<int64_t> items;
    list("[", "]", [&] { items.push_back(integer("an integer")); });
    return items;
  }
  if (accept("inf")) return std::numeric_limits<double>::infinity();
  if (accept("nan")) return std::numeric_limits<double>::quiet_NaN();
  if (is_scalar()) return ScalarName(take().text.substr(1));
  // A bare word is a text, so that `schedule = rows` reads well.
  if (peek().kind == Kind::word) return take().text;
  const Token t = expect(Kind::number, "an attribute value");
  if (t.text == "-inf") return -std::numeric_limits<double>::infinity();
  const char* const end = t.text.data() + t.text.size();
  if (t.text.find_first_of(".eE") == std::string::npos) {
    int64_t value = 0;
    if (std::from_chars(t.text.data(), end, value).ec != std::errc())
      throw UserError(t.where, "integer does not fit in 64 bits");
    return value;
  }
  double value = 0;
  if (std::from_chars(t.text.data(), end, value).ptr != end)
    throw UserError(t.where, "expected a number, got " + shown(t));
  return value;
}

Attrs TokenReader::attrs(std::map<std::string, Location>* wheres) {
  Attrs out;
  list("{", "}", [&] {
    const Token name = expect(Kind::word, "an attribute's name");
    if (wheres) wheres->emplace(name.text, name.where);
    expect("=");
    if (!out.emplace(name.text, attr_value()).second)
      throw UserError(name.where, fmt::format("attribute '{}' is given twice", name.text));
  });
  return out;
}

}  // namespace heddle::ir
