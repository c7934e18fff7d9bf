// The located JSON tree: a value, its key, and the bytes of the file they were read from.
//
//   {"units": 128}  ->  object { integer 128, key "units", where 1:11-1:14, key_where 1:2-1:9 }
//
// Nothing converts silently: a number that does not fit, a value of another kind, a key given twice are errors at their
// place.
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
  int64_t integer = 0;      // Kind::integer; Kind::big is an unsigned integer above 2^63 - 1, kept only to be refused
  double real = 0;          // Kind::real, and the integer's value for Kind::integer
  std::string text;         // Kind::text
  std::vector<Json> items;  // of a list, or the members of an object in the file's order
  Location where;
  std::string key;  // in an object
  Location key_where;
  std::vector<Json> nulls;  // of a model's objects: the members whose value is null, which are not among the items

  const Json* find(std::string_view member) const;  // nullptr when absent
  Json* find(std::string_view member);
};

// Texts that locations point into: the model file and each --set. Whoever catches the errors owns it.
class Sources {
 public:
  const SourceFile& add(std::string name, std::string text);
  const SourceFile& open(const std::string& path);  // throws UserError when unreadable or over kMaxFileBytes

 private:
  std::deque<SourceFile> files_;  // never moves an element
};

// Parses a whole file; comments are accepted. Throws UserError at the first fault: syntax, UTF-8, a key given twice, an
// integer beyond 64 bits, nesting or size over the limits, bytes after the value.
Json parse_json(const SourceFile& file);

// "a string", "an integer": for messages of the form "expected a list, found a string".
std::string describe(Json::Kind kind);
std::string describe(const Json& value);  // with the value where it is short: "the string 'relu'"

// Checked accessors; throw UserError at the value. `what` names it in the message: "'units'".
bool as_flag(const Json& value, std::string_view what);
const std::string& as_text(const Json& value, std::string_view what);
int64_t as_integer(const Json& value, std::string_view what);                    // 3.0 is not an integer
double as_real(const Json& value, std::string_view what);                        // integers up to 2^53 as well
double exact_real(int64_t value, const Location& where, std::string_view what);  // throws beyond 2^53
const Json& as_list(const Json& value, std::string_view what);
const Json& as_object(const Json& value, std::string_view what);

// "did you mean 'relu'?", or the candidates where nothing is near and they are few.
std::string suggest(std::string_view word, const std::vector<std::string>& candidates);
// The same for names that the model itself defines, of which other frameworks' words say nothing.
std::string suggest_defined(std::string_view word, const std::vector<std::string>& candidates);

// One of two or more words, by their own names; throws UserError at the value otherwise.
void require_word(const Json& value, const std::vector<std::string>& words, std::string_view what);
// What is called so here, or is near; "" where nothing is.
std::string suggest_word(std::string_view word, const std::vector<std::string>& words);

// User text made safe to print: control characters and quotes escaped, cut to `longest` bytes.
std::string quote(std::string_view text, size_t longest = 60);

}  // namespace heddle::frontend
