// Tell: how the driver says what people should know. It prints nothing itself: a program's standard error is its own.
#pragma once
#include <functional>
#include <string>

namespace heddle::driver {

using Tell = std::function<void(const std::string&)>;  // a line; may be empty

}  // namespace heddle::driver
