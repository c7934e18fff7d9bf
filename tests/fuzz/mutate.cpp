#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <cctype>

namespace heddle::testing {
namespace {

struct Token {
  size_t begin, size;
};

bool of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '%' || c == '@';
}

// Names, values, numbers, strings; each mark for itself.
char kind_of(char first) {
  const auto c = static_cast<unsigned char>(first);
  return std::isdigit(c) != 0 || first == '-' ? '0' : std::isalpha(c) != 0 ? 'a' : first;
}

// Words and numbers, quoted strings, single marks.
std::vector<Token> tokens_of(const std::string& s) {
  std::vector<Token> all;
  for (size_t i = 0; i < s.size();) {
    size_t end = i + 1;
    if (s[i] == '"') {
      while (end < s.size() && s[end] != '"' && s[end] != '\n') end += s[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, s.size());
    } else if (of_word(s[i])) {
      while (end < s.size() && of_word(s[end])) ++end;
    } else if (std::isspace(static_cast<unsigned char>(s[i])) != 0) {
      i = end;
      continue;
    }
    all.push_back({i, end - i});
    i = end;
  }
  return all;
}

const std::vector<std::string>& hostile() {
  static const std::vector<std::string> list = {"0",
                                                "-1",
                                                "1",
                                                "2",
                                                "3",
                                                "7",
                                                "65537",
                                                "2147483647",
                                                "2147483648",
                                                "4294967297",
                                                "1099511627776",
                                                "9223372036854775807",
                                                "9223372036854775808",
                                                "-9223372036854775808",
                                                "1e308",
                                                "1e400",
                                                "-0.0",
                                                "0.5",
                                                "1e-320",
                                                "nan",
                                                "inf",
                                                "true",
                                                "false",
                                                "null",
                                                "[]",
                                                "{}",
                                                "[[]]",
                                                "[0]",
                                                "[1,1]",
                                                "[-1]",
                                                "[3,0]",
                                                "[2147483648]",
                                                "\"\"",
                                                "\"N\"",
                                                "\"N*N\"",
                                                "\"1/0\"",
                                                "\"2**99\"",
                                                "\"${x}\"",
                                                "\"../../etc/passwd\"",
                                                "\"/dev/zero\"",
                                                "\"a\\u0000b\"",
                                                "\"\\ud800\"",
                                                "\"%s%n\"",
                                                "\"relu\"",
                                                "\"dense\"",
                                                "\"conv2d\"",
                                                "\"flatten\"",
                                                "\"softmax\"",
                                                "\"layer_norm\"",
                                                "\"max_pool2d\"",
                                                "\"dropout\"",
                                                "\"same\"",
                                                "\"i32\"",
                                                "\"bool\"",
                                                "\"f16\"",
                                                "\"f64\"",
                                                "f32[]",
                                                "f32[0]",
                                                "f32[1,1]",
                                                "i64[]",
                                                "f16[3]",
                                                "bool[2]",
                                                "i32[9223372036854775807]",
                                                "%x",
                                                "%y",
                                                "%nothing",
                                                "@nothing",
                                                "add",
                                                "matmul",
                                                "reduce_sum",
                                                "reshape",
                                                "transpose",
                                                "concat",
                                                "slice",
                                                "pad",
                                                "gradient",
                                                "conv2d",
                                                "argmax",
                                                "call",
                                                "update",
                                                "return",
                                                "graph",
                                                "kernel",
                                                "group",
                                                "axis = 0",
                                                "axes = [0]",
                                                "axis = -1",
                                                "{",
                                                "}",
                                                "(",
                                                ")",
                                                ",",
                                                ":"};
  return list;
}

}  // namespace

void Mutator::change_token(std::string& s) {
  const std::vector<Token> tokens = tokens_of(s);
  if (tokens.empty()) return;
  const Token t = tokens[below(tokens.size())];
  Token other = tokens[below(tokens.size())];
  // A token of the same kind in its place often leaves a file that is read, and then the rest is tried.
  for (int i = 0; i < 20 && kind_of(s[other.begin]) != kind_of(s[t.begin]); ++i) other = tokens[below(tokens.size())];
  const std::string mine = s.substr(t.begin, t.size), theirs = s.substr(other.begin, other.size);
  switch (below(10)) {
    case 0: s.replace(t.begin, t.size, ""); break;
    case 1: s.insert(t.begin, mine + " "); break;
    case 2: {  // a run of tokens, doubled or removed
      const size_t begin = std::min(t.begin, other.begin), end = std::max(t.begin + t.size, other.begin + other.size);
      if (end - begin > 400) break;
      if (chance(50)) {
        s.insert(end, s.substr(begin, end - begin));
      } else {
        s.erase(begin, end - begin);
      }
      break;
    }
    case 3:
    case 4: s.replace(t.begin, t.size, hostile()[below(hostile().size())]); break;
    default: s.replace(t.begin, t.size, theirs);
  }
}

void Mutator::change_text(std::string& s) {
  if (s.empty()) return;
  if (chance(85)) return change_token(s);
  const size_t at = below(s.size());
  switch (below(4)) {
    case 0: s[at] = static_cast<char>(below(256)); break;
    case 1: s.insert(at, 1, static_cast<char>(below(128))); break;
    case 2: s.erase(at, 1); break;
    default: s.resize(at);
  }
}

std::string Mutator::text(std::string source) {
  do change_text(source);
  while (chance(40));
  return source;
}

std::string Mutator::bytes(std::string source) {
  for (size_t n = 1 + below(4); n > 0 && !source.empty(); --n) {
    // Headers come first, and are where the trouble is.
    const size_t at = chance(70) ? below(std::min<size_t>(source.size(), 256)) : below(source.size());
    switch (below(6)) {
      case 0: source[at] = static_cast<char>(source[at] ^ (1 << below(8))); break;
      case 1: source[at] = static_cast<char>(chance(50) ? 0xff : 0); break;
      case 2: source.resize(at); break;
      case 3: source += source.substr(at); break;
      case 4: source.erase(at, 1 + below(8)); break;
      default: source.insert(at, 1 + below(8), static_cast<char>(below(256)));
    }
  }
  return source;
}

}  // namespace heddle::testing
