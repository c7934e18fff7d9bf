#include <algorithm>
#include <cmath>

#include "ir/evaluate/sums.h"
#include "ir/mixed_precision.h"
#include "ir/ops/reduce.h"

namespace heddle::ir {
namespace {

struct Rows {
  Dims dims, axes;
};
Rows rows(const Signature& s) { return {s.operands[0].dims, {normal_axis(s.integer("axis"), s.operands[0].rank())}}; }

std::vector<Type> infer(const Signature& s) {
  normal_axis(s.integer("axis"), s.operands[0].rank());
  return {s.operands[0]};
}

// x minus the largest of its row, so that exp never overflows.
ValueId shifted(Builder& b, ValueId x, const Rows& r) {
  const ValueId largest = b("reduce_max", {x}, {{"axes", r.axes}});
  return b("sub", {x, spread(b, largest, r.dims, r.axes)});
}

// Applies f(x of a row, y of the row) to the elements along axis, however far apart they lie.
Eval eval_rows(std::function<void(const std::vector<double>&, std::vector<double>&)> f) {
  return [f](const Signature& s, std::span<const Tensor* const> in) -> std::vector<Tensor> {
    Tensor y(s.results[0]);
    const Dims& dims = y.type.dims;
    const int64_t axis = normal_axis(s.integer("axis"), y.type.rank());
    const auto n = static_cast<size_t>(dims[static_cast<size_t>(axis)]);
    const auto stride = static_cast<size_t>(product(Dims(dims.begin() + axis + 1, dims.end())));
    std::vector<double> row(n);
    std::vector<double> result(n);
    for (size_t block = 0; block < y.real.size(); block += n * stride)
      for (size_t start = block; start < block + stride; ++start) {
        for (size_t i = 0; i < n; ++i) row[i] = in[0]->real[start + i * stride];
        f(row, result);
        for (size_t i = 0; i < n; ++i) y.real[start + i * stride] = result[i];
      }
    return {y};
  };
}

// The largest of a row, and the logarithm of the sum of exp(x - largest). Apart: beside a large one the other is lost.
struct LogSum {
  double largest = 0, log = 0;
};
LogSum log_sum_exp(const std::vector<double>& x) {
  LogSum s{.largest = *std::max_element(x.begin(), x.end())};
  Sum sum;
  for (const double v : x) sum.add(std::exp(v - s.largest));
  s.log = std::log(sum.total());
  return s;
}

std::vector<Sample> samples() {
  return {{.shapes = {{4, 10}}, .low = -3, .high = 3},
          {.shapes = {{7, 33}}, .low = -3, .high = 3},
          {.shapes = {{5, 1}}, .low = -3, .high = 3},
          {.shapes = {{3, 5, 4}}, .attrs = {{"axis", int64_t{1}}}, .low = -3, .high = 3},
          {.shapes = {{9, 4}}, .attrs = {{"axis", int64_t{0}}}, .low = -3, .high = 3},
          {.shapes = {{2, 3, 257}}, .low = -20, .high = 20}};
}

Key axis_attribute() {
  return {.name = "axis", .type = KeyType::integer, .doc = "the axis that sums to 1", .fallback = int64_t{-1}};
}

const RegisterOp softmax({.name = "softmax",
                          .doc = "y = exp(x) / sum of exp(x) along axis",
                          .operands = {"x"},
                          .attrs = {axis_attribute()},
                          .dtypes = kFloating,
                          .kind = Composite{},
                          .infer = infer,
                          .eval = eval_rows([](const std::vector<double>& x, std::vector<double>& y) {
                            const LogSum row = log_sum_exp(x);
                            for (size_t i = 0; i < x.size(); ++i) y[i] = std::exp(x[i] - row.largest - row.log);
                          }),
                          .grad = [](Builder& b, const Node& n, const Values& dy) -> Grads {
                            const Rows r = rows(signature(b.graph, n));
                            const ValueId y = n.results[0];
                            const ValueId weighted = b("reduce_sum", {b("mul", {dy[0], y})}, {{"axes", r.axes}});
                            return {b("mul", {y, b("sub", {dy[0], spread(b, weighted, r.dims, r.axes)})})};
                          },
                          .decomposition = [](Builder& b, const Node& n) -> Values {
                            const Rows r = rows(signature(b.graph, n));
                            const ValueId e = b("exp", {shifted(b, n.operands[0], r)});
                            const ValueId sum = b("reduce_sum", {e}, {{"axes", r.axes}});
                            return {b("div", {e, spread(b, sum, r.dims, r.axes)})};
                          },
                          .flops = 5,
                          .samples = samples()});

const RegisterOp log_softmax({.name = "log_softmax",
                              .doc = "y = x - log of the sum of exp(x) along axis",
                              .operands = {"x"},
                              .attrs = {axis_attribute()},
                              .dtypes = kFloating,
                              .kind = Composite{},
                              .infer = infer,
                              .eval = eval_rows([](const std::vector<double>& x, std::vector<double>& y) {
                                const LogSum row = log_sum_exp(x);
                                for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] - row.largest - row.log;
                              }),
                              .grad = [](Builder& b, const Node& n, const Values& dy) -> Grads {
                                const Rows r = rows(signature(b.graph, n));
                                const ValueId y = n.results[0];
                                const ValueId sum = b("reduce_sum", {dy[0]}, {{"axes", r.axes}});
                                return {b("sub", {dy[0], b("mul", {b("exp", {y}), spread(b, sum, r.dims, r.axes)})})};
                              },
                              .decomposition = [](Builder& b, const Node& n) -> Values {
                                const Rows r = rows(signature(b.graph, n));
                                const ValueId z = shifted(b, n.operands[0], r);
                                const ValueId sum = b("reduce_sum", {b("exp", {z})}, {{"axes", r.axes}});
                                return {b("sub", {z, spread(b, b("log", {sum}), r.dims, r.axes)})};
                              },
                              .flops = 5,
                              .samples = samples()});

const StatesMixedPrecision restores({"softmax"}, MixedRule::restores, "f32");

}  // namespace
}  // namespace heddle::ir
