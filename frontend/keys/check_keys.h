// Checks the members of an object against its keys. Reports unknown members with a suggestion, missing ones, and values
// of a wrong kind.
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

// The members as the file has them. A member with the value null counts as absent, but its name is checked.
struct Members {
  const std::vector<Json>&values, &nulls;
};

// How messages speak of the object: "dense 'fc1'", "setting".
struct ObjectTitle {
  std::string title;
  Location where;                        // location for errors about missing keys
  std::string_view noun = "key";         // what messages call a member
  std::vector<std::string> inputs = {};  // names of inputs; messages say that these belong in "in"
};

// The keys of an object: those common to its family, and its own.
struct KeyLists {
  std::span<const Key> common, own = {};
  const Key* find(std::string_view name) const;  // nullptr when unknown
};

// Adds all faults to `errors`. Returns the keys whose values are faulty.
std::set<std::string, std::less<>> check_keys(const Members& given, const KeyLists& keys, const ObjectTitle& object,
                                              Diagnostics& errors);

// Runs f. If it throws a UserError, adds that to `errors`.
void guarded(Diagnostics& errors, const std::function<void()>& f);

}  // namespace heddle::frontend
