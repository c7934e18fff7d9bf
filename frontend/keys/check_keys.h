// Checks the members of an object by its keys: unknown ones, with what they were meant to be,
// missing ones, and values of another kind.
//
//   {"op": "dense", "untis": 4} by {units: integer, required}  ->  dense has no setting 'untis'; did you mean 'units'?
#pragma once
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "frontend/keys/read_key.h"

namespace heddle::frontend {

// As they stand in the file; what is null counts as absent, but has the name of a key.
struct Members {
  const std::vector<Json>&values, &nulls;
};

// How messages speak of the object: "dense 'fc1'", "setting".
struct ObjectTitle {
  std::string title;
  Location where;                        // where it lacks a key
  std::string_view noun = "key";         // of what it has
  std::vector<std::string> inputs = {};  // by whose names it reads: they stand in "in", and are no keys
};

// The keys of an object: those that all of its family have, and its own.
struct KeyLists {
  std::span<const Key> common, own = {};
  const Key* find(std::string_view name) const;  // nullptr when unknown
};

// The keys whose values are faulty.
std::set<std::string, std::less<>> check_keys(const Members& given, const KeyLists& keys, const ObjectTitle& object,
                                              Diagnostics& errors);

// Runs f; a UserError that it throws is collected.
void guarded(Diagnostics& errors, const std::function<void()>& f);

}  // namespace heddle::frontend
