#include "ir/index/index_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

namespace heddle::ir {
namespace {

// Calls `visit` with every point of `extents`, in row-major order.
template <class Visit>
void for_each_point(const Dims& extents, Visit visit) {
  for (int64_t linear = 0; linear < product(extents); ++linear) {
    Dims point(extents.size());
    int64_t rest = linear;
    for (size_t d = extents.size(); d-- > 0; rest /= extents[d]) point[d] = rest % extents[d];
    visit(point, linear);
  }
}

int64_t linear_of(const Dims& point, const Dims& dims) {
  int64_t linear = 0;
  for (size_t d = 0; d < dims.size(); ++d) linear = linear * dims[d] + point[d];
  return linear;
}

int64_t floored(int64_t a, int64_t b) { return (a - ((a % b) + b) % b) / b; }

// An expression and, beside it, the function it must equal, built without any simplification.
struct Checked {
  IndexExpr expr;
  std::function<int64_t(const Dims&)> value;
};

Checked random_expr(std::mt19937& rng, const Dims& extents, int depth) {
  const auto pick = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(rng); };
  if (depth == 0) {
    const auto d = static_cast<int>(pick(0, static_cast<int64_t>(extents.size()) - 1));
    return {IndexExpr::dim(d), [d](const Dims& p) { return p[static_cast<size_t>(d)]; }};
  }
  Checked a = random_expr(rng, extents, depth - 1);
  const int64_t k = pick(1, 12);
  switch (pick(0, 3)) {
    case 0: {
      const int64_t factor = pick(-3, 8), shift = pick(-4, 4);
      Checked b = random_expr(rng, extents, depth - 1);
      return {a.expr + b.expr * factor + shift,
              [=](const Dims& p) { return a.value(p) + b.value(p) * factor + shift; }};
    }
    case 1: return {floor_div(a.expr, k, extents), [=](const Dims& p) { return floored(a.value(p), k); }};
    case 2: return {modulo(a.expr, k, extents), [=](const Dims& p) { return a.value(p) - floored(a.value(p), k) * k; }};
    default: return {a.expr * k, [=](const Dims& p) { return a.value(p) * k; }};
  }
}

TEST(IndexExpr, RandomExpressionsKeepTheirValueAndStayInTheirRange) {
  std::mt19937 rng(1);
  for (int round = 0; round < 3000; ++round) {
    const Dims extents{1 + static_cast<int64_t>(rng() % 5), 1 + static_cast<int64_t>(rng() % 7),
                       1 + static_cast<int64_t>(rng() % 4)};
    const Checked c = random_expr(rng, extents, 1 + static_cast<int>(rng() % 4));
    const Range r = range(c.expr, extents);
    for_each_point(extents, [&](const Dims& p, int64_t) {
      const int64_t expected = c.value(p);
      ASSERT_EQ(evaluate(c.expr, p), expected) << to_string(c.expr);
      ASSERT_LE(r.low, expected) << to_string(c.expr);
      ASSERT_GE(r.high, expected) << to_string(c.expr);
    });
  }
}

TEST(IndexExpr, RangesRemoveDivisions) {
  const Dims extents{6, 4, 5};
  const IndexExpr a = IndexExpr::dim(0), b = IndexExpr::dim(1), c = IndexExpr::dim(2);
  EXPECT_EQ(floor_div(a * 4 + b, 4, extents), a);
  EXPECT_EQ(modulo(a * 4 + b, 4, extents), b);
  EXPECT_EQ(floor_div(a * 20 + b * 5 + c, 5, extents), a * 4 + b);
  EXPECT_EQ(modulo(a * 20 + b * 5 + c, 20, extents), b * 5 + c);
  EXPECT_EQ(floor_div(b, 4, extents), IndexExpr(0));
  EXPECT_EQ(floor_div(floor_div(a, 2, extents), 3, extents), IndexExpr(0));
  EXPECT_EQ(simplify(floor_div(a, 3, extents) * 3 + modulo(a, 3, extents), extents), a);
  EXPECT_EQ(floor_div(a * 4 + b, 8, extents), floor_div(a, 2, extents));  // a * 4 + b < 8 (a / 2 + 1)
  EXPECT_EQ(modulo(a * 4 + b, 8, extents), modulo(a, 2, extents) * 4 + b);
}

TEST(IndexExpr, DigitsOfAnIndexJoinAgain) {
  const Dims extents{24};
  const IndexExpr i = IndexExpr::dim(0);
  const IndexExpr low = modulo(i, 4, extents), middle = modulo(floor_div(i, 4, extents), 3, extents);
  EXPECT_EQ(simplify(floor_div(i, 12, extents) * 12 + middle * 4 + low, extents), i);
  EXPECT_EQ(simplify(middle * 4 + low, extents), modulo(i, 12, extents));
}

TEST(IndexExpr, Coefficients) {
  const Dims extents{6, 10};
  const IndexExpr e = IndexExpr::dim(0) * 7 + floor_div(IndexExpr::dim(1), 3, extents) + 2;
  EXPECT_TRUE(coefficient(e, 0).affine);
  EXPECT_EQ(coefficient(e, 0).value, 7);
  EXPECT_FALSE(coefficient(e, 1).affine);
  EXPECT_TRUE(depends_on(e, 1));
  EXPECT_FALSE(depends_on(IndexExpr::dim(0), 1));
  EXPECT_EQ(to_string(e), "d0 * 7 + d1 / 3 + 2");
}

// Every way of writing `count` as a product of up to four factors, chosen at random.
Dims random_shape(std::mt19937& rng, int64_t count) {
  Dims dims{count};
  for (int round = 0; round < 3; ++round) {
    const size_t at = rng() % dims.size();
    const int64_t factor = 1 + static_cast<int64_t>(rng() % 6);
    if (dims[at] % factor != 0) continue;
    dims[at] /= factor;
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(at), factor);
  }
  return dims;
}

