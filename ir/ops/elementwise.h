// Helpers to define elementwise operators: samples, and operators of one and two operands.
//
//   RegisterOp sqrt(unary_op("sqrt", "square root of x; nan below 0", "hd::sqrt(x)",
//                            [](double x) { return std::sqrt(x); }, gradient, samples_between(1, 0.2, 3)));
#pragma once
#include "ir/evaluate/arithmetic.h"
#include "ir/ops/expr.h"

namespace heddle::ir {

// Six shapes for `operands` operands with values in [low, high). Among them are a scalar, a size-1 dimension and odd
// ones.
std::vector<Sample> samples_between(int operands, double low, double high);
// The same with values of two intervals in turn, which leave out a kink between them.
std::vector<Sample> samples_around(int operands, double low1, double high1, double low2, double high2);

using Gradient1 = Expr (*)(const Expr& x, const Expr& y, const Expr& dy);
using Gradient2 = Grads (*)(const Expr& a, const Expr& b, const Expr& y, const Expr& dy);

// y = f(x) on floating values.
OpDef unary_op(const std::string& name, const std::string& doc, const std::string& expr, double (*eval)(double),
               Gradient1 grad, std::vector<Sample> samples, double flops = 1, const Traits& traits = {});
// y = f(a, b).
OpDef binary_op(const std::string& name, const std::string& doc, const std::string& expr, Eval eval, Gradient2 grad,
                std::vector<Sample> samples, const Traits& traits = {});
std::function<Grads(Builder&, const Node&, const Values&)> gradient_of(Gradient1 grad);
std::function<Grads(Builder&, const Node&, const Values&)> gradient_of(Gradient2 grad);

// a < b by the operands' dtype.
inline bool integer_less(int64_t a, int64_t b, const Signature& s) { return integer_less(s.operands[0].dtype, a, b); }
inline bool is_unsigned64(const Signature& s) { return s.operands[0].dtype == DType::u64; }

// The gradient of a step function. It is zero wherever it exists, so no gradient flows.
inline Grads no_flow(Builder&, const Node& n, const Values&) { return Grads(n.operands.size()); }

}  // namespace heddle::ir
