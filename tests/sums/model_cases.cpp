// Losses, their weighted means and the gradients that pass through them, and gradients clipped by
// their norm: whole models.
#include <fmt/format.h>

#include <cmath>

#include "frontend/build_graph.h"
#include "frontend/read/read_model.h"
#include "tests/sums/sum_case.h"

namespace heddle::testing {
using namespace ir;
namespace {

ir::Module module_of(const std::string& text) {
  static frontend::Sources sources;  // which the nodes' places point into
  const frontend::Model model = frontend::read_model(sources, sources.add("m.json", text), {});
  return frontend::build_module(model, frontend::default_build_options(model));
}

// Of one element or row: its loss, and the derivative by x.
struct Term {
  long double value = 0, slope = 0;
  double size = 0;  // of the numbers that it is computed from
};

Term term_of(const std::string& loss, long double x, long double t) {
  const long double d = x - t, e = std::exp(x);
  const auto size = static_cast<double>(std::abs(x) + std::abs(t));
  if (loss == "mse") return {d * d, 2 * d, static_cast<double>(d * d) + size * static_cast<double>(std::abs(d))};
  if (loss == "mae") return {std::abs(d), static_cast<long double>(d > 0 ? 1 : d < 0 ? -1 : 0), size};
  if (loss == "poisson_nll") return {e - t * x, e - t, static_cast<double>(e + std::abs(t * x))};
  const long double softplus = std::log1p(std::exp(-std::abs(x))) + std::max<long double>(x, 0);
  return {softplus - t * x, 1 / (1 + std::exp(-x)) - t, static_cast<double>(softplus) + size};  // binary cross entropy
}

struct Drawn {
  std::string loss;
  int64_t rows, columns;
  bool weighted;
};

std::string model_text(const Drawn& d) {
  return fmt::format(
      R"({{"format": "heddle-model/1", "name": "m",
           "inputs": {{"x": {{"shape": ["N", {0}]}}, "t": {{"shape": ["N", {0}]}}{1}}},
           "nodes": [{{"name": "p", "op": "param", "shape": [{0}]}}, {{"name": "y", "op": "add", "in": ["x", "p"]}}],
           "train": {{"batch": {{"N": {2}}}, "steps": 1, "loss": {{"op": "{3}", "in": ["y", "t"]{4}}},
                      "optimizer": {{"op": "sgd", "lr": 1}}}}}})",
      d.columns, d.weighted ? R"(, "w": {"shape": ["N"]})" : "", d.rows, d.loss,
      d.weighted ? R"(, "weights": "w")" : "");
}

// The weighted mean of terms, over the sum of the weights; and by column that of the slopes. Beside the sum a term has
// its own roundings, and the sum of the weights is held to the rule as well.
void expect_means(SumCase& c, const Drawn& d) {
  const Column &x = c.inputs.at("x"), &t = c.inputs.at("t");
  const Column* w = d.weighted ? &c.inputs.at("w") : nullptr;
  Exact total, weights;
  std::vector<Exact> slopes(static_cast<size_t>(d.columns));
  double size = 0;
  std::vector<double> sizes(slopes.size());
  for (int64_t i = 0; i < d.rows * d.columns; ++i) {
    const double weight = w == nullptr ? 1 : w->at(i / d.columns);
    const Term term = term_of(d.loss, x.at(i), t.at(i));
    const auto column = static_cast<size_t>(i % d.columns);
    total.add(static_cast<double>(term.value * weight));
    size += std::max(term.size, std::abs(static_cast<double>(term.value))) * weight;
    slopes[column].add(static_cast<double>(term.slope * weight));
    sizes[column] += (std::abs(static_cast<double>(term.slope)) + 1) * weight;
    weights.add(weight);
  }
  constexpr double kOfTerm = 12;  // roundings and functions
  const double count = weights.value(), n = static_cast<double>(d.rows * d.columns);
  const double of_weights = allowed(d.rows * d.columns, DType::f32, 1, 2);
  const Exact mean = total.over(count);
  c.outputs = {
      {DType::f32,
       {mean},
       {allowed(static_cast<int64_t>(n), DType::f32, size / count, kOfTerm) + std::abs(mean.value()) * of_weights}}};
  Expected next{DType::f32, {}, {}};
  for (size_t k = 0; k < slopes.size(); ++k) {
    const Exact slope = slopes[k].over(-count);
    next.add(slope, allowed(d.rows, DType::f32, sizes[k] / count, kOfTerm) + std::abs(slope.value()) * of_weights);
  }
  c.states.emplace("p", std::move(next));
}

}  // namespace

