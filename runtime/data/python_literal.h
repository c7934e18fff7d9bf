// Parses the Python literals that NumPy writes into the headers of its files.
//
//   parse_python("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }")
//     -> dictionary {descr: text "<f4", fortran_order: flag 0, shape: tuple (integer 3, integer 4)}
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::runtime::data {

struct PythonValue {
  enum class Kind { none, flag, integer, text, tuple, list, dictionary };
  Kind kind = Kind::none;
  int64_t integer = 0;  // of a flag: 0 or 1
  std::string text = {};
  std::vector<PythonValue> items = {};  // of a tuple or list; of a dictionary its values, each with its `key`
  std::string key = {};
  const PythonValue* find(std::string_view member) const;
};

// Returns nothing where the text is not such a literal, is nested deeper than 8, or has a key twice.
std::optional<PythonValue> parse_python(std::string_view text);

}  // namespace heddle::runtime::data
