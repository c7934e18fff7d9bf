// Tell: the callback for the driver's notes to the user. The driver prints nothing, because standard error belongs to
// the calling program.
#pragma once
#include <functional>
#include <string>

namespace heddle::driver {

using Tell = std::function<void(const std::string&)>;  // called with a line; may be empty

}  // namespace heddle::driver
