// Key: what a key of a model file, or an attribute of an operator, is. By this one description
// values are read and refused, and the schema, the completion and the reference are written.
//
//   {.name = "patience", .doc = "epochs without a better value", .fallback = int64_t{5}, .range = at_least(1)}
//     -> read        train: early_stop: 'patience' must be at least 1, is 0
//        schema      "patience": {"type": ["null", "integer", "string"], "description": "epochs without a better value"}
//        reference   patience: an integer or an expression = 5  epochs without a better value
//
// An operator's attributes, the settings of layers and of what trains them, data maps, readers, and
// the sections of a model (frontend/keys/model_keys.h) are lists of keys. Other headers of the
// project must not be included here: the runtime reads its readers' keys.
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
  planned,  // of the format, and not built by this version: absent, or the fallback, which is then a number
  any,
};

enum class Count {
  one,
  several,        // a list, or one alone
  list,           // a list, also of one
  by_name,        // an object, whose keys the model chooses
  lists_by_name,  // likewise of lists
};

// Where a number lies. Without bounds, anywhere.
struct KeyRange {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  bool above = false, below = false;    // low, or high, itself is outside
  bool f32 = false;                     // and it is finite as an f32
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
  std::optional<Attr> fallback = {};  // the default; where there is none and the key is not required, it may be absent
  bool required = false;
  KeyRange range = {};                       // of a number, and of each of several
  std::vector<std::string> words = {};       // of a text that is one of these; a fallback may be another
  std::string of = {};                       // "initializer": what a part, or an object, is
  std::span<const Key> (*keys)() = nullptr;  // of an object that stands here alone
  std::string hint = {};                     // what to write, where it is missing or of another kind
  // Of an attribute: only the values of results depend on it, no type, no index and no gradient of
  // a kernel. So a kernel may take it as a scalar argument, and layers which differ in it share one
  // kernel.
  bool scalar = false;
};

const Key* find_key(std::span<const Key> keys, std::string_view name);  // nullptr when unknown
std::vector<std::string> key_names(std::span<const Key> keys);

// Of an attribute: whether the value is of the key's type, and what that is called in the IR's text: "integers".
bool holds(const Key& key, const Attr& value);
std::string attribute_type(const Key& key);

}  // namespace heddle::ir
