// What is said of a table of choices that changes nothing in a program: "t.json: none of its choices is about this program",
// "t.json: it holds no choices".
#pragma once
#include <string>

#include "tools/driver/choices.h"

namespace heddle::driver {

std::string told_of_unused(const Choices& choices);

}  // namespace heddle::driver