// What is divided may be far larger than what comes out.
TEST(IndexExpr, MagnitudeCountsInnerValues) {
  const Dims extents = {100};
  EXPECT_EQ(magnitude(IndexExpr::dim(0) * 1000 - 5, extents), 99005);
  EXPECT_GE(magnitude(modulo(IndexExpr::dim(0) * 1000, 7, extents), extents), 99 * (1000 % 7));
  EXPECT_GE(magnitude(modulo(IndexExpr::dim(0) * 5, 7, extents), extents), 99 * 5);
}

TEST(IndexMap, ReshapesReadTheSameLinearPosition) {
  std::mt19937 rng(2);
  for (int round = 0; round < 300; ++round) {
    const int64_t count = 12 * (1 + static_cast<int64_t>(rng() % 10));
    const Dims result = random_shape(rng, count), operand = random_shape(rng, count);
    const IndexMap map = reshape_map(result, operand);
    EXPECT_TRUE(map.guards.empty());
    for_each_point(result, [&](const Dims& p, int64_t linear) { ASSERT_EQ(linear_of(map.apply(p), operand), linear); });
    // A reshape and its inverse are the identity, and no reshape changes the linear offset: no division is left in
    // either.
    const IndexMap back = compose(map, reshape_map(operand, result));
    EXPECT_EQ(linear_offset(back, result), linear_offset(identity_map(result), result)) << to_string(back);
    EXPECT_EQ(linear_offset(map, operand), linear_offset(identity_map(result), result)) << to_string(map);
  }
}

IndexMap transpose_map(const Dims& operand, const std::vector<int>& perm) {
  IndexMap map{.extents = Dims(operand.size()), .results = std::vector<IndexExpr>(operand.size()), .guards = {}};
  for (size_t i = 0; i < perm.size(); ++i) {
    map.extents[i] = operand[static_cast<size_t>(perm[i])];
    map.results[static_cast<size_t>(perm[i])] = IndexExpr::dim(static_cast<int>(i));
  }
  return map;
}

// The last axis padded by one on the left and two on the right.
IndexMap pad_map(const Dims& operand) {
  IndexMap map = identity_map(operand);
  map.extents.back() += 3;
  map.results.back() = map.results.back() - 1;
  map.add_guard(map.results.back(), 0, operand.back());
  return map;
}

TEST(IndexMap, CompositionsAgreeWithApplyingOneAfterTheOther) {
  std::mt19937 rng(3);
  for (int round = 0; round < 300; ++round) {
    Dims operand = random_shape(rng, 24);
    IndexMap whole = identity_map(operand);
    std::vector<IndexMap> chain;
    Dims dims = operand;
    for (int step = 0; step < 4; ++step) {
      IndexMap map;
      if (const auto kind = rng() % 3; kind == 0) {
        map = reshape_map(random_shape(rng, product(dims)), dims);
      } else if (kind == 1) {
        std::vector<int> perm(dims.size());
        for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int>(i);
        std::shuffle(perm.begin(), perm.end(), rng);
        map = transpose_map(dims, perm);
      } else {
        map = pad_map(dims);
      }
      dims = map.extents;
      whole = compose(map, whole);
      chain.push_back(map);
    }
    for_each_point(dims, [&](const Dims& p, int64_t) {
      bool inside = true;
      Dims at = p;
      for (size_t i = chain.size(); inside && i-- > 0; at = chain[i].apply(at)) inside = chain[i].contains(at);
      ASSERT_EQ(whole.contains(p), inside) << to_string(whole);
      if (!inside) return;
      ASSERT_EQ(whole.apply(p), at) << to_string(whole);
      ASSERT_EQ(evaluate(linear_offset(whole, operand), p), linear_of(at, operand));
    });
  }
}

TEST(IndexMap, GuardsThatAlwaysHoldAreDropped) {
  IndexMap map = identity_map({8});
  map.add_guard(IndexExpr::dim(0) - 1, -1, 7);
  EXPECT_TRUE(map.guards.empty());
  map.add_guard(IndexExpr::dim(0) - 1, 0, 9);
  ASSERT_EQ(map.guards.size(), 1u);
  map.add_guard(IndexExpr::dim(0) - 1, -3, 5);  // the same expression: one guard with both bounds
  ASSERT_EQ(map.guards.size(), 1u);
  EXPECT_EQ(to_string(map), "(d0) -> (d0) if 0 <= d0 - 1 < 5");
}

TEST(IndexMap, UnitCoordinatesVanishFromOffsets) {
  const IndexMap map = identity_map({1, 4});
  EXPECT_EQ(linear_offset(map, {1, 4}), IndexExpr::dim(1));
}

}  // namespace
}  // namespace heddle::ir
