// What an elementwise operator states of itself is what its oracle computes at the edges of the
// dtypes, and what the oracle computes there is stated.
#include <algorithm>
#include <cmath>

#include "ir/gradient_flow.h"
#include "tests/numeric/edge_values.h"
#include "tests/numeric/harness.h"

namespace heddle::testing {
namespace {

using namespace ir;

// Without attributes, of so many operands of the dtype.
bool takes(const OpDef& op, size_t operands, DType dtype) {
  if (!std::holds_alternative<Elementwise>(op.kind) || op.operands.size() != operands || !op.attrs.empty())
    return false;
  if (op.samples.empty() || !op.samples[0].dtypes.empty()) return false;
  return op.dtypes.empty() || std::find(op.dtypes.begin(), op.dtypes.end(), dtype) != op.dtypes.end();
}

Tensor result_of(const OpDef& op, const std::vector<Tensor>& operands) {
  Signature s{&op, {}, {}, {}};
  std::vector<const Tensor*> pointers;
  for (const Tensor& t : operands) s.operands.push_back(t.type), pointers.push_back(&t);
  s.results = op.infer(s);
  return op.eval(s, pointers)[0];
}

bool equal(const Tensor& x, const Tensor& y) {
  for (int64_t i = 0; i < x.elements(); ++i)
    if (!same_element(x, y, i)) return false;
  return true;
}

TEST(OpTraits, CommutativeOperators) {
  // Which zero and which nan it is depends on the order of the operands.
  const std::vector<std::string> undecided = {"max", "min"};
  int stated = 0;
  for (const OpDef* op : all_ops())
    for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::u8, DType::boolean}) {
      if (!takes(*op, 2, dtype)) continue;
      const std::vector<Tensor> both = combinations({edge_values(dtype), edge_values(dtype)});
      const bool exchanges = equal(result_of(*op, both), result_of(*op, {both[1], both[0]}));
      stated += op->traits.commutative ? 1 : 0;
      const bool may = std::find(undecided.begin(), undecided.end(), op->name) != undecided.end();
      const bool says_so = op->traits.commutative;
      EXPECT_FALSE(says_so && !exchanges) << op->name << " of " << to_string(dtype);
      EXPECT_FALSE(dtype == DType::f32 && exchanges && !may && !says_so) << op->name << " does not say so";
    }
  EXPECT_GT(stated, 10);
}

TEST(OpTraits, ArithmeticOfARing) {
  const auto expected = [](Arithmetic how, double a, double b) {
    return how == Arithmetic::sum ? a + b : how == Arithmetic::difference ? a - b : a * b;
  };
  for (const OpDef* op : all_ops()) {
    if (!takes(*op, 2, DType::f32)) {
      EXPECT_EQ(op->traits.arithmetic, Arithmetic::none) << op->name;
      continue;
    }
    const std::vector<Tensor> both = combinations({edge_values(DType::f32), edge_values(DType::f32)});
    const Tensor y = result_of(*op, both);
    for (const Arithmetic how : {Arithmetic::sum, Arithmetic::difference, Arithmetic::product}) {
      Tensor z = y;
      for (int64_t i = 0; i < y.elements(); ++i) z.set(i, expected(how, both[0].at(i), both[1].at(i)));
      const bool is_how = y.type.dtype == DType::f32 && equal(y, z);
      EXPECT_EQ(op->traits.arithmetic == how, is_how) << op->name;
    }
  }
}

// Whatever their attributes: they are their first operand, bit for bit, and other elementwise operators are not.
TEST(OpTraits, FirstOperands) {
  int stated = 0;
  for (const OpDef* op : all_ops()) {
    if (gradient_flow(*op) == nullptr) {
      if (takes(*op, 1, DType::f32) && op->infer({op, {}, {{DType::f32, {}}}, {}})[0].dtype == DType::f32) {
        const Tensor x = edge_values(DType::f32);
        EXPECT_FALSE(equal(result_of(*op, {x}), x)) << op->name << " does not say so";
      }
      continue;
    }
    ++stated;
    ASSERT_FALSE(op->samples.empty()) << op->name;
    Signature s{op, op->samples[0].attrs, {}, {}};
    const std::vector<Tensor> operands = op->operands.size() == 1
                                             ? std::vector<Tensor>{edge_values(DType::f32)}
                                             : combinations({edge_values(DType::f32), edge_values(DType::f32)});
    std::vector<const Tensor*> pointers;
    for (const Tensor& t : operands) s.operands.push_back(t.type), pointers.push_back(&t);
    s.results = op->infer(s);
    EXPECT_TRUE(equal(op->eval(s, pointers)[0], operands[0])) << op->name;
  }
  EXPECT_EQ(stated, 4);
}

TEST(OpTraits, LowerLimits) {
  const Tensor x = edge_values(DType::f32);
  for (const OpDef* op : all_ops()) {
    if (!takes(*op, 1, DType::f32)) {
      EXPECT_FALSE(op->traits.at_least) << op->name;
      continue;
    }
    const double limit = op->traits.at_least.value_or(0);
    const Tensor y = result_of(*op, {x});
    bool limits = y.type.dtype == DType::f32;
    for (int64_t i = 0; i < x.elements(); ++i)
      limits = limits && (std::isnan(x.at(i)) ? std::isnan(y.at(i)) : y.at(i) == std::max(x.at(i), limit));
    EXPECT_EQ(op->traits.at_least.has_value(), limits) << op->name;
  }
}

// Next to multiples of a quarter, where every step function that we have jumps.
bool jumps(const OpDef& op, size_t operands) {
  constexpr double kStep = 1e-9, kJump = 1e-3;
  const auto value = [&](double a, double b) {
    std::vector<Tensor> list(operands, Tensor({DType::f64, {}}));
    list[0].set(0, a);
    if (operands == 2) list[1].set(0, b);
    return result_of(op, list).at(0);
  };
  for (double a = -3; a <= 3; a += 0.25)
    for (double b = 0.5; b <= 2; b += 0.5)
      for (const double near : {a - kStep, a + kStep}) {
        const double here = value(a, b), there = value(near, b);
        if (std::abs(here) < 1e6 && std::abs(there) < 1e6 && std::abs(here - there) > kJump) return true;
      }
  return false;
}

TEST(OpTraits, FunctionsThatJump) {
  int stated = 0;
  for (const OpDef* op : all_ops())
    for (const size_t operands : {size_t{1}, size_t{2}}) {
      if (!takes(*op, operands, DType::f64)) continue;
      const std::vector<Type> types(operands, Type{DType::f64, {}});
      if (op->infer({op, {}, types, {}})[0].dtype != DType::f64) continue;
      stated += op->traits.jumps ? 1 : 0;
      EXPECT_EQ(op->traits.jumps, jumps(*op, operands)) << op->name;
    }
  EXPECT_GE(stated, 5);
}

}  // namespace
}  // namespace heddle::testing
