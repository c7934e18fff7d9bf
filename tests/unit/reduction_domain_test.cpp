// The index maps of every reduction and contraction lead to what its oracle computes. The expressions of `element` and
// `finish` are C++ text for kernels; the few in use are repeated here, and a new one fails until it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "ir/builder.h"

namespace heddle::ir {
namespace {

std::vector<Tensor> random_operands(const Sample& sample, const std::vector<Type>& types) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> real(sample.low, sample.high);
  std::uniform_int_distribution<int64_t> integer(0, sample.below - 1);
  std::vector<Tensor> operands;
  for (const Type& type : types) {
    Tensor t(type);
    for (double& v : t.real) v = real(random);
    for (int64_t& v : t.integer) v = integer(random);
    operands.push_back(std::move(t));
  }
  return operands;
}

Signature applied(const OpDef& op, const Sample& sample) {
  Signature s{.op = &op, .attrs = canonical_attrs(op, sample.attrs), .operands = {}, .results = {}};
  for (size_t i = 0; i < sample.shapes.size(); ++i) {
    const DType dtype = i < sample.dtypes.size() ? sample.dtypes[i] : DType::f32;
    s.operands.push_back({dtype, sample.shapes[i]});
  }
  s.results = infer_types(op, s.operands, s.attrs);
  return s;
}

Dims point_at(int64_t index, const Dims& extents) {
  Dims at(extents.size());
  for (size_t d = extents.size(); d-- > 0; index /= extents[d]) at[d] = index % extents[d];
  return at;
}

struct Accumulator {
  double value = 0;
  int64_t index = -1, valid = 0;
};

void combine(Accumulator& acc, const std::string& monoid, double x, int64_t k) {
  const bool first = acc.valid++ == 0;
  if (monoid == "Sum") acc.value += x;
  if (monoid == "Prod") acc.value = first ? x : acc.value * x;
  const bool larger = monoid == "Max" || monoid == "ArgMax";
  if (!first && (monoid == "Sum" || monoid == "Prod" || (larger ? x <= acc.value : x >= acc.value))) return;
  if (monoid != "Sum" && monoid != "Prod") acc.value = x;
  acc.index = k;
}

// Of an element for a place: of the elements around the place those that it stands for, beyond an end for all.
double resize_weight(int64_t k, const Signature& s) {
  const int64_t input = s.integer("input"), o = k / input, i = k % input;
  const double place =
      static_cast<double>(s.integer("step") * o + s.integer("offset")) / static_cast<double>(s.integer("scale"));
  double sum = 0;
  for (int64_t tap = -2; tap < input + 2; ++tap) {
    if (std::clamp<int64_t>(tap, 0, input - 1) != i) continue;
    const double d = std::abs(place - static_cast<double>(tap)), dd = d * d;
    const double cubic = d <= 1 ? 1.25 * dd * d - 2.25 * dd + 1 : -0.75 * (dd * d - 5 * dd + 8 * d - 4);
    sum += d >= 2 ? 0 : s.flag("cubic") ? cubic : std::max(1 - d, 0.0);
  }
  return sum;
}

double element(const std::string& text, const std::vector<double>& at, int64_t k, const Signature& s) {
  if (text.find("hd::resize_weight<T>(k,") != std::string::npos) return at[0] * resize_weight(k, s);
  if (text == "x" || text == "dy") return at[0];
  if (text == "index == k ? dy : T(0)" || text == "index == k ? x : T(0)")
    return at[1] == static_cast<double>(k) ? at[0] : 0;
  if (text == "a * b") return at[0] * at[1];
  ADD_FAILURE() << "unknown element " << text;
  return 0;
}

double finish(const std::string& text, const Accumulator& acc, int64_t count, const Signature& s) {
  if (text == "acc" || text == "acc.value") return acc.value;
  if (text == "acc.index") return static_cast<double>(acc.index);
  if (text == "acc / T(count)") return acc.value / static_cast<double>(count);
  if (text == "acc / T(valid)") return acc.value / static_cast<double>(acc.valid);
  if (text == "acc / T(count_include_pad ? count : valid)")
    return acc.value / static_cast<double>(s.flag("count_include_pad") ? count : acc.valid);
  ADD_FAILURE() << "unknown finish " << text;
  return 0;
}

// One result point: walks the reduction's points through the maps.
Accumulator reduce_at(const Reduction& r, const ReductionDomain& domain, const std::vector<IndexExpr>& offsets,
                      const std::vector<Tensor>& operands, const Signature& s, Dims at) {
  const size_t rank = at.size();
  Accumulator acc;
  at.resize(rank + domain.extents.size());
  for (int64_t i = 0; i < product(domain.extents); ++i) {
    const Dims inner = point_at(i, domain.extents);
    std::copy(inner.begin(), inner.end(), at.begin() + static_cast<std::ptrdiff_t>(rank));
    std::vector<double> values;
    for (size_t o = 0; o < operands.size(); ++o) {
      if (!domain.maps[o].contains(at)) break;
      const int64_t offset = evaluate(offsets[o], at);
      EXPECT_TRUE(offset >= 0 && offset < operands[o].elements());
      if (offset < 0 || offset >= operands[o].elements()) break;
      values.push_back(operands[o].at(offset));
    }
    if (values.size() < operands.size()) continue;
    const int64_t k = domain.k ? evaluate(*domain.k, at) : i;
    combine(acc, r.monoid.name, element(r.element, values, k, s), k);
  }
  return acc;
}

void expect_agreement(const OpDef& op, const Reduction& r, const ReductionDomain& domain, const Signature& s,
                      const Sample& sample) {
  const std::vector<Tensor> operands = random_operands(sample, s.operands);
  std::vector<const Tensor*> pointers;
  for (const Tensor& t : operands) pointers.push_back(&t);
  const std::vector<Tensor> expected = op.eval(s, pointers);
  const int64_t count = domain.count > 0 ? domain.count : product(domain.extents);
  ASSERT_EQ(domain.maps.size(), operands.size());
  ASSERT_EQ(r.finish.size(), expected.size());
  std::vector<IndexExpr> offsets;
  for (size_t o = 0; o < operands.size(); ++o) offsets.push_back(linear_offset(domain.maps[o], operands[o].type.dims));
  for (int64_t i = 0; i < expected[0].elements(); ++i) {
    const Accumulator acc = reduce_at(r, domain, offsets, operands, s, point_at(i, expected[0].type.dims));
    for (size_t result = 0; result < expected.size(); ++result)
      ASSERT_NEAR(finish(r.finish[result], acc, count, s), expected[result].at(i), 1e-9)
          << op.name << " of " << to_string(s.operands[0]) << ", element " << i << " of result " << result;
  }
}

TEST(ReductionDomain, AgreesWithTheOracleOfEveryReductionAndContraction) {
  int checked = 0;
  for (const OpDef* op : all_ops()) {
    const auto* reduction = std::get_if<Reduction>(&op->kind);
    const auto* contraction = std::get_if<Contraction>(&op->kind);
    if (reduction == nullptr && contraction == nullptr) continue;
    EXPECT_GE(op->samples.size(), 5U) << op->name;
    for (const Sample& sample : op->samples) {
      const Signature s = applied(*op, sample);
      const Reduction product{monoids::kSum, "a * b", {"acc"}, {}};
      const ReductionDomain domain = reduction != nullptr ? reduction->domain(s) : contraction->domain(s);
      expect_agreement(*op, reduction != nullptr ? *reduction : product, domain, s, sample);
    }
    ++checked;
  }
  EXPECT_GE(checked, 16);
}

}  // namespace
}  // namespace heddle::ir
