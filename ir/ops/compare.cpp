// eq, ne, lt, le, gt, ge: element by element, to bool.
#include "ir/ops/elementwise.h"

namespace heddle::ir {
namespace {

using Reals = std::span<const double>;
using Integers = std::span<const int64_t>;

OpDef comparison(const std::string& name, const std::string& symbol, bool (*real)(double, double),
                 bool (*integer)(int64_t, int64_t, const Signature&), const Traits& traits = {}) {
  return {.name = name,
          .doc = "a " + symbol + " b; a comparison with nan is " + (name == "ne" ? "true" : "false"),
          .operands = {"a", "b"},
          .kind = Elementwise{"a " + symbol + " b"},
          .traits = traits,
          .infer = same_shape_bool,
          .eval = eval_either([real](Reals x, const Signature&) { return real(x[0], x[1]) ? 1.0 : 0.0; },
                              [integer](Integers x, const Signature& s) { return integer(x[0], x[1], s) ? 1 : 0; }),
          .no_gradient = "its result is a truth value",
          .samples = samples_between(2, -1, 1)};
}

const RegisterOp eq(comparison(
    "eq", "==", [](double a, double b) { return a == b; },
    [](int64_t a, int64_t b, const Signature&) { return a == b; }, {.commutative = true}));
const RegisterOp ne(comparison(
    "ne", "!=", [](double a, double b) { return a != b; },
    [](int64_t a, int64_t b, const Signature&) { return a != b; }, {.commutative = true}));
const RegisterOp lt(comparison(
    "lt", "<", [](double a, double b) { return a < b; }, integer_less));
const RegisterOp le(comparison(
    "le", "<=", [](double a, double b) { return a <= b; },
    [](int64_t a, int64_t b, const Signature& s) { return !integer_less(b, a, s); }));
const RegisterOp gt(comparison(
    "gt", ">", [](double a, double b) { return a > b; },
    [](int64_t a, int64_t b, const Signature& s) { return integer_less(b, a, s); }));
const RegisterOp ge(comparison(
    "ge", ">=", [](double a, double b) { return a >= b; },
    [](int64_t a, int64_t b, const Signature& s) { return !integer_less(a, b, s); }));

}  // namespace
}  // namespace heddle::ir
