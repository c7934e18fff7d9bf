#include <fmt/format.h>

#include <algorithm>

#include "ir/builder.h"

namespace heddle::ir {
namespace {

// Products of q, [..., m, k], and keys, [..., n, k], a matrix each; `of_row` of them are of one row.
struct Sizes {
  int64_t matrices = 1, of_row = 1, m = 1, n = 1, k = 1;
};
Sizes sizes_of(const Signature& s) {
  const Dims &q = s.operands[0].dims, &keys = s.operands[1].dims;
  Sizes z{.m = q[q.size() - 2], .n = keys[keys.size() - 2], .k = q.back()};
  for (size_t i = 0; i + 2 < q.size(); ++i) z.matrices *= q[i];
  z.of_row = z.matrices / q[0];
  return z;
}

std::vector<Type> infer(const Signature& s) {
  const Type &q = s.operands[0], &keys = s.operands[1], &last = s.operands[2];
  if (q.rank() < 3 || keys.rank() != q.rank() || keys.dtype != q.dtype)
    throw InferError(fmt::format("expected queries [rows,...,m,k] and keys [rows,...,n,k], got {} and {}", to_string(q),
                                 to_string(keys)));
  for (size_t i = 0; i < q.dims.size(); ++i)
    if (i + 2 != q.dims.size() && q.dims[i] != keys.dims[i])
      throw InferError(fmt::format("axis {} of queries and keys differs: {} vs {}", i, q.dims[i], keys.dims[i]));
  if (!(last == Type{DType::i32, {q.dims[0]}}))
    throw InferError(fmt::format("expected an i32 place for each row, got {}", to_string(last)));
  Type y = q;
  y.dims.back() = keys.dims[keys.dims.size() - 2];
  return {y};
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> in) {
  const Sizes z = sizes_of(s);
  Tensor y(s.results[0]);
  for (int64_t at = 0; at < y.elements(); ++at) {
    const int64_t key = at % z.n, query = at / z.n, matrix = query / z.m;
    if (key > in[2]->integer[static_cast<size_t>(matrix / z.of_row)]) continue;
    double sum = 0;
    for (int64_t i = 0; i < z.k; ++i)
      sum += in[0]->real[static_cast<size_t>(query * z.k + i)] *
             in[1]->real[static_cast<size_t>((matrix * z.n + key) * z.k + i)];
    y.real[static_cast<size_t>(at)] = sum;
  }
  return {std::move(y)};
}

PrimitivePlan plan(const Signature& s) {
  constexpr int64_t kThreads = 128, kWarps = kThreads / 32;
  const Sizes z = sizes_of(s);
  const int64_t keys = z.matrices * z.n, turns = (z.k + 31) / 32;
  return {.words = {{"matrices", std::to_string(z.matrices)},
                    {"of_row", std::to_string(z.of_row)},
                    {"m", std::to_string(z.m)},
                    {"n", std::to_string(z.n)},
                    {"width", std::to_string(z.k)}},
          .threads = kThreads,
          .blocks = (keys + kWarps - 1) / kWarps,
          .workers = z.matrices,
          .instructions = static_cast<double>(keys * z.m * (4 * turns + 20)),
          .dependent_loads = 2};
}

FlopCounts flops(const Signature& s) {
  const Sizes z = sizes_of(s);
  const double products = 2.0 * static_cast<double>(z.matrices * z.m) * static_cast<double>(z.n * z.k);
  return {.flops = products, .products = 0};
}

Sample sample(const Dims& batch, int64_t m, int64_t n, int64_t k, int64_t below, DType dtype = DType::f32) {
  Dims q = batch, keys = batch;
  q.insert(q.end(), {m, k});
  keys.insert(keys.end(), {n, k});
  return {.shapes = {q, keys, {batch[0]}}, .below = below, .dtypes = {dtype, dtype, DType::i32}};
}

const RegisterOp op(
    {.name = "seen_products",
     .doc = "y[r,...,i,j] = the sum of q[r,...,i,k] keys[r,...,j,k] over k where j <= last[r], else 0: keys behind the "
            "last one are not read",
     .operands = {"q", "keys", "last"},
     .dtypes = kFloating,
     .kind = Primitive{.call = "hd::seen_products<Index, matrices, of_row, m, n, width>(q, keys, last, y);",
                       .plan = plan,
                       .flop_counts = flops},
     .infer = infer,
     .eval = eval,
     .no_gradient = "decode makes it, of steps that write a text and learn nothing",
     .samples = {sample({2, 3}, 1, 33, 64, 40), sample({1}, 1, 1, 1, 2), sample({3, 1}, 4, 9, 7, 9),
                 sample({2, 2, 2}, 2, 5, 37, 6), sample({2, 4}, 1, 16, 16, 1, DType::bf16),
                 sample({2}, 3, 130, 20, 130, DType::f64)}});

}  // namespace
}  // namespace heddle::ir
