// What is said of a key: in messages, and in the reference.
//
//   {.name = "kernel", .type = KeyType::integer, .count = Count::several, .range = between(1, 8)}
//     -> expected_text   "an integer or a list of integers"
//        range_fault     "must be between 1 and 8, is 9"
#pragma once
#include <string>

#include "ir/keys/key.h"

namespace heddle::ir {

// Whether an object's key also takes true, for the object without members, and false: its default is one of them.
bool is_switch(const Key& key);
// "a number": what one value is, and what the whole is.
std::string expected_item(const Key& key);
std::string expected_text(const Key& key);
// As the reference says it: "a number or an expression".
std::string type_text(const Key& key);
// As the reference shows it; empty where there is none. A default that is no value stands behind
// the last colon of the doc: "one number or [h, w]: the window"; objects have none.
std::string default_text(const Key& key);
// What it means, without such a default.
std::string doc_text(const Key& key);
// Empty where the value, which the file shows as `shown`, lies in the range.
std::string range_fault(const Key& key, long double value, const std::string& shown);

}  // namespace heddle::ir
