#include "runtime/data/element.h"

#include <array>
#include <utility>

namespace heddle::runtime::data {
namespace {

constexpr std::array<std::pair<std::string_view, ElementType>, 7> kNames = {{{"u8", ElementType::u8},
                                                                             {"i8", ElementType::i8},
                                                                             {"i16", ElementType::i16},
                                                                             {"i32", ElementType::i32},
                                                                             {"i64", ElementType::i64},
                                                                             {"f32", ElementType::f32},
                                                                             {"f64", ElementType::f64}}};

}  // namespace

int64_t size_of(ElementType type) {
  return visit(type, [](auto zero) { return static_cast<int64_t>(sizeof zero); });
}

bool is_floating(ElementType type) { return type == ElementType::f32 || type == ElementType::f64; }

std::string to_string(ElementType type) {
  for (const auto& [name, t] : kNames)
    if (t == type) return std::string(name);
  return "?";
}

std::optional<ElementType> element_type(std::string_view dtype) {
  for (const auto& [name, type] : kNames)
    if (name == dtype) return type;
  return std::nullopt;
}

}  // namespace heddle::runtime::data
