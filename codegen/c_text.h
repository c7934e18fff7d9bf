// Pieces of C++ text: identifiers, types, literals, index arithmetic, comments. Nothing of a model reaches the source
// except through here.
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

// Truth values lie as bytes: g++ does not vectorise loops that read or write bool (ten times slower).
std::string storage_type(ir::DType dtype);  // as elements lie in memory: "hd::bf16", "hd::u8"
std::string compute_type(ir::DType dtype);  // as they are computed with: "float", "bool"
std::string array_type(ir::DType dtype);    // as many of them are kept: "float", "hd::u8"
// `value` as an element of the dtype, in its compute type.
std::string literal(double value, ir::DType dtype);
std::string integer_literal(int64_t value);  // an hd::i64
// What may stand in a // comment: printable ASCII, no backslash at the end.
std::string comment_text(const std::string& text);

// Identifiers of one kernel: letters, digits and underscores, no keyword, none twice.
class Names {
 public:
  std::string fresh(const std::string& wish);

 private:
  std::set<std::string> taken_;
};
std::string identifier(const std::string& name);

// `names` are the coordinates' texts. Divisions of what can be negative round down.
std::string index_text(const ir::IndexExpr& e, const ir::Dims& extents, std::span<const std::string> names);
// The guards as conditions, none where they always hold; and as one condition, "" then.
std::vector<std::string> guard_conditions(const ir::IndexMap& map, std::span<const std::string> names);
std::string guard_text(const ir::IndexMap& map, std::span<const std::string> names);

// `lines` shifted right by one step inside `head {` and `}`.
std::vector<std::string> block(const std::string& head, const std::vector<std::string>& lines);
std::string joined(const std::vector<std::string>& parts, const std::string& separator);

}  // namespace heddle::codegen
