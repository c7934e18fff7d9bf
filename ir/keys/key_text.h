// Texts about a key, for error messages and the reference documentation.
//
//   {.name = "kernel", .type = KeyType::integer, .count = Count::several, .range = between(1, 8)}
//     -> expected_text   "an integer or a list of integers"
//        range_fault     "must be between 1 and 8, is 9"
#pragma once
#include <string>

#include "ir/keys/key.h"

namespace heddle::ir {

// Whether an object's key also takes a flag: true for the object without members, or false. Its default is then a flag.
bool is_switch(const Key& key);
// What is expected as one value ("a number"), and as the whole value ("a number or a list of numbers").
std::string expected_item(const Key& key);
std::string expected_text(const Key& key);
// The type, for the reference: "a number or an expression".
std::string type_text(const Key& key);
// The default, for the reference; empty if there is none. If the default is not a value, the doc has its description
// after its last colon: "one number or [h, w]: the window". Objects have no such default.
std::string default_text(const Key& key);
// The doc without the description of a default.
std::string doc_text(const Key& key);
// Why the value is out of range, or empty. `shown` is the value as the file has it.
std::string range_fault(const Key& key, long double value, const std::string& shown);

}  // namespace heddle::ir
