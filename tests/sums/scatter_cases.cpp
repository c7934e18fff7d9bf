// Prefixes along an axis; rows that collect updates of many equal indices, also as the gradient of a gather.
#include <fmt/format.h>

#include <cmath>

#include "ir/builder.h"
#include "tests/sums/lines.h"
#include "tests/sums/sum_case.h"

namespace heddle::testing {
using namespace ir;

// Each prefix is held to the rule for its own number of terms.
SumCase prefix(Draw& d) {
  const DType dtype = d.dtype();
  const int64_t n = d.terms(1, d.most), lines = d.length(1, std::clamp<int64_t>(d.most / n, 1, 64));
  const int64_t inner = d.chance(60) ? 1 : d.length(1, lines), outer = std::max<int64_t>(1, lines / inner);
  const bool reverse = d.chance(40), exclusive = d.chance(40);
  const Kind kind = d.kind();
  const Numbers numbers(kind, dtype, n, d.seed);
  SumCase c;
  c.module.graphs.emplace_back().name = "sums";
  const Type type{dtype, {outer, n, inner}};
  const auto line_of = [&](int64_t i) { return i / (n * inner) * inner + i % inner; };
  const ValueId x =
      add_input(c, "x", column_of(type, [&](int64_t i) { return numbers.at(line_of(i), i / inner % n); }));
  c.graph().outputs = {
      Builder(c.graph())("cumsum", {x}, {{"axis", int64_t{1}}, {"reverse", reverse}, {"exclusive", exclusive}})};
  Expected e{dtype, std::vector<Exact>(static_cast<size_t>(type.elements())),
             std::vector<double>(static_cast<size_t>(type.elements()))};
  for (int64_t line = 0; line < outer * inner; ++line) {
    Exact sum;
    for (int64_t k = 0; k < n; ++k) {
      const int64_t at = line / inner * n * inner + (reverse ? n - 1 - k : k) * inner + line % inner;
      const double term = c.inputs.at("x").at(at);
      if (!exclusive) sum.add(term);
      e.value[static_cast<size_t>(at)] = sum;
      e.bound[static_cast<size_t>(at)] = allowed(k + 1, dtype, sum.size, 1);
      if (exclusive) sum.add(term);
    }
  }
  c.outputs = {std::move(e)};
  c.title = fmt::format("cumsum of {} {} {}{}{}", to_string(kind), to_string(dtype), to_string(type.dims),
                        reverse ? ", from the end" : "", exclusive ? ", exclusive" : "");
  return c;
}

namespace {

// Which row each update goes to: all to one, most to one, or any.
struct Updates {
  int64_t rows, columns, n, spread;
  DType dtype;
  Kind kind;
  Numbers numbers;
  uint64_t seed;

  int64_t row(int64_t i) const {
    const uint64_t bits = mixed(seed, static_cast<uint64_t>(i));
    if (spread == 0 || (spread == 1 && bits % 10 != 0)) return rows / 2;
    return static_cast<int64_t>(bits / 10 % static_cast<uint64_t>(rows));
  }
  std::string words() const {
    static const std::vector<std::string> to = {"all to one row", "most to one row", "to any row"};
    return fmt::format("{} updates of {} {} elements of {} rows, {}, {}", n, columns, to_string(dtype), rows,
                       to[static_cast<size_t>(spread)], to_string(kind));
  }
};

Updates draw_updates(Draw& d) {
  constexpr int64_t kMostSorted = 4'000'000;  // indices: they are sorted
  const int64_t columns = d.length(1, 16),
                n = d.terms(1, std::min(kMostSorted, std::max<int64_t>(1, d.most / columns)));
  const DType dtype = d.dtype();
  const Kind kind = d.kind();
  return {d.length(1, 100), columns, n, d.below(3), dtype, kind, Numbers(kind, dtype, n, d.seed), d.seed};
}

Column update_column(const Updates& u) {
  return column_of({u.dtype, {u.n, u.columns}}, [&](int64_t i) { return u.numbers.at(i % u.columns, i / u.columns); });
}
Column index_column(const Updates& u, Dims dims) {
  return indices(std::move(dims), [&](int64_t i) { return u.row(i); });
}

// A sum of as many terms as its row has updates, and what was there.
Expected collected(const Updates& u, const Column& updates, const Column* start) {
  std::vector<Exact> sums(static_cast<size_t>(u.rows * u.columns));
  std::vector<int64_t> terms(static_cast<size_t>(u.rows), 1);
  for (size_t i = 0; start != nullptr && i < sums.size(); ++i) sums[i].add(start->at(static_cast<int64_t>(i)));
  for (int64_t i = 0; i < u.n; ++i) {
    const int64_t row = u.row(i);
    ++terms[static_cast<size_t>(row)];
    for (int64_t k = 0; k < u.columns; ++k)
      sums[static_cast<size_t>(row * u.columns + k)].add(updates.at(i * u.columns + k));
  }
  Expected e{u.dtype, {}, {}};
  for (size_t i = 0; i < sums.size(); ++i)
    e.add(sums[i], allowed(terms[i / static_cast<size_t>(u.columns)], u.dtype, sums[i].size, 1));
  return e;
}

}  // namespace

SumCase scattered(Draw& d) {
  const Updates u = draw_updates(d);
  const bool by_coordinates = d.chance(40);
  SumCase c;
  c.module.graphs.emplace_back().name = "sums";
  const Column start =
      column_of({u.dtype, {u.rows, u.columns}}, [](int64_t i) { return 0.01 * static_cast<double>(i % 7); });
  const ValueId x = add_input(c, "x", start);
  const ValueId at = add_input(c, "at", index_column(u, by_coordinates ? Dims{u.n, 1} : Dims{u.n}));
  const ValueId updates = add_input(c, "updates", update_column(u));
  c.graph().outputs = {Builder(c.graph())(by_coordinates ? "scatter_nd" : "scatter", {x, at, updates},
                                          {{"combine", std::string("add")}})};
  c.outputs = {collected(u, c.inputs.at("updates"), &start)};
  c.title = fmt::format("{} of {}", by_coordinates ? "scatter_nd" : "scatter", u.words());
  return c;
}

// The loss is the sum of table[at] * updates: its gradient collects the updates.
SumCase gathered_gradient(Draw& d) {
  const Updates u = draw_updates(d);
  SumCase c;
  c.module.graphs.emplace_back().name = "sums";
  const ValueId table = add_input(c, "table", column_of({u.dtype, {u.rows, u.columns}}, [](int64_t) { return 0.25; }));
  const ValueId at = add_input(c, "at", index_column(u, {u.n}));
  const ValueId updates = add_input(c, "updates", update_column(u));
  Builder b(c.graph());
  const ValueId sum = b("reduce_sum", {b("mul", {b("gather", {table, at}), updates})});
  c.graph().outputs = {b("gradient", {sum, table})};
  c.outputs = {collected(u, c.inputs.at("updates"), nullptr)};
  c.title = u.words();
  return c;
}

}  // namespace heddle::testing
