// and, or, xor, not: truth values, or the bits of integers.
#include "ir/ops/elementwise.h"

namespace heddle::ir {
namespace {

const std::vector<DType> kLogical = [] {
  std::vector<DType> dtypes = {DType::boolean};
  dtypes.insert(dtypes.end(), kIntegers.begin(), kIntegers.end());
  return dtypes;
}();

OpDef logical(const std::string& name, const std::string& symbol, int64_t (*eval)(int64_t, int64_t)) {
  return {.name = name,
          .doc = "a " + symbol + " b, on truth values or on each bit of integers",
          .operands = {"a", "b"},
          .dtypes = kLogical,
          .kind = Elementwise{"T(a " + symbol + " b)"},
          .traits = {.commutative = true},
          .infer = same_type,
          .eval = eval_integer([eval](std::span<const int64_t> x, const Signature&) { return eval(x[0], x[1]); }),
          .no_gradient = "it computes with truth values and bits",
          .samples = samples_between(2, 0, 2)};
}

const RegisterOp logical_and(logical("and", "&", [](int64_t a, int64_t b) { return a & b; }));
const RegisterOp logical_or(logical("or", "|", [](int64_t a, int64_t b) { return a | b; }));
const RegisterOp logical_xor(logical("xor", "^", [](int64_t a, int64_t b) { return a ^ b; }));

const RegisterOp logical_not({.name = "not",
                              .doc = "the opposite truth value, or every bit of an integer inverted",
                              .operands = {"x"},
                              .dtypes = kLogical,
                              .kind = Elementwise{"T(x ^ T(-1))"},  // T(-1) is true, or an integer of ones
                              .infer = same_type,
                              .eval = eval_integer([](std::span<const int64_t> x, const Signature& s) {
                                return s.operands[0].dtype == DType::boolean ? int64_t{x[0] == 0} : ~x[0];
                              }),
                              .no_gradient = "it computes with truth values and bits",
                              .samples = samples_between(1, 0, 2)});

}  // namespace
}  // namespace heddle::ir
