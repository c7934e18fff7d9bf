#include "frontend/vector_norm.h"

namespace heddle::frontend {

using ir::Dims;
using ir::ValueId;

namespace {

ValueId number(ir::Builder& b, const std::string& name, double value, ValueId like) {
  b.prefix = name + ".constant";
  return b.like(value, like);
}

ValueId total(ir::Builder& b, const std::string& name, ValueId v, const Dims& axes) {
  return axes.empty() ? v : b("reduce_sum", {v}, {{"axes", axes}}, name + ".sum");
}

// x^exponent of what is not negative, which is 0 and has no gradient where x is 0.
ValueId power_or_zero(ir::Builder& b, const std::string& name, ValueId x, double exponent) {
  const ValueId zero = number(b, name, 0, x), is_zero = b("eq", {x, zero}, {}, name + ".is_zero");
  const ValueId safe = b("select", {is_zero, number(b, name, 1, x), x}, {}, name + ".safe");
  const ValueId power = exponent == 0.5 ? b("sqrt", {safe}, {}, name + ".root")
                                        : b("pow", {safe, number(b, name, exponent, x)}, {}, name + ".power");
  return b("select", {is_zero, zero, power}, {}, name + ".power_or_zero");
}

ValueId count_not_zero(ir::Builder& b, const std::string& name, ValueId x, const Dims& axes) {
  const ValueId counts = b("ne", {x, number(b, name, 0, x)}, {}, name + ".is_not_zero");
  const std::string dtype(ir::to_string(b.type(x).dtype));
  return total(b, name, b("cast", {counts}, {{"dtype", dtype}}, name + ".counts"), axes);
}

}  // namespace

ValueId root_or_zero(ir::Builder& b, const std::string& name, ValueId x) { return power_or_zero(b, name, x, 0.5); }

ValueId raised_to(ir::Builder& b, const std::string& name, ValueId x, double low) {
  const ValueId raised = b("max", {x, number(b, name, low, x)}, {}, name + ".raised");
  return b("straight_through", {raised, x}, {}, name + ".clamped");
}

ValueId vector_norm(ir::Builder& b, const std::string& name, ValueId x, const Dims& axes, double p) {
  if (p == 0) return count_not_zero(b, name, x, axes);
  if (p == 2) return root_or_zero(b, name, total(b, name, b("square", {x}, {}, name + ".squares"), axes));
  const ValueId sizes = b("abs", {x}, {}, name + ".sizes");
  if (p == 1) return total(b, name, sizes, axes);
  const ValueId powers = power_or_zero(b, name + ".elements", sizes, p);
  return power_or_zero(b, name, total(b, name, powers, axes), 1 / p);
}

ValueId pair_distance(ir::Builder& b, const std::string& name, ValueId a, ValueId c, double p, double eps) {
  const ValueId difference = b("sub", {a, c}, {}, name + ".difference");
  const ValueId apart = b("add", {difference, number(b, name, eps, difference)}, {}, name + ".apart");
  return vector_norm(b, name, apart, {b.type(a).rank() - 1}, p);
}

}  // namespace heddle::frontend
