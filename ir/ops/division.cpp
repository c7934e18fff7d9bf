// div, mod: truncated division, as in C, StableHLO and ONNX with fmod = 1, so that a == div(a, b) * b + mod(a, b) on
// integers. Division by zero and the overflow of the most negative integer by -1 are defined and trap nowhere.
#include <cmath>

#include "ir/ops/elementwise.h"

namespace heddle::ir {
namespace {

using Reals = std::span<const double>;
using Integers = std::span<const int64_t>;

int64_t quotient(Integers x, const Signature& s) {
  if (x[1] == 0) return -1;
  if (is_unsigned64(s)) return wrapping(static_cast<uint64_t>(x[0]) / static_cast<uint64_t>(x[1]));
  return x[1] == -1 ? wrapping(0 - static_cast<uint64_t>(x[0])) : x[0] / x[1];
}

int64_t remainder(Integers x, const Signature& s) {
  if (x[1] == 0) return x[0];
  if (is_unsigned64(s)) return wrapping(static_cast<uint64_t>(x[0]) % static_cast<uint64_t>(x[1]));
  return x[1] == -1 ? 0 : x[0] % x[1];
}

const RegisterOp div(binary_op(
    "div",
    "a / b. Integers truncate toward zero; division by 0 gives a value of ones in every bit (-1, or the largest "
    "unsigned), and the most negative integer by -1 gives itself.",
    "hd::div(a, b)", eval_either([](Reals x, const Signature&) { return x[0] / x[1]; }, quotient),
    [](const Expr&, const Expr& b, const Expr& y, const Expr& dy) -> Grads {
      const Expr da = dy / b;
      return {da, -(da * y)};
    },
    samples_between(2, 0.5, 2)));

const RegisterOp mod(binary_op(
    "mod",
    "the remainder of truncated division; its sign is that of a (C's % and fmod). Integers: 0 as b gives a. A floor "
    "modulus, with the sign of b, is select(r != 0 and (r < 0) != (b < 0), r + b, r).",
    "hd::fmod(a, b)", eval_either([](Reals x, const Signature&) { return std::fmod(x[0], x[1]); }, remainder),
    [](const Expr& a, const Expr& b, const Expr& y, const Expr& dy) -> Grads {
      return {dy, -(dy * ((a - y) / b))};  // y = a - trunc(a / b) * b
    },
    {{.shapes = {{4, 33}, {4, 33}}, .low = 1.1, .high = 1.9},
     {.shapes = {{1}, {1}}, .low = 1.1, .high = 1.9},
     {.shapes = {{}, {}}, .low = 2.1, .high = 3.9},
     {.shapes = {{3, 1, 5}, {3, 1, 5}}, .low = -1.9, .high = -1.1},
     {.shapes = {{64}, {64}}, .low = 0.6, .high = 1.1}},
    {.jumps = true}));

}  // namespace
}  // namespace heddle::ir
