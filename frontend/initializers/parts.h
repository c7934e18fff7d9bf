// Parts of initializers: random numbers moved to where a distribution has them.
#pragma once
#include <functional>

#include "frontend/initializer.h"

namespace heddle::frontend {

using Random = std::function<ir::ValueId(std::string_view op)>;

// Uniform on [low, high).
ir::ValueId between(ir::Builder& b, const Random& random, double low, double high);
// Normal.
ir::ValueId around(ir::Builder& b, const Random& random, double mean, double deviation);
// Normal without what lies outside [low, high].
ir::ValueId truncated(ir::Builder& b, const Random& random, double mean, double deviation, double low, double high);

}  // namespace heddle::frontend
