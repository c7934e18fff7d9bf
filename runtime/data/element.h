// ElementType: the types in which files and tables store elements, before a batch is gathered.
//
//   element_type("u8") -> ElementType::u8; size_of(ElementType::u8) -> 1
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace heddle::runtime::data {

enum class ElementType { u8, i8, i16, i32, i64, f32, f64 };

int64_t size_of(ElementType type);
bool is_floating(ElementType type);
std::string to_string(ElementType type);
std::optional<ElementType> element_type(std::string_view dtype);  // the IR's spelling; nothing: no file holds it

// Calls f with a value of the C++ type for `type`. Only the value's type matters.
template <class F>
auto visit(ElementType type, F&& f) {
  switch (type) {
    case ElementType::u8: return f(uint8_t{});
    case ElementType::i8: return f(int8_t{});
    case ElementType::i16: return f(int16_t{});
    case ElementType::i32: return f(int32_t{});
    case ElementType::i64: return f(int64_t{});
    case ElementType::f32: return f(float{});
    case ElementType::f64: break;
  }
  return f(double{});
}

}  // namespace heddle::runtime::data
