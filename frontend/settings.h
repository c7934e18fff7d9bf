// Settings: the keys of a node, loss, optimizer and so on beside "op" and "in", checked against their definitions.
//
//   {"op": "dense", "units": "4*d"}  with {units: integer, bias: flag = true}
//     ->  integer("units") = 4*d, flag("bias") = true
//
// One definition serves the reader's checks, the defaults and the reference.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/expression.h"
#include "frontend/json.h"
#include "ir/attr.h"
#include "ir/type.h"

namespace heddle::frontend {

enum class SettingType {
  flag,
  integer,  // or an expression
  real,     // or an expression
  text,
  integers,  // a list, or one integer standing for a list of one
  reals,     // likewise
  part,      // "name" or {"op": "name", ...}: an activation, an initializer, a schedule
  padding,   // "valid", "same", an integer, [h, w] or [top, bottom, left, right]
};

struct SettingDef {
  std::string name;
  SettingType type = SettingType::integer;
  std::string doc;
  std::optional<ir::Attr> fallback = {};
  bool required = false;                // otherwise, without a fallback, it may be absent
  std::vector<std::string> words = {};  // of a text that is one of two or more; a fallback may be another
};

// The settings of a part as they stand in the file; what is null counts as absent, but has the name of a setting.
struct GivenSettings {
  const std::vector<Json>&values, &nulls;
};

// Unknown keys (with did-you-mean), missing ones, values of the wrong kind. Expressions are not evaluated: a block's
// sizes are not known yet. `also` lists further keys, which are read elsewhere.
void check_settings(const GivenSettings& given, std::span<const SettingDef> defs, const std::string& title,
                    const Location& where, const std::vector<std::string>& also, Diagnostics& errors);

class Settings {
 public:
  // `given` and `defs` outlive this.
  Settings(const std::vector<Json>& given, std::span<const SettingDef> defs, const Scope& scope, std::string title,
           Location where);

  bool has(std::string_view name) const;  // given in the file, or with a default
  bool flag(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  int64_t positive(std::string_view name) const;      // at least 1
  double positive_real(std::string_view name) const;  // an f32 above 0
  double real(std::string_view name) const;
  std::string text(std::string_view name) const;
  ir::Dims integers(std::string_view name) const;
  std::vector<double> reals(std::string_view name) const;
  const Json* json(std::string_view name) const;  // as given; nullptr where the default holds
  Location where(std::string_view name) const;    // of the value; of the whole part where the default holds
  const Scope& scope() const { return scope_; }
  const std::string& title() const { return title_; }

  int64_t evaluate_integer(const Json& value, std::string_view what) const;
  double evaluate_real(const Json& value, std::string_view what) const;
  [[noreturn]] void fail(std::string_view name, const std::string& message, const std::string& help = {}) const;

 private:
  const SettingDef& def(std::string_view name) const;

  const std::vector<Json>& given_;
  std::span<const SettingDef> defs_;
  const Scope& scope_;
  std::string title_;
  Location where_;
};

// A number of the file, evaluated where it is a string; integers are exact or an error.
int64_t evaluate_integer(const Json& value, const Scope& scope, std::string_view what);
double evaluate_real(const Json& value, const Scope& scope, std::string_view what);

// What to write in an object that has no "op": a key may be meant for it.
std::string op_remedy(const Json& object);

// "name" or {"op": "name", ...} as a part with its settings; throws UserError otherwise.
struct Part;
Part read_part(const Json& value, std::string_view what);

}  // namespace heddle::frontend
