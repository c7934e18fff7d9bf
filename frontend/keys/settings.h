// Settings: the values of a node, loss, optimizer or another part besides "op" and "in". The sizes of a block are not
// known when the file is read, so check_keys checks only the kinds of values. Numbers are evaluated, and checked
// against their ranges, here.
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
  // `given` and `defs` must outlive this.
  Settings(const std::vector<Json>& given, std::span<const Key> defs, const Scope& scope, std::string title,
           Location where);

  bool has(std::string_view name) const;  // whether the file gives it, or it has a default
  bool flag(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  std::string text(std::string_view name) const;
  ir::Dims integers(std::string_view name) const;
  std::vector<double> reals(std::string_view name) const;
  const Json* json(std::string_view name) const;  // as given; nullptr if it is absent
  Location where(std::string_view name) const;    // of the value; of the whole part if it is absent
  const Scope& scope() const { return scope_; }
  const std::string& title() const { return title_; }

  // Throws UserError if a number in the file lies outside of its key's range.
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

// A remedy for an object without "op". One of its keys may be a misspelled "op".
std::string op_remedy(const Json& object);

// The "op" of an object. Throws UserError if there is none. `what` names the object: "data: train".
const Json& read_op(const Json& object, const std::string& what);

// Reads "name" or {"op": "name", ...} as a part with its settings. Throws UserError for anything else.
struct Part;
Part read_part(const Json& value, std::string_view what);

}  // namespace heddle::frontend
