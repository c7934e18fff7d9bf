#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/evaluate/sums.h"
#include "ir/ops/reduce.h"

namespace heddle::ir {
namespace {

std::vector<Type> infer(const Signature& s) {
  const Type& logits = s.operands[0];
  const Type& labels = s.operands[1];
  if (logits.rank() < 1)
    throw InferError(fmt::format("logits are {}, expected the classes in the last dimension", to_string(logits)));
  const Type expected{DType::i32, Dims(logits.dims.begin(), logits.dims.end() - 1)};
  if (labels != expected)
    throw InferError(
        fmt::format("labels are {}, logits {} expect {}", to_string(labels), to_string(logits), to_string(expected)));
  return {{logits.dtype, {}}};
}

// The values that forward and backward share. Both build them in the same way, so that `simplify` merges them.
struct Parts {
  Dims dims, axes;
  ValueId logits;  // in the compute type: a count in 16 bits would not be exact
  ValueId hit;     // bool: this class is the row's label
  ValueId valid;   // bool per row
  ValueId count;   // valid rows
};

Parts parts(Builder& b, const Node& n) {
  const Signature s = signature(b.graph, n);
  Parts p;
  p.dims = s.operands[0].dims;
  p.axes = {s.operands[0].rank() - 1};
  const ValueId labels = n.operands[1];
  const bool narrow = bits(s.operands[0].dtype) < 32;
  p.logits = narrow ? b.cast(n.operands[0], DType::f32) : n.operands[0];
  const ValueId classes = b("iota", {}, {{"axis", p.axes[0]}, {"shape", p.dims}});
  p.hit = b("eq", {classes, spread(b, labels, p.dims, p.axes)});
  p.valid = b("ne", {labels, b.like(static_cast<double>(s.integer("ignore_index")), labels)});
  p.count = b("reduce_sum", {b.cast(p.valid, b.type(p.logits).dtype)});
  return p;
}

Values decomposition(Builder& b, const Node& n) {
  const DType dtype = b.type(n.operands[0]).dtype;
  const Parts p = parts(b, n);
  const ValueId largest = b("reduce_max", {p.logits}, {{"axes", p.axes}});
  const ValueId z = b("sub", {p.logits, spread(b, largest, p.dims, p.axes)});
  const ValueId total = b("log", {b("reduce_sum", {b("exp", {z})}, {{"axes", p.axes}})});
  // A maximum over one value at most. For a label that is no class it is -inf, the logarithm of probability 0.
  const ValueId none = b.like(-std::numeric_limits<double>::infinity(), z);
  const ValueId picked = b("reduce_max", {b("select", {p.hit, z, none})}, {{"axes", p.axes}});
  const ValueId row = b("sub", {total, picked});
  const ValueId sum = b("reduce_sum", {b("select", {p.valid, row, b.like(0, row)})});
  return {b.cast(b("div", {sum, p.count}), dtype)};
}

// (softmax - onehot) * dy / count in valid rows, 0 in the others.
Grads grad(Builder& b, const Node& n, const Values& dy) {
  const DType dtype = b.type(n.operands[0]).dtype;
  const Parts p = parts(b, n);
  const ValueId probability = b("softmax", {p.logits});
  const ValueId excess = b("sub", {probability, b.cast(p.hit, b.type(p.logits).dtype)});
  const ValueId share = b("div", {b.cast(dy[0], b.type(p.logits).dtype), p.count});
  const Dims per_row(p.dims.begin(), p.dims.end() - 1);
  const ValueId everywhere = b.broadcast_to(share, per_row);
  const ValueId weight = b("select", {p.valid, everywhere, b.like(0, everywhere)});
  return {b.cast(b("mul", {excess, spread(b, weight, p.dims, p.axes)}), dtype), {}};
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> in) {
  const auto classes = static_cast<size_t>(s.operands[0].dims.back());
  const std::vector<double>& x = in[0]->real;
  Sum sum;
  double count = 0;
  for (size_t row = 0; row < in[1]->integer.size(); ++row) {
    const int64_t label = in[1]->integer[row];
    if (label == s.integer("ignore_index")) continue;
    const auto first = x.begin() + static_cast<std::ptrdiff_t>(row * classes);
    const double largest = *std::max_element(first, first + static_cast<std::ptrdiff_t>(classes));
    Sum total;
    for (size_t c = 0; c < classes; ++c) total.add(std::exp(first[static_cast<std::ptrdiff_t>(c)] - largest));
    const bool known = label >= 0 && label < static_cast<int64_t>(classes);
    const double picked = known ? first[label] : -std::numeric_limits<double>::infinity();
    sum.add(std::log(total.total()) + (largest - picked));  // the difference of two large numbers first
    ++count;
  }
  Tensor loss(s.results[0]);
  loss.real[0] = sum.total() / count;
  return {loss};
}

Sample sample(const Dims& rows, int64_t classes, int64_t ignore_index) {
  Dims logits = rows;
  logits.push_back(classes);
  Sample s{.shapes = {logits, rows}};
  if (ignore_index != -100) s.attrs = {{"ignore_index", ignore_index}};
  s.low = -3;
  s.high = 3;
  s.below = classes;
  s.dtypes = {DType::f32, DType::i32};
  return s;
}

const RegisterOp cross_entropy({.name = "cross_entropy",
                                .doc = "the mean over rows whose label is not ignore_index of log(sum of exp(logits)) "
                                       "- logits[label]; NaN without such a "
                                       "row, infinite where a label is none of the classes",
                                .operands = {"logits", "labels"},
                                .results = {"loss"},
                                .attrs = {{.name = "ignore_index",
                                           .type = KeyType::integer,
                                           .doc = "label of rows left out",
                                           .fallback = int64_t{-100}}},
                                .dtypes = kFloating,
                                .kind = Composite{},
                                .infer = infer,
                                .eval = eval,
                                .grad = grad,
                                .decomposition = decomposition,
                                .flops = 6,
                                .samples = {sample({8}, 10, -100), sample({7}, 33, -100), sample({1}, 2, -100),
                                            sample({3, 5}, 4, -100), sample({16}, 3, 1), sample({5}, 1, -100)}});

}  // namespace
}  // namespace heddle::ir
