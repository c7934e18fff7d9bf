// Functions that print pieces of C++ text: identifiers, types, literals, index arithmetic, comments. Names and numbers
// of a model reach the source only through these functions.
//
//   %fc1.weight -> fc1_weight      0.1 as f32 -> 0.1f      d0 * 128 + d1 -> row * 128 + column
#pragma once
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/index/index_map.h"

namespace heddle::codegen {

// Truth values are stored as bytes, because g++ does not vectorise loops that read or write bool (ten times slower).
std::string storage_type(ir::DType dtype);  // of elements in memory: "hd::bf16", "hd::u8"
std::string compute_type(ir::DType dtype);  // of elements in computations: "float", "bool"
std::string array_type(ir::DType dtype);    // of elements in local arrays and tiles: "float", "hd::u8"
// `value` as an element of the dtype, in its compute type.
std::string literal(double value, ir::DType dtype);
std::string integer_literal(int64_t value);  // an hd::i64
// The text in a form that is safe in a // comment: printable ASCII, no backslash at the end.
std::string comment_text(const std::string& text);

// Makes the identifiers of one kernel: letters, digits and underscores, no keywords, all different.
class Names {
 public:
  std::string fresh(const std::string& wish);

 private:
  std::set<std::string> taken_;
};
std::string identifier(const std::string& name);

// The expression as C++ text. `names` are the texts of the coordinates. Quotients of expressions that may be negative
// are rounded down.
std::string index_text(const ir::IndexExpr& e, const ir::Dims& extents, std::span<const std::string> names);
// The guards as C++ conditions: as a list, and joined to one condition. Empty if there are no guards.
std::vector<std::string> guard_conditions(const ir::IndexMap& map, std::span<const std::string> names);
std::string guard_text(const ir::IndexMap& map, std::span<const std::string> names);

// `head {`, the lines indented by one step, and `}`.
std::vector<std::string> block(const std::string& head, const std::vector<std::string>& lines);
std::string joined(const std::vector<std::string>& parts, const std::string& separator);

}  // namespace heddle::codegen
