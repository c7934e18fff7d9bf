// shift_left, shift_right_arithmetic, shift_right_logical, popcnt: bits of integers. What a shift moves out is lost.
#include <bit>

#include "ir/ops/elementwise.h"

namespace heddle::ir {
namespace {

using Integers = std::span<const int64_t>;

int64_t width(const Signature& s) { return bits(s.operands[0].dtype); }

// The bits of an element as a number without sign.
uint64_t bits_of(int64_t x, const Signature& s) {
  return width(s) == 64 ? pattern(x) : pattern(x) & ((uint64_t{1} << width(s)) - 1);
}
// Whether all bits go; a negative distance is larger than any number of bits.
bool moves_all(int64_t distance, const Signature& s) { return pattern(distance) >= pattern(width(s)); }

int64_t left(Integers x, const Signature& s) {
  return moves_all(x[1], s) ? 0 : wrap_to(s.operands[0].dtype, wrapping(pattern(x[0]) << x[1]));
}

int64_t right_logical(Integers x, const Signature& s) {
  return moves_all(x[1], s) ? 0 : wrapping(bits_of(x[0], s) >> x[1]);
}

int64_t right_arithmetic(Integers x, const Signature& s) {
  const bool negative = (bits_of(x[0], s) >> (width(s) - 1)) != 0;
  if (moves_all(x[1], s)) return negative ? -1 : 0;
  const uint64_t ones = x[1] == 0 ? 0 : ~uint64_t{0} << (width(s) - x[1]);
  return wrapping((bits_of(x[0], s) >> x[1]) | (negative ? ones : 0));
}

int64_t ones(Integers x, const Signature& s) { return std::popcount(bits_of(x[0], s)); }

OpDef of_bits(const std::string& name, const std::string& doc, std::vector<std::string> operands,
              const std::string& expr, int64_t (*eval)(Integers, const Signature&)) {
  const auto count = static_cast<int>(operands.size());
  OpDef def{.name = name,
            .doc = doc,
            .operands = std::move(operands),
            .dtypes = kIntegers,
            .kind = Elementwise{expr},
            .infer = same_type,
            .eval = eval_integer(eval),
            .no_gradient = "it computes with bits",
            .samples = samples_between(count, 0, 2)};
  for (Sample& sample : def.samples) sample.below = 40;  // shifts by more than the bits of i32 among them
  return def;
}

const RegisterOp shift_left(of_bits(
    "shift_left", "the bits of a, b places higher, zeros below; 0 where b is negative or not below the number of bits",
    {"a", "b"}, "hd::shift_left(a, b)", left));
const RegisterOp shift_right_logical(
    of_bits("shift_right_logical",
            "the bits of a, b places lower, zeros above; 0 where b is negative or not below the number of bits",
            {"a", "b"}, "hd::shift_right_logical(a, b)", right_logical));
const RegisterOp shift_right_arithmetic(
    of_bits("shift_right_arithmetic",
            "the bits of a, b places lower, copies of its highest bit above: in all places where b is negative or not "
            "below the number of bits",
            {"a", "b"}, "hd::shift_right_arithmetic(a, b)", right_arithmetic));
const RegisterOp popcnt(of_bits("popcnt", "how many bits of x are 1", {"x"}, "hd::popcnt(x)", ones));

}  // namespace
}  // namespace heddle::ir
