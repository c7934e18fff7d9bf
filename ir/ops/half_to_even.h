#pragma once

namespace heddle::ir {

// Rounds to the nearest integral value, ties to even. A zero gets the sign of x. The result does not depend on the
// rounding mode of the floating environment.
double half_to_even(double x);

}  // namespace heddle::ir
