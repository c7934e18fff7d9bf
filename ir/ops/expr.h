// Expr: C++ operators that append arithmetic on IR values, so that gradients read like formulas.
//
//   Expr x{b, n.operands[0]}, y{b, n.results[0]}, g{b, dy[0]};
//   return {g * (1.0 - y * y)};   // appends: constant, mul, sub, mul
//
// Numbers become constants of the other operand's type. C++ does not define which operand of an operator or call is
// evaluated first. If both append nodes, assign one to a variable first, so that the order of nodes does not depend on
// the compiler.
#pragma once
#include "ir/builder.h"

namespace heddle::ir {

struct Expr {
  Builder& b;
  ValueId id;
  operator ValueId() const { return id; }  // NOLINT: an Expr is a value
  Expr like(double value) const { return {b, b.like(value, id)}; }
};

inline Expr apply(std::string_view op, const Expr& x, const Attrs& attrs = {}) { return {x.b, x.b(op, {x.id}, attrs)}; }
inline Expr apply(std::string_view op, const Expr& x, const Expr& y) { return {x.b, x.b(op, {x.id, y.id})}; }
inline Expr apply(std::string_view op, const Expr& x, double y) { return apply(op, x, x.like(y)); }

inline Expr operator-(const Expr& x) { return apply("neg", x); }
inline Expr operator+(const Expr& x, const Expr& y) { return apply("add", x, y); }
inline Expr operator-(const Expr& x, const Expr& y) { return apply("sub", x, y); }
inline Expr operator*(const Expr& x, const Expr& y) { return apply("mul", x, y); }
inline Expr operator/(const Expr& x, const Expr& y) { return apply("div", x, y); }
inline Expr operator+(const Expr& x, double y) { return apply("add", x, y); }
inline Expr operator-(const Expr& x, double y) { return apply("sub", x, y); }
inline Expr operator*(const Expr& x, double y) { return apply("mul", x, y); }
inline Expr operator/(const Expr& x, double y) { return apply("div", x, y); }
inline Expr operator*(double x, const Expr& y) { return apply("mul", y, x); }
inline Expr operator+(double x, const Expr& y) { return apply("add", y, x); }
inline Expr operator-(double x, const Expr& y) { return apply("sub", y.like(x), y); }
inline Expr operator/(double x, const Expr& y) { return apply("div", y.like(x), y); }

inline Expr select(const Expr& condition, const Expr& a, const Expr& b) {
  return {a.b, a.b("select", {condition.id, a.id, b.id})};
}
inline Expr select(const Expr& condition, const Expr& a, double b) { return select(condition, a, a.like(b)); }
inline Expr select(const Expr& condition, double a, const Expr& b) { return select(condition, b.like(a), b); }

}  // namespace heddle::ir
