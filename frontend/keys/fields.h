// Fields: the members of an object of the model file by its keys. What it is and what its keys are
// is checked once, at the start; then each value is read, and a fault is reported and leaves what
// is read into as it is.
//
//   Fields fields(json, train_keys(), "train", model.let, errors);
//   fields.read("epochs", train.epochs);
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontend/keys/check_keys.h"

namespace heddle::frontend {

class Fields {
 public:
  // `object`, `keys` and `scope` outlive this. `title` names the object in messages: "train".
  Fields(const Json& object, std::span<const Key> keys, std::string title, const Scope& scope, Diagnostics& errors);

  // As given; nullptr where it is absent, or of another kind than its key's.
  const Json* find(std::string_view key) const;
  // The value, or the default; without both `to` stays.
  void read(std::string_view key, bool& to) const;
  void read(std::string_view key, int64_t& to) const;
  void read(std::string_view key, double& to) const;
  void read(std::string_view key, std::string& to) const;
  template <class T>
  void read(std::string_view key, std::optional<T>& to) const {
    T value{};
    if (find(key) == nullptr) return;
    guard([&] { to = (read_given(key, value), value); });
  }
  // What is given, by a function of its own.
  void read(std::string_view key, const std::function<void(const Json&)>& f) const;
  // An object inside, by its keys.
  void object(std::string_view key, const std::function<void(const Fields&)>& f) const;

  std::string named(std::string_view key) const;  // "train: 'batch'"
  void guard(const std::function<void()>& f) const { guarded(errors_, f); }
  const Json& json() const { return object_; }
  bool is_object() const { return object_.kind == Json::Kind::object; }

 private:
  const Key& declared(std::string_view key) const;
  // Throw UserError.
  void read_given(std::string_view key, bool& to) const;
  void read_given(std::string_view key, int64_t& to) const;
  void read_given(std::string_view key, double& to) const;
  void read_given(std::string_view key, std::string& to) const;
  template <class T>
  void read_or_default(std::string_view key, T& to) const;

  const Json& object_;
  std::span<const Key> keys_;
  std::string title_;
  const Scope& scope_;
  Diagnostics& errors_;
  std::set<std::string, std::less<>> faulty_;
};

}  // namespace heddle::frontend
