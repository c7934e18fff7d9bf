// Fields: reads the members of an object of the model file by its keys. The constructor checks the object and its keys.
// A read that finds a fault reports it and leaves its target unchanged.
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
  // `object`, `keys` and `scope` must outlive this. `title` names the object in messages: "train".
  Fields(const Json& object, std::span<const Key> keys, std::string title, const Scope& scope, Diagnostics& errors);

  // The member as given; nullptr if it is absent or its kind is wrong.
  const Json* find(std::string_view key) const;
  // Reads the value or the default of the key. Without both, `to` stays unchanged.
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
  // Calls f with the value if it is given.
  void read(std::string_view key, const std::function<void(const Json&)>& f) const;
  // Calls f with the fields of a nested object if it is given.
  void object(std::string_view key, const std::function<void(const Fields&)>& f) const;

  std::string named(std::string_view key) const;  // "train: 'batch'"
  void guard(const std::function<void()>& f) const { guarded(errors_, f); }
  const Json& json() const { return object_; }
  bool is_object() const { return object_.kind == Json::Kind::object; }

 private:
  const Key& declared(std::string_view key) const;
  // Read a value that is given, and throw UserError at a fault.
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
