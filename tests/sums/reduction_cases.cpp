// Sums and means over any axes, alone and fused with what is read before them, computed beside or behind them.
#include <fmt/format.h>

#include <cmath>

#include "ir/builder.h"
#include "tests/sums/lines.h"
#include "tests/sums/sum_case.h"

namespace heddle::testing {
using namespace ir;
namespace {

// Rows, columns, the middle, everything, two axes apart, an image's positions, of one image or of all.
Lines draw_lines(Draw& d) {
  constexpr int64_t kMostResults = 4096;
  const int64_t n = d.terms(1, d.most), a = d.length(1, n), b = n / a;
  const int64_t results = d.length(1, std::min(kMostResults, d.most / n)), outer = d.length(1, results);
  switch (d.below(7)) {
    case 0: return {{results, n}, {1}};
    case 1: return {{n, results}, {0}};
    case 2: return {{outer, n, results / outer}, {1}};
    case 3: return {{n}, {0}};
    case 4: return {{a, results, b}, {0, 2}};
    case 5: return {{outer, a, b, results / outer}, {1, 2}};
    default: return {{outer, a, std::max<int64_t>(1, b / outer), results / outer}, {0, 1, 2}};
  }
}

enum class Beside { nothing, square, second, scaled, sibling, other_mean, wider, table };
const std::vector<std::string> kBeside = {"alone",           "of squares",         "times a second operand",
                                          "scaled, plus 1",  "and of the squares", "times the mean of a second operand",
                                          "in a wider type", "of gathered rows"};

// One reduction as it is drawn.
struct Reduced {
  SumCase c;
  Lines lines;
  Kind kind;
  DType dtype;
  Beside beside;
  bool mean;
  Numbers numbers;
};

double second_at(const Draw& d, int64_t i) { return 0.5 + unit(mixed(d.seed, 77 + static_cast<uint64_t>(i))); }

ValueId reduce(Builder& b, const Reduced& r, ValueId v) {
  return b(r.mean ? "reduce_mean" : "reduce_sum", {v}, {{"axes", r.lines.axes}});
}

// The sums of term(element), each held to the rule.
std::vector<Exact> sums(const Lines& lines, const std::function<void(Exact&, int64_t)>& add) {
  std::vector<Exact> all(static_cast<size_t>(lines.results()));
  lines.each([&](int64_t element, int64_t line, int64_t) { add(all[static_cast<size_t>(line)], element); });
  return all;
}

Expected held(const Reduced& r, const std::vector<Exact>& all, DType dtype, double roundings) {
  const int64_t n = r.lines.terms();
  Expected e{dtype, {}, {}};
  for (const Exact& sum : all) {
    const Exact value = r.mean ? sum.over(static_cast<double>(n)) : sum;
    e.add(value, allowed(n, dtype, value.size, roundings));
  }
  return e;
}

void scaled(Reduced& r, Builder& b, ValueId x, const Column& data) {
  const ValueId y = reduce(b, r, b("mul", {x, b.like(0.5, x)}));
  r.c.graph().outputs = {b("add", {y, b.like(1, y)})};
  Expected e{r.dtype, {}, {}};
  const int64_t n = r.lines.terms();
  for (const Exact& sum : sums(r.lines, [&](Exact&s, int64_t i) { s.add(data.at(i) * 0.5); })) {
    Exact value = r.mean ? sum.over(static_cast<double>(n)) : sum;
    value.add(1);
    e.add(value, allowed(n, r.dtype, value.size, 2));
  }
  r.c.outputs = {e};
}

// (a + da) (b + db), each within its own bound.
void other_mean(Reduced& r, Builder& b, ValueId x, const Column& data, const Draw& d) {
  const int64_t n = r.lines.terms();
  Column other = column_of(data.type, [&](int64_t i) { return second_at(d, i); });
  const auto first = held(r, sums(r.lines, [&](Exact& s, int64_t i) { s.add(data.at(i)); }), r.dtype, 2);
  const auto mean_sums = sums(r.lines, [&](Exact& s, int64_t i) { s.add(other.at(i)); });
  const ValueId y = add_input(r.c, "y", std::move(other));
  r.c.graph().outputs = {b("mul", {reduce(b, r, x), b("reduce_mean", {y}, {{"axes", r.lines.axes}})})};
  Expected e{r.dtype, {}, {}};
  for (size_t i = 0; i < mean_sums.size(); ++i) {
    const Exact mean = mean_sums[i].over(static_cast<double>(n));
    const double of_mean = allowed(n, r.dtype, mean.size, 2);
    const Exact product = first.value[i].times(mean.value());
    const double by = first.bound[i] * (std::abs(mean.value()) + of_mean) + std::abs(first.value[i].value()) * of_mean;
    e.add(product, by + epsilon(r.dtype) * std::abs(product.value()) + smallest(r.dtype));
  }
  r.c.outputs = {e};
}

// Rows of a small table, looked up in turn: what is summed is in no memory.
void of_table(Reduced& r, Builder& b, const Draw& d) {
  constexpr int64_t kRows = 5;
  const int64_t n = r.lines.dims[0], width = ir::product(r.lines.dims) / n;
  Dims table_dims = r.lines.dims;
  table_dims[0] = kRows;
  Column table = column_of({r.dtype, table_dims}, [&](int64_t i) { return r.numbers.at(0, i); });
  Column at =
      indices({n}, [&](int64_t i) { return static_cast<int64_t>(mixed(d.seed, static_cast<uint64_t>(i)) % kRows); });
  const auto element = [&](int64_t i) { return table.at(static_cast<int64_t>(at.at(i / width)) * width + i % width); };
  const std::vector<Exact> all = sums(r.lines, [&](Exact& s, int64_t i) { s.add(element(i)); });
  r.c.outputs = {held(r, all, r.dtype, 2)};
  const ValueId rows = add_input(r.c, "table", std::move(table)), places = add_input(r.c, "places", std::move(at));
  r.c.graph().outputs = {reduce(b, r, b("gather", {rows, places}))};
}

void build(Reduced& r, Draw& d) {
  Builder b(r.c.graph());
  if (r.beside == Beside::table) return of_table(r, b, d);
  const Type type{r.dtype, r.lines.dims};
  ColumnWriter writer(type);
  r.lines.each([&](int64_t, int64_t line, int64_t term) { writer.add(r.numbers.at(line, term)); });
  const ValueId x = add_input(r.c, "x", writer.finish());
  const Column& data = r.c.inputs.at("x");
  const auto plain = [&](Exact& s, int64_t i) { s.add(data.at(i)); };
  const auto square = [&](Exact& s, int64_t i) { s.add_product(data.at(i), data.at(i)); };
  Values& out = r.c.graph().outputs;
  switch (r.beside) {
    case Beside::nothing:
      out = {reduce(b, r, x)};
      r.c.outputs = {held(r, sums(r.lines, plain), r.dtype, 2)};
      break;
    case Beside::square:
      out = {reduce(b, r, b("square", {x}))};
      r.c.outputs = {held(r, sums(r.lines, square), r.dtype, 3)};
      break;
    case Beside::sibling:
      out = {reduce(b, r, x), reduce(b, r, b("square", {x}))};
      r.c.outputs = {held(r, sums(r.lines, plain), r.dtype, 2), held(r, sums(r.lines, square), r.dtype, 3)};
      break;
    case Beside::second: {
      Column second = column_of(type, [&](int64_t i) { return second_at(d, i); });
      const auto both = [&](Exact& s, int64_t i) { s.add_product(data.at(i), second.at(i)); };
      r.c.outputs = {held(r, sums(r.lines, both), r.dtype, 3)};
      out = {reduce(b, r, b("mul", {x, add_input(r.c, "y", std::move(second))}))};
      break;
    }
    case Beside::wider: {
      const DType wide = r.dtype == DType::f16 || r.dtype == DType::bf16 ? DType::f32 : DType::f64;
      out = {reduce(b, r, b.cast(x, wide))};
      r.c.outputs = {held(r, sums(r.lines, plain), wide, 2)};
      break;
    }
    case Beside::scaled: return scaled(r, b, x, data);
    default: return other_mean(r, b, x, data, d);
  }
}

// f16 has no room for squares of its one large number, nor for many of them.
bool fits(DType dtype, Beside beside) {
  return dtype != DType::f16 || (beside != Beside::square && beside != Beside::sibling);
}

}  // namespace

SumCase reduction(Draw& d) {
  const Lines lines = draw_lines(d);
  const Kind kind = d.kind();
  const DType dtype = d.dtype();
  const auto beside = static_cast<Beside>(d.below(std::ssize(kBeside)));
  const bool mean = d.chance(40);
  Reduced r{.c = {},
            .lines = lines,
            .kind = kind,
            .dtype = dtype,
            .beside = fits(dtype, beside) ? beside : Beside::nothing,
            .mean = mean,
            .numbers = Numbers(kind, dtype, lines.terms(), d.seed)};
  r.c.module.graphs.emplace_back().name = "sums";
  r.c.title = fmt::format("{} {} of {} {} over {}, {}", to_string(kind), r.mean ? "means" : "sums", to_string(dtype),
                          to_string(lines.dims), to_string(lines.axes), kBeside[static_cast<size_t>(r.beside)]);
  build(r, d);
  return std::move(r.c);
}

// The squared norm of several operands together, in f32 or wider.
SumCase total(Draw& d) {
  const DType dtype = d.dtype(), wide = dtype == DType::f64 ? DType::f64 : DType::f32;
  const int64_t n = d.terms(1, d.most), parts = std::min<int64_t>(n, 1 + d.below(4));
  const Numbers numbers(d.kind(), dtype, n, d.seed);
  SumCase c;
  c.module.graphs.emplace_back().name = "sums";
  Values operands;
  Exact sum;
  for (int64_t k = 0; k < parts; ++k) {
    Column part = column_of({dtype, {n / parts}}, [&](int64_t i) { return numbers.at(k, i); });
    for (int64_t i = 0; i < n / parts; ++i) sum.add_product(part.at(i), part.at(i));
    operands.push_back(add_input(c, fmt::format("x{}", k), std::move(part)));
  }
  c.title = fmt::format("squared norm of {} operands of {} {}", parts, n / parts, to_string(dtype));
  c.graph().outputs = {Builder(c.graph())("squared_norm", operands)};
  c.outputs = {{wide, {sum}, {allowed(n, wide, sum.size, 2)}}};
  return c;
}

// Of numbers that are in no memory: i * c for an index i. An index above 2^24 is rounded to f32.
SumCase of_source(Draw& d) {
  const int64_t n = d.terms(1, d.most);
  const DType dtype = d.pick<DType>({DType::f32, DType::f32, DType::f64});
  const double factor = round_to(dtype, (0.5 + 0.01 * static_cast<double>(d.below(50))) / static_cast<double>(n));
  const bool mean = d.chance(50);
  SumCase c;
  c.module.graphs.emplace_back().name = "sums";
  Builder b(c.graph());
  const ValueId index = b("iota", {}, {{"shape", Dims{n}}, {"axis", int64_t{0}}});
  const ValueId x = b.cast(index, dtype), terms = b("mul", {x, b.like(factor, x)});
  const Column one = column_of({dtype, {1}}, [&](int64_t) { return 0.25; });
  const ValueId more = b.broadcast_to(add_input(c, "x", one), {n});
  c.graph().outputs = {b(mean ? "reduce_mean" : "reduce_sum", {b("add", {terms, more})})};
  Exact sum;
  for (int64_t i = 0; i < n; ++i) sum.add(round_to(dtype, static_cast<double>(i)) * factor + 0.25);
  if (mean) sum = sum.over(static_cast<double>(n));
  c.outputs = {{dtype, {sum}, {allowed(n, dtype, sum.size, 4)}}};
  c.title = fmt::format("{} of {} {} that are computed", mean ? "mean" : "sum", n, to_string(dtype));
  return c;
}

}  // namespace heddle::testing
