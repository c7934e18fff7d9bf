// Denominators: softmax, log_softmax and the logarithm of a sum of exponentials.
#include <fmt/format.h>

#include <cmath>

#include "ir/builder.h"
#include "tests/sums/lines.h"
#include "tests/sums/sum_case.h"

namespace heddle::testing {
using namespace ir;
namespace {

constexpr double kOfFunctions = 8;  // exp, log and division: a few units in the last place each

struct Row {
  double largest = -INFINITY, span = 0;  // the distances that go through exp: each is rounded
  long double total = 0, lost = 0;

  // Compensated (Kahan 1965): ten million long doubles one after another are wrong by more than an f64's bound.
  void add(long double term) {
    const long double next = term - lost, sum = total + next;
    lost = (sum - total) - next;
    total = sum;
  }
};

std::vector<Row> rows_of(const Lines& lines, const Column& x) {
  std::vector<Row> rows(static_cast<size_t>(lines.results()));
  const auto of = [&](int64_t line) -> Row& { return rows[static_cast<size_t>(line)]; };
  lines.each([&](int64_t i, int64_t line, int64_t) { of(line).largest = std::max(of(line).largest, x.at(i)); });
  lines.each([&](int64_t i, int64_t line, int64_t) {
    const double apart = of(line).largest - x.at(i);
    of(line).span = std::max(of(line).span, std::min(apart, 100.0));
    of(line).add(std::exp(static_cast<long double>(-apart)));
  });
  return rows;
}

// Relative to the sum of the exponentials.
double of_total(const Row& row, int64_t n, DType dtype) { return allowed(n, dtype, 1, kOfFunctions + row.span); }

Expected softmax_of(const Lines& lines, const Column& x, const std::vector<Row>& rows, bool logarithm) {
  const DType dtype = x.type.dtype;
  const int64_t n = lines.terms();
  Expected e{dtype, {}, {}};
  lines.each([&](int64_t i, int64_t line, int64_t) {
    const Row& row = rows[static_cast<size_t>(line)];
    const long double z = static_cast<long double>(x.at(i)) - row.largest, log_total = std::log(row.total);
    const double off = of_total(row, n, dtype);
    if (logarithm) {
      const double size = std::abs(static_cast<double>(z)) + static_cast<double>(log_total);
      e.add(exactly(z - log_total, size), off + 4 * epsilon(dtype) * (size + 1));
    } else {
      const long double y = std::exp(z) / row.total;
      e.add(exactly(y, 0), static_cast<double>(y) * (off + 4 * epsilon(dtype)) + 4 * smallest(dtype));
    }
  });
  return e;
}

Expected logarithms(const Lines& lines, const Column& x, const std::vector<Row>& rows) {
  const DType dtype = x.type.dtype;
  Expected e{dtype, {}, {}};
  for (const Row& row : rows) {
    const double size = std::abs(row.largest) + std::abs(static_cast<double>(std::log(row.total)));
    e.add(exactly(row.largest + std::log(row.total), size),
          of_total(row, lines.terms(), dtype) + 4 * epsilon(dtype) * (size + 1));
  }
  return e;
}

}  // namespace

SumCase exponentials(Draw& d) {
  constexpr int64_t kMostOfHalves = 30'000;  // of which the sum is an f16
  const DType dtype = d.dtype();
  const int64_t n = d.terms(1, dtype == DType::f16 ? std::min(d.most, kMostOfHalves) : d.most / 4);
  const int64_t others = d.length(1, std::min<int64_t>(64, std::max<int64_t>(1, d.most / 4 / n)));
  const Lines lines = d.chance(70) ? Lines{{others, n}, {1}} : Lines{{n, others}, {0}};
  const Kind kind = d.kind();
  const Numbers numbers(kind, dtype, n, d.seed);
  const std::string op = d.pick<std::string>({"softmax", "log_softmax", "reduce_logsumexp"});
  SumCase c;
  c.module.graphs.emplace_back().name = "sums";
  c.title = fmt::format("{} of {} {} {} along {}", op, to_string(kind), to_string(dtype), to_string(lines.dims),
                        lines.axes[0]);
  ColumnWriter writer({dtype, lines.dims});
  // An exponential of the one large number would leave nothing of the others.
  lines.each([&](int64_t, int64_t line, int64_t term) { writer.add(std::min(numbers.at(line, term), 4.0)); });
  const ValueId x = add_input(c, "x", writer.finish());
  const Column& data = c.inputs.at("x");
  const std::vector<Row> rows = rows_of(lines, data);
  Builder b(c.graph());
  const bool logsumexp = op == "reduce_logsumexp";
  c.graph().outputs = {b(op, {x}, logsumexp ? Attrs{{"axes", lines.axes}} : Attrs{{"axis", lines.axes[0]}})};
  c.outputs = {logsumexp ? logarithms(lines, data, rows) : softmax_of(lines, data, rows, op == "log_softmax")};
  return c;
}

}  // namespace heddle::testing
