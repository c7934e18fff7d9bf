// Key: the description of a key of a model file, or of an operator's attribute. The checks of values, the JSON schema,
// the shell completion and the reference documentation all use it.
//
//   {.name = "patience", .doc = "epochs without a better value", .fallback = int64_t{5}, .range = at_least(1)}
//     -> read        train: early_stop: 'patience' must be at least 1, is 0
//        schema      "patience": {"type": ["null", "integer", "string"], "description": "epochs without a better value"}
//        reference   patience: an integer or an expression = 5  epochs without a better value
//
// Lists of keys describe operators' attributes, the settings of layers and of everything that trains them, data maps,
// readers, and the sections of a model (frontend/keys/model_keys.h). This header may include ir/attr.h only, because
// the runtime includes it for its readers.
#pragma once
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attr.h"

namespace heddle::ir {

enum class KeyType {
  flag,
  integer,  // or an expression
  real,     // or an expression
  text,
  dtype,    // a text that names an element type
  path,     // of a file or folder, relative to the data
  word,     // a name, or an index
  part,     // "name" or {"op": "name", ...} of the family `of`
  object,   // of the keys `keys`, or of the family `of`
  padding,  // "valid", "same", an integer, [h, w] or [top, bottom, left, right]
  sides,    // one number of pixels, or [height, width]
  borders,  // likewise, or [top, bottom, left, right]
  classes,  // a list of names, or "sorted"
  size,     // a number, an expression or a free name: of a shape
  sizes,    // a number of rows, or {"N": rows}
  reads,    // what a node reads: a name or a number, a list of them, or an object by port
  planned,  // reserved by the format, not supported by this version: must be absent, or the fallback (a number)
  any,
};

enum class Count {
  one,
  several,        // a list, or a single value
  list,           // always a list
  by_name,        // an object; the model chooses the names of its members
  lists_by_name,  // an object of lists; the model chooses the names of its members
};

// The range of a number. The default has no bounds.
struct KeyRange {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  bool above = false, below = false;    // whether low is excluded; whether high is excluded
  bool f32 = false;                     // whether it must also be finite as an f32
  bool holds(long double value) const;  // exact for every integer of 64 bits
};
constexpr KeyRange at_least(double low) { return {.low = low}; }
constexpr KeyRange between(double low, double high) { return {.low = low, .high = high}; }
inline constexpr KeyRange kNotNegative = {.low = 0};
inline constexpr KeyRange kAboveZero = {.low = 0, .above = true};
inline constexpr KeyRange kShare = {.low = 0, .high = 1, .below = true};  // [0, 1)
constexpr KeyRange as_f32(KeyRange range) {
  range.f32 = true;
  return range;
}

struct Key {
  std::string name;
  KeyType type = KeyType::integer;
  Count count = Count::one;
  std::string doc = {};
  std::optional<Attr> fallback = {};  // the default; a key that has none and is not required may be absent
  bool required = false;
  KeyRange range = {};                       // of a number; for lists, of each number
  std::vector<std::string> words = {};       // the allowed texts; the fallback may be another text
  std::string of = {};                       // the family of a part or an object: "initializer"
  std::span<const Key> (*keys)() = nullptr;  // the members of an object that belongs to no family
  std::string hint = {};                     // what to write; shown if the key is missing or has another type
  // For attributes: only values of results depend on it; no type, index or gradient does. So a kernel may take it as a
  // scalar argument, and layers that differ in it share a kernel.
  bool scalar = false;
};

const Key* find_key(std::span<const Key> keys, std::string_view name);  // nullptr when unknown
std::vector<std::string> key_names(std::span<const Key> keys);

// For attributes: whether the value has the key's type; the name of that type in messages about IR text: "integers".
bool holds(const Key& key, const Attr& value);
std::string attribute_type(const Key& key);

}  // namespace heddle::ir
