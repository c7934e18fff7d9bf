// Attributes: the compile-time parameters of a node, printed as {axis = 1, pads = [1,1,1,1]}. An
// operator declares its own as keys (ir/keys/key.h).
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace heddle::ir {

// `$rate` in the body of a kernel: the number that each call of the kernel supplies.
struct ScalarName {
  explicit ScalarName(std::string n) : name(std::move(n)) {}
  std::string name;  // without '$'
  auto operator<=>(const ScalarName&) const = default;
};

// A ScalarName stands in the place of a value of any other alternative.
using Attr = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>, ScalarName>;
using Attrs = std::map<std::string, Attr, std::less<>>;  // ordered, so that printing is deterministic

// The attribute's value, or `otherwise` if the attribute is absent. T must be the attribute's type.
template <class T>
T value_or(const Attrs& attrs, const char* name, const T& otherwise) {
  const auto found = attrs.find(name);
  return found == attrs.end() ? otherwise : std::get<T>(found->second);
}

// Whether both print the same text: NaN equals NaN, and -0.0 differs from 0.0.
bool same(const Attr& a, const Attr& b);
bool same(const Attrs& a, const Attrs& b);

std::string to_string(const Attr& attr);  // as printed: true, 3, 0.5, "same", [1,2]
std::string real_text(double value);      // shortest text that reads back equal; inf, -inf, nan

}  // namespace heddle::ir
