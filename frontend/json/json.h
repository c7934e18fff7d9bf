// The JSON tree with locations: each value, its key, and the bytes of the file from which they were read.
//
//   {"units": 128}  ->  object { integer 128, key "units", where 1:11-1:14, key_where 1:2-1:9 }
//
// Nothing is converted silently. A number that does not fit, a value of another kind and a duplicate key are errors at
// their location.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "ir/diagnostic.h"

namespace heddle::frontend {

struct Json {
  enum class Kind { null, flag, integer, big, real, text, list, object };

  Kind kind = Kind::null;
  bool flag = false;
  int64_t integer = 0;      // Kind::integer; an unsigned integer above 2^63 - 1 is Kind::big, and readers refuse it
  double real = 0;          // Kind::real, and the integer's value for Kind::integer
  std::string text;         // Kind::text
  std::vector<Json> items;  // the entries of a list, or the members of an object in the order of the file
  Location where;
  std::string key;  // for a member of an object
  Location key_where;
  std::vector<Json> nulls;  // for objects of a model: the members whose value is null; they are not in `items`

  const Json* find(std::string_view member) const;  // nullptr when absent
  Json* find(std::string_view member);
};

// The texts that locations point into: the model file and each --set. The code that catches errors must own it.
class Sources {
 public:
  const SourceFile& add(std::string name, std::string text);
  const SourceFile& open(const std::string& path);  // throws UserError when unreadable or over kMaxFileBytes

 private:
  std::deque<SourceFile> files_;  // a deque keeps the addresses of its elements
};

// Parses a whole file. Comments are allowed. Throws UserError at the first fault: syntax, invalid UTF-8, a duplicate
// key, an integer beyond 64 bits, nesting or size over the limits, or bytes after the value.
Json parse_json(const SourceFile& file);

// "a string", "an integer": for messages such as "expected a list, found a string".
std::string describe(Json::Kind kind);
std::string describe(const Json& value);  // includes a short value: "the string 'relu'"

// Checked accessors. They throw UserError at the value if its kind is wrong. `what` names the value in the message:
// "'units'".
bool as_flag(const Json& value, std::string_view what);
const std::string& as_text(const Json& value, std::string_view what);
int64_t as_integer(const Json& value, std::string_view what);                    // 3.0 is not an integer
double as_real(const Json& value, std::string_view what);                        // also takes integers up to 2^53
double exact_real(int64_t value, const Location& where, std::string_view what);  // throws UserError beyond 2^53
const Json& as_list(const Json& value, std::string_view what);
const Json& as_object(const Json& value, std::string_view what);

// A remedy for an unknown word: "did you mean 'relu'?", or a list of the candidates if none is similar and they are
// few.
std::string suggest(std::string_view word, const std::vector<std::string>& candidates);
// The same for names that the model defines. Names of other frameworks are not considered.
std::string suggest_defined(std::string_view word, const std::vector<std::string>& candidates);

// Throws UserError at the value if it is none of `words`.
void require_word(const Json& value, const std::vector<std::string>& words, std::string_view what);
// A remedy with the word that another framework calls so, or a similar word; "" if there is none.
std::string suggest_word(std::string_view word, const std::vector<std::string>& words);

// User text that is safe to print: in quotes, with control characters and quotes escaped, and cut to `longest` bytes.
std::string quote(std::string_view text, size_t longest = 60);

}  // namespace heddle::frontend
