// smallest: marks the `count` smallest elements of each row; an operand holds the count.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "ir/op_def.h"
#include "ir/ops/ordering.h"

namespace heddle::ir {
namespace {

std::vector<Type> infer(const Signature& s) {
  const Type &x = s.operands[0], &count = s.operands[1];
  if (x.rank() == 0) throw InferError("expected at least one axis, got a scalar");
  if (x.dims.back() > INT32_MAX / 2)
    throw InferError(fmt::format("{} elements in a row, expected fewer than 2^30", x.dims.back()));
  if (count != Type{DType::i32, {}})
    throw InferError(fmt::format("'count' is one number, i32[], got {}", to_string(count)));
  return {{DType::boolean, x.dims}};
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> in) {
  const Tensor& x = *in[0];
  const int64_t n = x.type.dims.back(), count = std::clamp<int64_t>(in[1]->integer[0], 0, n);
  Tensor y(s.results[0]);
  std::vector<int64_t> places(static_cast<size_t>(n));
  for (int64_t row = 0; row < x.elements(); row += n) {
    std::iota(places.begin(), places.end(), row);
    std::ranges::stable_sort(places, [&](int64_t a, int64_t b) { return comes_before(x, a, b, false); });
    for (int64_t i = 0; i < count; ++i) y.integer[static_cast<size_t>(places[static_cast<size_t>(i)])] = 1;
  }
  return {std::move(y)};
}

// On a GPU a block passes over its row once for each bit of a key and of a position.
struct Passes {
  int64_t rows, n, index_bits, all;
};
Passes passes_of(const Signature& s) {
  const Type& x = s.operands[0];
  const int64_t n = x.dims.back();
  const auto index_bits = static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(n)));
  const int64_t key_bits = bits(x.dtype) > 32 ? 64 : 32;
  return {x.elements() / n, n, index_bits, key_bits + index_bits + 2};
}

constexpr int64_t kMostThreads = 1024;

PrimitivePlan plan(const Signature& s) {
  constexpr double kCompare = 12, kMeet = 120, kLanes = 32;
  const Passes p = passes_of(s);
  const int64_t threads = std::clamp<int64_t>((p.n + 31) / 32 * 32, 64, kMostThreads);
  const auto passes = static_cast<double>(p.rows * p.all), warps = static_cast<double>(threads) / kLanes;
  const int64_t rounds = (p.n + threads - 1) / threads;
  const auto turns = static_cast<double>(rounds);
  return {.words = {{"rows", std::to_string(p.rows)},
                    {"n", std::to_string(p.n)},
                    {"index_bits", std::to_string(p.index_bits)},
                    {"team", std::to_string(kMostThreads)}},
          .threads = threads,
          .blocks = p.rows,
          .workers = p.rows,
          .instructions = passes * warps * (turns * kCompare + kMeet),
          .dependent_loads = static_cast<double>(p.all)};
}

// Each pass reads the whole row again.
PrimitiveMemory memory(const Signature& s, const PrimitivePlan&, const PrimitiveMemory& once) {
  PrimitiveMemory m = once;
  m.read *= static_cast<double>(passes_of(s).all);
  m.fetched = m.read;
  return m;
}

Sample sample(const Dims& dims, int64_t below, DType dtype = DType::f32, double low = -9) {
  return {.shapes = {dims, {}}, .low = low, .high = 9, .below = below, .dtypes = {dtype, DType::i32}};
}

const RegisterOp op(
    {.name = "smallest",
     .doc = "whether an element is one of the `count` smallest of its row, the last axis; of equal ones "
            "those before come first, nan last",
     .operands = {"x", "count"},
     .dtypes = kFloating,
     .kind = Primitive{"hd::smallest<rows, n, index_bits, team>(x, count, y);", plan, memory},
     .infer = infer,
     .eval = eval,
     .no_gradient = "its result is a truth value",
     .precondition = "count is 0 or more",
     .samples = {sample({7, 33}, 34), sample({1}, 2), sample({129}, 64), sample({3, 1, 9}, 9), sample({2, 2100}, 1500),
                 sample({5, 64}, 20, DType::f64), sample({40}, 40, DType::bf16)}});

}  // namespace
}  // namespace heddle::ir
