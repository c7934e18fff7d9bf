// Parts of initializers: random numbers of a given distribution.
#pragma once
#include <functional>

#include "frontend/initializer.h"

namespace heddle::frontend {

using Random = std::function<ir::ValueId(std::string_view op)>;

// Uniform on [low, high).
ir::ValueId between(ir::Builder& b, const Random& random, double low, double high);
// Normal, with this mean and standard deviation.
ir::ValueId around(ir::Builder& b, const Random& random, double mean, double deviation);
// Normal, truncated to [low, high].
ir::ValueId truncated(ir::Builder& b, const Random& random, double mean, double deviation, double low, double high);

}  // namespace heddle::frontend
