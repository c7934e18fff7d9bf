// Fields: reads the members of a JSON object once each and reports those nobody asked for.
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontend/expression.h"
#include "frontend/foreign_names.h"
#include "frontend/json.h"

namespace heddle::frontend {

class Fields {
 public:
  // Not an object: reported, and read as an empty one. `what` names it in messages: "train".
  Fields(const Json& object, std::string what, Diagnostics& errors);
  ~Fields();  // reports what is missing where nobody came to `finish`
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  const Json* take(std::string_view key);                                     // nullptr when absent
  const Json* require(std::string_view key, const std::string& remedy = {});  // reports when absent
  std::optional<Json> copy(std::string_view key);

  // Typed members; a fault is reported and reads as absent.
  std::optional<bool> flag(std::string_view key);
  std::optional<std::string> text(std::string_view key);
  std::optional<int64_t> integer(std::string_view key, const Scope& scope, int64_t low, int64_t high);
  std::optional<double> real(std::string_view key, const Scope& scope);

  // Keys of the format that this version does not build.
  void unsupported(const std::vector<std::string>& keys);
  // Reports what is left, with did-you-mean.
  void finish();

  // Runs f; a UserError it throws is collected.
  void guard(const std::function<void()>& f);
  std::string named(std::string_view key) const;  // "train: 'batch'"
  const Json& json() const { return object_; }

 private:
  void report_missing();

  const Json& object_;
  std::string what_;
  Diagnostics& errors_;
  std::set<std::string, std::less<>> asked_;
  std::vector<Needed> missing_;
};

void guarded(Diagnostics& errors, const std::function<void()>& f);

}  // namespace heddle::frontend
