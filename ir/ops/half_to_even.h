#pragma once

namespace heddle::ir {

// The nearest integral value, of two as near the even one; the sign of a zero is that of x. It does not depend on the
// floating environment.
double half_to_even(double x);

}  // namespace heddle::ir
