// What an operator states of itself (ir/op_traits.h) is what its oracle computes; and what the
// oracle computes, where it can be seen from values, is stated.
#include "ir/op_traits.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "ir/ops/loops.h"
#include "tests/numeric/applied.h"

namespace heddle::testing {
namespace {

using namespace ir;

int64_t at(const Dims& dims, const Dims& coordinates) { return position(dims, coordinates); }

// The first result's elements are the first operand's at the places that `source` says; where it
// says none, `otherwise`.
void expect_moved(Applied& a, const std::function<std::optional<Dims>(const Dims&)>& source, double otherwise = 0) {
  int64_t i = 0;
  for_each_point(a.results[0].type.dims, [&](const Dims& to) {
    const std::optional<Dims> from = source(to);
    const double expected = from ? a.operands[0].at(at(a.operands[0].type.dims, *from)) : otherwise;
    EXPECT_EQ(a.results[0].at(i++), expected);
  });
}

TEST(OpTraits, MovementsAlongAxes) {
  for (const Case& c : stating(&Traits::reshapes)) {
    Applied a = applied(c, count_elements);
    EXPECT_EQ(a.results[0].real, a.operands[0].real) << to_string(c);
  }
  for (const Case& c : stating(&Traits::permutation)) {
    SCOPED_TRACE(to_string(c));
    Applied a = applied(c, count_elements);
    const AxisList perm = c.op->traits.permutation(a.node());
    expect_moved(a, [&](const Dims& to) {
      Dims from(to.size());
      for (size_t d = 0; d < to.size(); ++d) from[static_cast<size_t>(perm[d])] = to[d];
      return from;
    });
  }
  for (const Case& c : stating(&Traits::spread)) {
    SCOPED_TRACE(to_string(c));
    Applied a = applied(c, count_elements);
    const AxisList dims = c.op->traits.spread(a.node());
    EXPECT_TRUE(std::is_sorted(dims.begin(), dims.end()));
    expect_moved(a, [&](const Dims& to) {
      Dims from;
      for (const int64_t d : dims)
        from.push_back(a.operands[0].type.dims[from.size()] == 1 ? 0 : to[static_cast<size_t>(d)]);
      return from;
    });
  }
}

TEST(OpTraits, MovementsWithinAxes) {
  for (const Case& c : stating(&Traits::slice)) {
    SCOPED_TRACE(to_string(c));
    Applied a = applied(c, count_elements);
    const Slice s = c.op->traits.slice(a.node());
    expect_moved(a, [&](const Dims& to) {
      Dims from(to);
      for (size_t d = 0; d < to.size(); ++d) {
        from[d] = s.starts[d] + to[d] * s.strides[d];
        EXPECT_LT(from[d], s.limits[d]);
      }
      return from;
    });
  }
  for (const Case& c : stating(&Traits::padding)) {
    SCOPED_TRACE(to_string(c));
    Applied a = applied(c, count_elements);
    const Padding p = c.op->traits.padding(a.node());
    const Dims &x = a.operands[0].type.dims, &y = a.results[0].type.dims;
    for (size_t d = 0; d < x.size(); ++d) EXPECT_EQ(y[d], p.low[d] + x[d] + (x[d] - 1) * p.interior[d] + p.high[d]);
    const auto source = [&](const Dims& to) -> std::optional<Dims> {
      Dims from(to);
      for (size_t d = 0; d < to.size(); ++d) {
        const int64_t step = p.interior[d] + 1, inside = to[d] - p.low[d];
        if (inside < 0 || inside % step != 0 || inside / step >= x[d]) return std::nullopt;
        from[d] = inside / step;
      }
      return from;
    };
    expect_moved(a, source, p.fill);
  }
  for (const Case& c : stating(&Traits::reversal)) {
    SCOPED_TRACE(to_string(c));
    Applied a = applied(c, count_elements);
    const auto rank = static_cast<int64_t>(a.operands[0].type.dims.size());
    expect_moved(a, [&](const Dims& to) {
      Dims from(to);
      for (const int64_t axis : c.op->traits.reversal(a.node())) {
        const auto d = static_cast<size_t>(normal_axis(axis, rank));
        from[d] = a.operands[0].type.dims[d] - 1 - to[d];
      }
      return from;
    });
  }
}

// Where the first two axes change places, the entries of every list do, and nothing else.
TEST(OpTraits, ListsByAxis) {
  int turned = 0;
  for (const Case& c : stating(&Traits::lists_by_axis)) {
    SCOPED_TRACE(to_string(c));
    Applied a = applied(c, count_elements);
    if (a.operands[0].type.dims.size() < 2) continue;
    ++turned;
    Attrs attrs = a.node().attrs;
    for (auto& [name, value] : attrs)
      if (auto* list = std::get_if<Dims>(&value); list != nullptr && !list->empty()) std::swap((*list)[0], (*list)[1]);
    Graph g;
    const auto swapped = [](Tensor t) {
      Tensor s = t;
      std::swap(s.type.dims[0], s.type.dims[1]);
      int64_t i = 0;
      for_each_point(t.type.dims, [&](Dims to) {
        std::swap(to[0], to[1]);
        s.copy(at(s.type.dims, to), t, i++);
      });
      return s;
    };
    const Tensor x = swapped(a.operands[0]);
    const ValueId v = g.add_input("x", x.type, Role::input);
    Builder b(g);
    const ValueId y = b(c.op->name, {v}, attrs);
    EXPECT_EQ(results_of(g, *g.def(y), {x})[0].real, swapped(a.results[0]).real);
  }
  EXPECT_GE(turned, 2);
}

TEST(OpTraits, JoinedOperands) {
  for (const Case& c : stating(&Traits::joined_along)) {
    SCOPED_TRACE(to_string(c));
    Applied a = applied(c, count_elements);
    const Dims dims = a.results[0].type.dims;
    const auto axis =
        static_cast<size_t>(normal_axis(c.op->traits.joined_along(a.node()), static_cast<int64_t>(dims.size())));
    int64_t i = 0;
    for_each_point(dims, [&](Dims to) {
      size_t operand = 0;
      for (; to[axis] >= a.operands[operand].type.dims[axis]; ++operand)
        to[axis] -= a.operands[operand].type.dims[axis];
      EXPECT_EQ(a.results[0].at(i++), a.operands[operand].at(at(a.operands[operand].type.dims, to)));
    });
  }
}

// Table rows of one place, whatever the other axes: a place that is asked for twice gives the same twice.
TEST(OpTraits, RowsAlong) {
  for (const Case& c : stating(&Traits::rows_along)) {
    SCOPED_TRACE(to_string(c));
    Applied a = applied(c, [](std::vector<Tensor>& operands) {
      count_elements(operands);
      for (int64_t i = 0; i < operands[1].elements(); ++i) operands[1].set(i, 0);
    });
    const Dims& x = a.operands[0].type.dims;
    const auto axis =
        static_cast<size_t>(normal_axis(c.op->traits.rows_along(a.node()), static_cast<int64_t>(x.size())));
    const size_t places = a.operands[1].type.dims.size();
    expect_moved(a, [&](const Dims& to) {
      Dims from(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(axis));
      from.push_back(0);
      from.insert(from.end(), to.begin() + static_cast<std::ptrdiff_t>(axis + places), to.end());
      return from;
    });
  }
}

TEST(OpTraits, WhatIsAddedToTheFirstOperandDoesNotDependOnIt) {
  for (const Case& c : stating(&Traits::adds_to_first)) {
    SCOPED_TRACE(to_string(c));
    const auto fill = [](std::vector<Tensor>& operands) {
      count_elements(operands);
      for (size_t o = 1; o < operands.size(); ++o)
        for (int64_t i = 0; i < operands[o].elements(); ++i) {
          const double number = operands[o].at(i);  // above those of the first operand, or below
          operands[o].set(i, !operands[o].floating() ? 0 : i % 2 == 0 ? number : -number);
        }
    };
    Applied whole = applied(c, fill);
    const Applied added = applied(c, [&](std::vector<Tensor>& operands) {
      fill(operands);
      for (int64_t i = 0; i < operands[0].elements(); ++i) operands[0].set(i, 0);
    });
    bool sums = true;
    for (int64_t i = 0; i < whole.results[0].elements(); ++i)
      sums = sums && whole.results[0].at(i) == whole.operands[0].at(i) + added.results[0].at(i);
    EXPECT_EQ(sums, c.op->traits.adds_to_first(whole.node()));
  }
}

TEST(OpTraits, SplatsHaveOneValue) {
  for (const Case& c : stating(&Traits::splat)) {
    Applied a = applied(c, count_elements);
    Tensor value({a.results[0].type.dtype, {}});
    value.set(0, c.op->traits.splat(a.node()));
    for (int64_t i = 0; i < a.results[0].elements(); ++i) EXPECT_EQ(a.results[0].at(i), value.at(0)) << to_string(c);
  }
}

TEST(OpTraits, ConversionsKeepTheNumber) {
  for (const Case& c : stating(&Traits::converts)) {
    Applied a = applied(c, [](std::vector<Tensor>& operands) {
      for (int64_t i = 0; i < operands[0].elements(); ++i) operands[0].set(i, static_cast<double>(i % 2));
    });
    for (int64_t i = 0; i < a.results[0].elements(); ++i)
      EXPECT_EQ(a.results[0].at(i), a.operands[0].at(i)) << to_string(c);
  }
}

// --- Reductions, pooling, norms, products

TEST(OpTraits, WhatReductionsMakeOfEqualElements) {
  for (const Case& c : stating(&Traits::removes_axes)) {
    SCOPED_TRACE(to_string(c));
    constexpr double kValue = 1.25;
    Applied a = applied(c, [](std::vector<Tensor>& operands) {
      for (int64_t i = 0; i < operands[0].elements(); ++i) operands[0].set(i, kValue);
    });
    const Dims& x = a.operands[0].type.dims;
    const Dims axes = normal_axes(integers_of(a.node(), "axes"), static_cast<int64_t>(x.size()));
    Dims kept;
    for (size_t d = 0; d < x.size(); ++d)
      if (!std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(d))) kept.push_back(x[d]);
    EXPECT_EQ(a.results[0].type.dims, kept);
    const auto n = static_cast<double>(product(x) / product(kept));
    const double y = a.results[0].at(0);
    const auto is = [&](double expected) { return std::abs(y - expected) <= 1e-6 * std::abs(expected); };
    switch (c.op->traits.of_equal) {
      case OfEqual::itself: EXPECT_TRUE(is(kValue)); break;
      case OfEqual::times: EXPECT_TRUE(is(n * kValue)); break;
      case OfEqual::power: EXPECT_TRUE(std::isinf(y) || is(std::pow(kValue, n))); break;
      case OfEqual::unknown: EXPECT_FALSE(n > 1 && (is(kValue) || is(n * kValue))); break;
    }
  }
}

// max(x, 0) before it and behind it is the same, whatever the signs in a window.
TEST(OpTraits, TheLargestAndWhere) {
  for (const Case& c : stating(&Traits::largest_and_where)) {
    SCOPED_TRACE(to_string(c));
    const auto draw = [&](std::vector<Tensor>& x) {
      x[0] = random_tensor(x[0].type, -2, 1, 4, hash_text(to_string(c)));
    };
    const auto limit = [](Tensor& t) {
      for (int64_t i = 0; i < t.elements(); ++i) t.set(i, std::max(t.at(i), 0.0));
    };
    Applied behind = applied(c, draw);
    Applied before = applied(c, [&](std::vector<Tensor>& x) { draw(x), limit(x[0]); });
    const Reduction& r = std::get<Reduction>(c.op->kind);
    EXPECT_EQ(r.finish.size(), 2U);
    EXPECT_TRUE(
        std::any_of(behind.results[0].real.begin(), behind.results[0].real.end(), [](double y) { return y < 0; }) ||
        behind.results[0].elements() < 100);
    limit(behind.results[0]);
    EXPECT_EQ(before.results[0].real, behind.results[0].real);
  }
}

TEST(OpTraits, OneListOfElements) {
  for (const Case& c : stating(&Traits::of_one_list)) {
    Applied a = applied(c, count_elements);
    Tensor all({a.operands[0].type.dtype, {0}});
    for (const Tensor& t : a.operands) all.real.insert(all.real.end(), t.real.begin(), t.real.end());
    all.type.dims = {static_cast<int64_t>(all.real.size())};
    const Signature s{c.op, {}, {all.type}, {a.results[0].type}};
    const std::vector<const Tensor*> one = {&all};
    const double whole = c.op->eval(s, one)[0].at(0);
    EXPECT_NEAR(a.results[0].at(0), whole, 1e-6 * whole) << to_string(c);
  }
}

TEST(OpTraits, WholeNumbers) {
  constexpr double kLow = -7, kHigh = 9;
  for (const Case& c : stating(&Traits::makes_wholes)) {
    SCOPED_TRACE(to_string(c));
    const bool limited = c.op->traits.makes_wholes == MakesWholes::within_limits;
    Applied a = applied(c, [&](std::vector<Tensor>& x) {
      for (int64_t i = 0; i < x[0].elements(); ++i) {
        x[0].set(i, 40 * std::sin(static_cast<double>(i + 1)));
        if (limited) x[1].set(i, kLow), x[2].set(i, kHigh);
      }
    });
    const double most = limited ? kHigh : 127;
    for (const double y : a.results[0].real) {
      EXPECT_EQ(y, std::nearbyint(y));
      EXPECT_GE(y, limited ? kLow : -most);
      EXPECT_LE(y, most);
    }
    if (limited) continue;
    const Dims& dims = a.results[0].type.dims;
    const int64_t given = signature(a.one.graph(), a.node()).integer("axis"), rank = std::ssize(dims);
    for_each_point(dims, [&](const Dims& point) {
      const double scale = a.results[1].at(point[static_cast<size_t>(given < 0 ? given + rank : given)]);
      const double about = a.results[0].at(at(dims, point)) * scale;
      EXPECT_LE(std::abs(a.operands[0].at(at(dims, point)) - about), 0.501 * scale);
    });
  }
}

}  // namespace
}  // namespace heddle::testing
