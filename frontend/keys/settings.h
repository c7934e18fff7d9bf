// Settings: the keys of a node, loss, optimizer and so on beside "op" and "in". What a block's
// sizes are is not known where the file is read: check_keys looks at the kinds of values alone, and
// numbers are evaluated, and held to their ranges, here.
//
//   {"op": "dense", "units": "4*d"}  with {units: integer, bias: flag = true}
//     ->  integer("units") = 4*d, flag("bias") = true
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/keys/read_key.h"
#include "ir/type.h"

namespace heddle::frontend {

class Settings {
 public:
  // `given` and `defs` outlive this.
  Settings(const std::vector<Json>& given, std::span<const Key> defs, const Scope& scope, std::string title,
           Location where);

  bool has(std::string_view name) const;  // given in the file, or with a default
  bool flag(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  std::string text(std::string_view name) const;
  ir::Dims integers(std::string_view name) const;
  std::vector<double> reals(std::string_view name) const;
  const Json* json(std::string_view name) const;  // as given; nullptr where the default holds
  Location where(std::string_view name) const;    // of the value; of the whole part where the default holds
  const Scope& scope() const { return scope_; }
  const std::string& title() const { return title_; }

  // Throws where a number that is given lies outside of its key's range.
  void check_ranges() const;
  [[noreturn]] void fail(std::string_view name, const std::string& message, const std::string& help = {}) const;

 private:
  const Key& def(std::string_view name) const;
  std::string named(std::string_view name) const;  // "dense 'fc1': 'units'"

  const std::vector<Json>& given_;
  std::span<const Key> defs_;
  const Scope& scope_;
  std::string title_;
  Location where_;
};

// What to write in an object that has no "op": a key may be meant for it.
std::string op_remedy(const Json& object);

// The "op" of an object that has one; throws UserError otherwise. `what` names the object: "data: train".
const Json& read_op(const Json& object, const std::string& what);

// "name" or {"op": "name", ...} as a part with its settings; throws UserError otherwise.
struct Part;
Part read_part(const Json& value, std::string_view what);

}  // namespace heddle::frontend
