#include "frontend/keys/fields.h"

#include <fmt/format.h>

#include "ir/check.h"

namespace heddle::frontend {

Fields::Fields(const Json& object, std::span<const Key> keys, std::string title, const Scope& scope,
               Diagnostics& errors)
    : object_(object), keys_(keys), title_(std::move(title)), scope_(scope), errors_(errors) {
  guard([&] {
    as_object(object_, title_);
    const Location start{object_.where.file, object_.where.begin, object_.where.begin + 1};
    faulty_ = check_keys({object_.items, object_.nulls}, {keys_}, {title_, start}, errors_);
  });
}

std::string Fields::named(std::string_view key) const { return fmt::format("{}: '{}'", title_, key); }

const Key& Fields::declared(std::string_view key) const {
  const Key* found = find_key(keys_, key);
  HEDDLE_CHECK(found != nullptr, fmt::format("{} declares no key '{}'", title_, key));
  return *found;
}

const Json* Fields::find(std::string_view key) const {
  declared(key);
  return faulty_.contains(key) ? nullptr : object_.find(key);
}

void Fields::read_given(std::string_view key, bool& to) const { to = find(key)->flag; }

void Fields::read_given(std::string_view key, int64_t& to) const {
  to = read_integer(*find(key), declared(key), scope_, named(key));
}

void Fields::read_given(std::string_view key, double& to) const {
  to = read_real(*find(key), declared(key), scope_, named(key));
}

void Fields::read_given(std::string_view key, std::string& to) const { to = find(key)->text; }

template <class T>
void Fields::read_or_default(std::string_view key, T& to) const {
  const std::optional<ir::Attr>& fallback = declared(key).fallback;
  if (find(key) != nullptr) {
    guard([&] { read_given(key, to); });
  } else if (fallback) {
    to = std::get<T>(*fallback);
  }
}

void Fields::read(std::string_view key, bool& to) const { read_or_default(key, to); }
void Fields::read(std::string_view key, int64_t& to) const { read_or_default(key, to); }
void Fields::read(std::string_view key, double& to) const { read_or_default(key, to); }
void Fields::read(std::string_view key, std::string& to) const { read_or_default(key, to); }

void Fields::read(std::string_view key, const std::function<void(const Json&)>& f) const {
  if (const Json* value = find(key)) guard([&] { f(*value); });
}

void Fields::object(std::string_view key, const std::function<void(const Fields&)>& f) const {
  const Key& declared_key = declared(key);
  read(key, [&](const Json& value) {
    f(Fields(value, declared_key.keys(), fmt::format("{}: {}", title_, key), scope_, errors_));
  });
}

}  // namespace heddle::frontend
