// Means, variances and results of normalize over batches, channels' groups and rows, and of layer_norm.
#include <fmt/format.h>

#include <cmath>

#include "ir/builder.h"
#include "tests/sums/lines.h"
#include "tests/sums/sum_case.h"

namespace heddle::testing {
using namespace ir;
namespace {

constexpr double kEps = 1e-5;

struct Moments {
  Exact sum;
  long double mean = 0;
  Exact squares;  // of the distances
  double off_mean = 0, off_variance = 0, variance = 0;
};

// The variance is that of distances to a rounded mean: their sum is right to the rule, and the
// mean's own error adds its square. One pass in doubles is better than that.
std::vector<Moments> moments_of(const Lines& lines, const Column& x) {
  const DType dtype = x.type.dtype;
  const int64_t n = lines.terms();
  const auto count = static_cast<double>(n);
  std::vector<Moments> all(static_cast<size_t>(lines.results()));
  const auto of = [&](int64_t line) -> Moments& { return all[static_cast<size_t>(line)]; };
  lines.each([&](int64_t i, int64_t line, int64_t) { of(line).sum.add(x.at(i)); });
  for (Moments& m : all) m.mean = (static_cast<long double>(m.sum.high) + m.sum.low) / count;
  lines.each([&](int64_t i, int64_t line, int64_t) {
    const auto apart = static_cast<double>(x.at(i) - of(line).mean);
    of(line).squares.add_product(apart, apart);
  });
  for (Moments& m : all) {
    m.off_mean = allowed(n, dtype, m.sum.size / count, 2);
    m.variance = m.squares.value() / count;
    m.off_variance = allowed(n, dtype, m.variance, 6) + m.off_mean * m.off_mean;
  }
  return all;
}

Expected results_of(const Lines& lines, const Column& x, const std::vector<Moments>& all) {
  const DType dtype = x.type.dtype;
  const double eps = epsilon(dtype);
  Expected e{dtype, {}, {}};
  lines.each([&](int64_t i, int64_t line, int64_t) {
    const Moments& m = all[static_cast<size_t>(line)];
    const double spread = m.variance + kEps, mean = std::abs(static_cast<double>(m.mean));
    const long double y =
        (x.at(i) - m.mean) /
        std::sqrt(static_cast<long double>(m.squares.value()) / static_cast<double>(lines.terms()) + kEps);
    const auto size = std::abs(static_cast<double>(y));
    const double of_distance = (m.off_mean + eps * (std::abs(x.at(i)) + mean)) / std::sqrt(spread);
    e.add(exactly(y, size), of_distance + size * (m.off_variance / spread + 8 * eps) + 2 * smallest(dtype));
  });
  return e;
}

Lines draw_lines(Draw& d) {
  const int64_t n = d.terms(2, std::max<int64_t>(2, d.most / 4));
  const int64_t channels = d.length(1, std::clamp<int64_t>(d.most / 4 / n, 1, 64)), a = d.length(1, n), b = n / a;
  switch (d.below(4)) {
    case 0: return {{n, channels}, {0}};
    case 1: return {{a, b, channels}, {0, 1}};
    case 2: return {{channels, n}, {1}};
    default: return {{channels, a, b}, {1, 2}};
  }
}

}  // namespace

SumCase normalization(Draw& d) {
  const Lines lines = draw_lines(d);
  const DType dtype = d.pick<DType>({DType::f32, DType::f32, DType::f64});
  const Kind kind = d.kind();
  const Numbers numbers(kind, dtype, lines.terms(), d.seed);
  SumCase c;
  c.module.graphs.emplace_back().name = "sums";
  ColumnWriter writer({dtype, lines.dims});
  lines.each([&](int64_t, int64_t line, int64_t term) { writer.add(numbers.at(line, term)); });
  const ValueId x = add_input(c, "x", writer.finish());
  Builder b(c.graph());
  const bool rows = lines.dims.size() == 2 && lines.axes[0] == 1 && d.chance(50);
  const Type scale{dtype, {lines.dims.back()}};
  const ValueId one = b.constant(1, scale), zero = b.constant(0, scale);
  const std::vector<Moments> all = moments_of(lines, c.inputs.at("x"));
  c.outputs = {results_of(lines, c.inputs.at("x"), all)};
  c.title = fmt::format("{} of {} {} {} over {}", rows ? "layer_norm" : "normalize", to_string(kind), to_string(dtype),
                        to_string(lines.dims), to_string(lines.axes));
  if (rows) {
    c.graph().outputs = {b("layer_norm", {x, one, zero}, {{"eps", kEps}})};
    return c;
  }
  c.graph().outputs = b.multi("normalize", {x, one, zero}, {{"axes", lines.axes}, {"eps", kEps}});
  Expected means{dtype, {}, {}}, variances{dtype, {}, {}};
  for (const Moments& m : all) {
    means.add(exactly(m.mean, 0), m.off_mean);
    variances.add(exactly(m.variance, 0), m.off_variance);
  }
  c.outputs.push_back(std::move(means));
  c.outputs.push_back(std::move(variances));
  return c;
}

}  // namespace heddle::testing
