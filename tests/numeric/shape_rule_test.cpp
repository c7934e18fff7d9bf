// Shape rules: right on samples, an InferError and never a crash on anything else.
#include <gtest/gtest.h>

#include <limits>

#include "tests/numeric/harness.h"

namespace heddle::testing {
namespace {

using namespace ir;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();

std::vector<Type> operand_types(const Case& c) {
  OneOp one = one_op(c);
  std::vector<Type> types;
  for (const ValueId v : one.inputs) types.push_back(one.graph()[v].type);
  return types;
}

// Runs the rule; where it accepts, also the index maps, and the oracle when it is small.
bool accepts(const OpDef& op, const std::vector<Type>& operands, Attrs attrs) {
  std::vector<Type> results;
  try {
    attrs = canonical_attrs(op, attrs);
    results = infer_types(op, operands, attrs);
  } catch (const InferError& error) {
    EXPECT_NE(std::string(error.what()), "");
    return false;
  }
  const Signature s{.op = &op, .attrs = attrs, .operands = operands, .results = results};
  if (const auto* movement = std::get_if<Movement>(&op.kind)) {
    EXPECT_EQ(movement->maps(s).size(), operands.size());
  }
  if (const auto* reduction = std::get_if<Reduction>(&op.kind)) {
    EXPECT_EQ(reduction->domain(s).maps.size(), operands.size());
  }
  int64_t elements = 0;
  for (const Type& t : results) {
    for (const int64_t dim : t.dims) EXPECT_GE(dim, 1);
    elements += t.elements();
  }
  if (elements > 100000) return true;
  std::vector<Tensor> tensors;
  std::vector<const Tensor*> pointers;
  for (const Type& t : operands) tensors.push_back(random_tensor(t, 0.25, 0.75, 1, 1));
  for (const Tensor& t : tensors) pointers.push_back(&t);
  const std::vector<Tensor> computed = op.eval(s, pointers);
  for (size_t i = 0; i < results.size(); ++i) EXPECT_EQ(computed[i].type, results[i]);
  return true;
}

class ShapeRule : public ::testing::TestWithParam<Case> {};

TEST_P(ShapeRule, AcceptsTheSample) {
  EXPECT_TRUE(accepts(*GetParam().op, operand_types(GetParam()), GetParam().get().attrs));
}

TEST_P(ShapeRule, RefusesAWrongNumberOfOperands) {
  const OpDef& op = *GetParam().op;
  const std::vector<Type> right = operand_types(GetParam());
  std::vector<Type> more = right;
  more.push_back({DType::f32, {}});
  if (!op.variadic) {
    EXPECT_FALSE(accepts(op, more, GetParam().get().attrs));
  }
  if (op.variadic || right.empty()) return;
  EXPECT_FALSE(accepts(op, {right.begin(), right.end() - 1}, GetParam().get().attrs));
}

TEST_P(ShapeRule, SurvivesWrongRanksSizesAndDtypes) {
  const OpDef& op = *GetParam().op;
  const std::vector<Type> right = operand_types(GetParam());
  for (size_t i = 0; i < right.size(); ++i) {
    const auto attempt = [&](const Type& type) {
      std::vector<Type> wrong = right;
      wrong[i] = type;
      accepts(op, wrong, GetParam().get().attrs);
    };
    const Dims& dims = right[i].dims;
    Dims longer = dims;
    longer.insert(longer.begin(), 2);
    attempt({right[i].dtype, longer});
    attempt({right[i].dtype, {}});
    if (!dims.empty()) attempt({right[i].dtype, {dims.begin(), dims.end() - 1}});
    for (size_t d = 0; d < dims.size(); ++d) {
      Dims other = dims;
      other[d] += 1;
      attempt({right[i].dtype, other});
    }
    for (const DType dtype : all_dtypes()) attempt({dtype, dims});
  }
}

std::vector<Attr> hostile_values(const Attr& right) {
  std::vector<Attr> values = {true,  std::string("nonsense"), Dims{}, Dims(40, 3), 0.5, int64_t{-1}, int64_t{0}, kMost,
                              kLeast};
  if (const auto* list = std::get_if<Dims>(&right))
    for (size_t i = 0; i < list->size(); ++i)
      for (const int64_t value : {kLeast, int64_t{-1}, int64_t{0}, int64_t{1} << 32, kMost}) {
        Dims changed = *list;
        changed[i] = value;
        values.emplace_back(changed);
      }
  return values;
}

TEST_P(ShapeRule, SurvivesHostileAttributes) {
  const OpDef& op = *GetParam().op;
  for (const Key& def : op.attrs) {
    const Attrs& right = GetParam().get().attrs;
    const auto given = right.find(def.name);
    const Attr value = given != right.end() ? given->second : def.fallback.value_or(Attr{});
    for (const Attr& hostile : hostile_values(value)) {
      Attrs attrs = right;
      attrs[def.name] = hostile;
      accepts(op, operand_types(GetParam()), attrs);
    }
  }
  Attrs unknown = GetParam().get().attrs;
  unknown["no_such_attribute"] = true;
  EXPECT_FALSE(accepts(op, operand_types(GetParam()), unknown));
}

bool on_samples(const Case& c) { return !c.broadcast; }

INSTANTIATE_TEST_SUITE_P(Operators, ShapeRule, ::testing::ValuesIn(cases_where(on_samples)),
                         [](const auto& info) { return to_string(info.param); });

}  // namespace
}  // namespace heddle::testing
