#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ir/builder.h"

namespace heddle::ir {
namespace {

std::vector<Type> infer(const Signature& s) {
  const Type& x = s.operands[0];
  if (x.rank() == 0) throw InferError("expected at least one axis, got a scalar");
  if (x.dims.back() > INT32_MAX)
    throw InferError(fmt::format("{} elements in a row, expected fewer than 2^31", x.dims.back()));
  return {{DType::i32, x.dims}, x};
}

// nan is behind everything, equal elements stay in their order.
bool comes_before(const Tensor& x, int64_t a, int64_t b, bool descending) {
  const auto i = static_cast<size_t>(a), k = static_cast<size_t>(b);
  if (descending) return comes_before(x, b, a, false);
  if (x.floating()) return x.real[i] < x.real[k] || (!std::isnan(x.real[i]) && std::isnan(x.real[k]));
  if (x.type.dtype == DType::u64) return static_cast<uint64_t>(x.integer[i]) < static_cast<uint64_t>(x.integer[k]);
  return x.integer[i] < x.integer[k];
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> in) {
  const Tensor& x = *in[0];
  const bool descending = s.flag("descending");
  const int64_t n = x.type.dims.back();
  Tensor order(s.results[0]), sorted(s.results[1]);
  for (int64_t row = 0; row < x.elements(); row += n) {
    const auto begin = order.integer.begin() + static_cast<std::ptrdiff_t>(row);
    std::iota(begin, begin + static_cast<std::ptrdiff_t>(n), 0);
    std::stable_sort(begin, begin + static_cast<std::ptrdiff_t>(n),
                     [&](int64_t a, int64_t b) { return comes_before(x, row + a, row + b, descending); });
    for (int64_t i = 0; i < n; ++i) sorted.copy(row + i, x, row + order.integer[static_cast<size_t>(row + i)]);
  }
  return {std::move(order), std::move(sorted)};
}

// Of those that count: elements of a row of each warp, and of each block.
constexpr int64_t kItems = 4, kOfBlock = 16;

// On a GPU each warp counts for four elements what comes before them, over all blocks: work of n for each element.
PrimitivePlan plan_counting(int64_t rows, int64_t n) {
  constexpr int64_t kThreads = 128, kAhead = 4;
  constexpr double kPlaceKey = 6, kCompare = 14, kPlaces = 195, kLanes = 32;
  const int64_t blocks = rows * ((n + kOfBlock - 1) / kOfBlock);
  const int64_t warps_of_block = kOfBlock / kItems;
  const auto turns = std::ceil(static_cast<double>(n) / kLanes), warps = static_cast<double>(blocks * warps_of_block);
  return {.words = {},
          .threads = kThreads,
          .blocks = blocks,
          .instructions = static_cast<double>(blocks) * turns * kPlaceKey + warps * (turns * kCompare + kPlaces),
          .dependent_loads = 2 + std::ceil(static_cast<double>(n) / static_cast<double>(kThreads * kAhead))};
}

// A block merges a row, run by run.
PrimitivePlan plan_merging(int64_t rows, int64_t n, double levels, bool floating) {
  constexpr double kLanes = 32;
  const double step = floating ? 22 : 16.5;  // a key of a floating number takes more
  constexpr int64_t kMostThreads = 1024;
  const int64_t threads = std::min(kMostThreads, (n + 31) / 32 * 32);
  const int64_t turns = (n + threads - 1) / threads;
  return {.words = {},
          .threads = threads,
          .blocks = rows,
          .instructions = static_cast<double>(rows * n) * levels * levels * step / kLanes,
          .dependent_loads = static_cast<double>(turns) * levels * levels};
}

// Counting spreads a row over all multiprocessors, but its work grows with the square of the row: many long rows are
// merged, a block each. Both do about as much where a row's n is 4.3 times the square of its levels.
struct Way {
  int64_t n, rows;
  double levels;
  bool counts;
};
Way way_of(const Type& x) {
  constexpr double kProcessors = 128, kWorth = 4.3;
  const int64_t n = x.dims.back(), rows = x.elements() / n;
  const double levels = std::ceil(std::log2(static_cast<double>(std::max<int64_t>(n, 2))));
  const double busy = std::min(static_cast<double>(rows), kProcessors);
  return {n, rows, levels, busy * static_cast<double>(n) <= kProcessors * kWorth * levels * levels};
}

PrimitivePlan plan(const Signature& s) {
  const auto [n, rows, levels, counts] = way_of(s.operands[0]);
  PrimitivePlan plan =
      counts ? plan_counting(rows, n) : plan_merging(rows, n, levels, is_floating(s.operands[0].dtype));
  plan.words = {{"rows", std::to_string(rows)},
                {"n", std::to_string(n)},
                {"descending", s.flag("descending") ? "true" : "false"},
                {"counts", counts ? "true" : "false"}};
  plan.workers = rows;
  plan.scratch = 4 * s.operands[0].elements();  // a GPU that counts needs none, the host does
  return plan;
}

// Of the keys of neighbours, by whole warps.
double key_wavefronts(int64_t keys, int64_t words) {
  constexpr double kLanes = 32;
  return std::ceil(static_cast<double>(keys * words) / kLanes);
}

// Blocks of four warps have sixteen elements of a row. Each passes all keys through shared memory, as many at once as
// fit there; each warp reads those before its own elements, and then the others.
double wavefronts_of_row(const Type& x) {
  constexpr int64_t kAtOnce = 2048;
  const int64_t n = x.dims.back(), words = std::max<int64_t>(1, bits(x.dtype) / 32);
  const int64_t blocks = (n + kOfBlock - 1) / kOfBlock, warps = blocks * kOfBlock / kItems;
  double sum = 0;
  for (int64_t begin = 0; begin < n; begin += kAtOnce) {
    const int64_t count = std::min(kAtOnce, n - begin), end = begin + count;
    const double whole = key_wavefronts(count, words);
    // What stands before or behind these keys reads them in one go.
    const int64_t first = begin / kItems, last = std::min((end + kItems - 1) / kItems, warps);
    sum += whole * static_cast<double>(blocks + warps - (last - first));
    for (int64_t w = first; w < last; ++w) {
      const int64_t before = std::clamp<int64_t>(w * kItems - begin, 0, count);
      sum += key_wavefronts(before, words) + key_wavefronts(count - before, words);
    }
  }
  return sum;
}

// Each block reads a row once, and passes it through shared memory once, and once for each of its warps; results lie
// anywhere in their row.
PrimitiveMemory memory_of_counting(const Type& x, const PrimitivePlan& plan) {
  constexpr double kLanes = 32, kOfWarp = kItems;
  const auto n = static_cast<double>(x.dims.back()), blocks = static_cast<double>(plan.blocks);
  const double rows = static_cast<double>(x.elements()) / n;
  const double warps = static_cast<double>(plan.blocks * plan.threads) / kLanes;
  const auto apart = [sectors = std::ceil(n / 8)](double places) {
    return sectors * (1 - std::pow(1 - 1 / sectors, places));
  };
  const double whole = std::floor(n / kOfWarp);
  PrimitiveMemory m;
  m.fetched = blocks * std::ceil(n * static_cast<double>(bits(x.dtype)) / 8 / PrimitiveMemory::kSector);
  m.read = m.fetched + warps * (kOfWarp + 1);
  m.written = 2 * rows * (whole * apart(kOfWarp) + apart(n - whole * kOfWarp));
  m.wavefronts = rows * wavefronts_of_row(x);
  return m;
}

// Every level reads both runs in a search, of which the last steps lie apart.
PrimitiveMemory memory_of_merging(const Type& x, double levels) {
  constexpr double kRead = 1.3, kWritten = 2.2;  // sectors of an element, of each level and in all
  const double elements = static_cast<double>(x.elements()), read = elements * levels * kRead;
  return {.read = read, .fetched = read, .written = elements * kWritten};
}

PrimitiveMemory memory(const Signature& s, const PrimitivePlan& plan, const PrimitiveMemory&) {
  const Type& x = s.operands[0];
  const Way way = way_of(x);
  return way.counts ? memory_of_counting(x, plan) : memory_of_merging(x, way.levels);
}

// Each element's cotangent goes back to where it came from.
Grads gradient(Builder& b, const Node& n, const Values& dy) {
  if (!dy[1].valid()) return {ValueId{}};
  const Type x = b.type(n.operands[0]);
  const int64_t length = x.dims.back(), rows = x.elements() / length;
  const DType index = x.elements() > INT32_MAX ? DType::i64 : DType::i32;
  const Dims matrix{rows, length}, flat{x.elements()};
  const ValueId row = b("iota", {}, {{"shape", matrix}, {"axis", int64_t{0}}, {"dtype", to_string(index)}});
  const ValueId first = b("mul", {row, b.like(static_cast<double>(length), row)});
  const ValueId places = b("add", {first, b.cast(b.reshape(n.results[0], matrix), index)});
  const ValueId back = b("scatter", {b.constant(0, {x.dtype, flat}), b.reshape(places, flat), b.reshape(dy[1], flat)},
                         {{"combine", std::string("set")}});
  return {b.reshape(back, x.dims)};
}

const RegisterOp op({.name = "argsort",
                     .doc = "order = the places of a row's elements from the smallest to the largest, nan last, equal "
                            "ones in their order; "
                            "sorted = the elements in this order",
                     .operands = {"x"},
                     .results = {"order", "sorted"},
                     .attrs = {{.name = "descending",
                                .type = AttrType::flag,
                                .fallback = false,
                                .doc = "the order turned round, but of equals"}},
                     .dtypes = kArithmetic,
                     .kind = Primitive{"hd::argsort<rows, n, descending, counts>(x, order, sorted, scratch);", plan,
                                       memory},
                     .infer = infer,
                     .eval = eval,
                     .grad = gradient,
                     .below = [](const Signature& s) { return s.operands[0].dims.back(); },
                     .samples = {{.shapes = {{7, 33}}, .low = -90, .high = 90},
                                 {.shapes = {{1}}},
                                 {.shapes = {{129}}, .attrs = {{"descending", true}}, .low = -900, .high = 900},
                                 {.shapes = {{3, 1, 9}}},
                                 {.shapes = {{2, 64}}, .low = 0, .high = 90},
                                 {.shapes = {{300}}, .below = 9, .dtypes = {DType::i32}}}});

}  // namespace
}  // namespace heddle::ir