SumCase loss(Draw& d) {
  Drawn drawn{d.pick<std::string>({"mse", "mae", "poisson_nll", "binary_cross_entropy"}), 1, d.length(1, 8),
              d.chance(40)};
  drawn.rows = d.terms(2, std::max<int64_t>(2, d.most / 2 / drawn.columns));
  const Kind kind = d.kind();
  const Numbers numbers(kind, DType::f32, drawn.rows, d.seed), targets(d.kind(), DType::f32, drawn.rows, d.seed + 1);
  SumCase c;
  c.module = module_of(model_text(drawn));
  c.entry = "train";
  c.title = fmt::format("{} of [{},{}], {}{}", drawn.loss, drawn.rows, drawn.columns, to_string(kind),
                        drawn.weighted ? ", rows weighed" : "");
  const double most = drawn.loss == "poisson_nll" ? 4 : 1e3;  // exp(x)
  const Type type{DType::f32, {drawn.rows, drawn.columns}};
  const auto by = [&](const Numbers& n, double limit) {
    return column_of(type,
                     [&, limit](int64_t i) { return std::min(limit, n.at(i % drawn.columns, i / drawn.columns)); });
  };
  c.inputs.emplace("x", by(numbers, most));
  c.inputs.emplace("t", column_of(type, [&](int64_t i) {
                     return std::clamp(targets.at(i % drawn.columns, i / drawn.columns), 0.0, 1.0);
                   }));
  if (drawn.weighted)
    c.inputs.emplace("w", column_of({DType::f32, {drawn.rows}},
                                    [&](int64_t i) { return 0.5 + unit(mixed(d.seed, static_cast<uint64_t>(i))); }));
  c.inputs.emplace("p", column_of({DType::f32, {drawn.columns}}, [](int64_t) { return 0; }));
  expect_means(c, drawn);
  return c;
}

// The gradient of p in the sum of p x is x, scaled so that its norm is at most the limit.
SumCase clipped(Draw& d) {
  const int64_t n = d.terms(1, d.most / 2);
  const Kind kind = d.kind();
  const Numbers numbers(kind, DType::f32, n, d.seed);
  const double limit = 0.25;
  SumCase c;
  c.module = module_of(fmt::format(
      R"({{"format": "heddle-model/1", "name": "m", "inputs": {{"x": {{"shape": ["N", {0}]}}}},
           "nodes": [{{"name": "p", "op": "param", "shape": [{0}]}}, {{"name": "y", "op": "mul", "in": ["x", "p"]}},
                     {{"name": "s", "op": "sum"}}],
           "train": {{"batch": {{"N": 1}}, "steps": 1, "loss": {{"op": "value", "in": "s"}}, "clip_norm": {1},
                      "optimizer": {{"op": "sgd", "lr": 1}}}}}})",
      n, limit));
  c.entry = "train";
  c.title = fmt::format("gradient of {} {}", n, to_string(kind));
  c.inputs.emplace("x", column_of({DType::f32, {1, n}}, [&](int64_t i) { return numbers.at(0, i); }));
  c.inputs.emplace("p", column_of({DType::f32, {n}}, [](int64_t) { return 0; }));
  const Column& x = c.inputs.at("x");
  Exact squares;
  for (int64_t i = 0; i < n; ++i) squares.add_product(x.at(i), x.at(i));
  const long double norm = std::sqrt(static_cast<long double>(squares.value()));
  const long double factor = std::min<long double>(1, limit / (norm + 1e-6L));
  // Half the error of the squares, for the root, and some roundings.
  const double off = allowed(n, DType::f32, 0.5, 8);
  Expected next{DType::f32, {}, {}};
  for (int64_t i = 0; i < n; ++i) {
    const long double y = -x.at(i) * factor;
    next.add(exactly(y, 0), std::abs(static_cast<double>(y)) * off + 2 * smallest(DType::f32));
  }
  c.states.emplace("p", std::move(next));
  return c;
}

}  // namespace heddle::testing
