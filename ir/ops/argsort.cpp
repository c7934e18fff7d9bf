#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ir/builder.h"
#include "ir/ops/ordering.h"

namespace heddle::ir {
namespace {

std::vector<Type> infer(const Signature& s) {
  const Type& x = s.operands[0];
  if (x.rank() == 0) throw InferError("expected at least one axis, got a scalar");
  if (x.dims.back() > INT32_MAX)
    throw InferError(fmt::format("{} elements in a row, expected fewer than 2^31", x.dims.back()));
  if (s.integer("run") < 0) throw InferError("'run' must not be negative");
  return {{DType::i32, x.dims}, x};
}

// The division of the rows of x into runs. Each run is sorted separately; a short row is one run.
struct Runs {
  int64_t rows, n, run;
  int64_t of_row() const { return (n + run - 1) / run; }
};
Runs runs_of(const Signature& s) {
  const Type& x = s.operands[0];
  const int64_t n = x.dims.back(), run = s.integer("run");
  return {x.elements() / n, n, run == 0 ? n : std::min(run, n)};
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> in) {
  const Tensor& x = *in[0];
  const bool descending = s.flag("descending");
  const Runs r = runs_of(s);
  Tensor order(s.results[0]), sorted(s.results[1]);
  for (int64_t row = 0; row < x.elements(); row += r.n) {
    const auto places = order.integer.begin() + static_cast<std::ptrdiff_t>(row);
    std::iota(places, places + static_cast<std::ptrdiff_t>(r.n), 0);
    for (int64_t first = 0; first < r.n; first += r.run)
      std::stable_sort(places + static_cast<std::ptrdiff_t>(first),
                       places + static_cast<std::ptrdiff_t>(std::min(first + r.run, r.n)),
                       [&](int64_t a, int64_t b) { return comes_before(x, row + a, row + b, descending); });
    for (int64_t i = 0; i < r.n; ++i) sorted.copy(row + i, x, row + order.integer[static_cast<size_t>(row + i)]);
  }
  return {std::move(order), std::move(sorted)};
}

// Elements of a row that a warp takes, and that a block takes, when argsort counts.
constexpr int64_t kItems = 4, kOfBlock = 16;

// On a GPU each warp takes four elements, and counts the elements before each of them. The work is n per element.
PrimitivePlan plan_counting(int64_t rows, int64_t n, bool floating) {
  constexpr int64_t kThreads = 128, kAhead = 4;
  constexpr double kCompare = 14, kLanes = 32;
  const double place_key = floating ? 16 : 6, places = floating ? 305 : 195;  // a key of a floating number takes more
  const int64_t blocks = rows * ((n + kOfBlock - 1) / kOfBlock);
  const int64_t warps_of_block = kOfBlock / kItems;
  const auto turns = std::ceil(static_cast<double>(n) / kLanes), warps = static_cast<double>(blocks * warps_of_block);
  return {.words = {},
          .threads = kThreads,
          .blocks = blocks,
          .instructions = static_cast<double>(blocks) * turns * place_key + warps * (turns * kCompare + places),
          .dependent_loads = 2 + std::ceil(static_cast<double>(n) / static_cast<double>(kThreads * kAhead))};
}

PrimitivePlan plan(const Signature& s) {
  const Runs r = runs_of(s);
  PrimitivePlan plan = plan_counting(r.rows * r.of_row(), r.run, is_floating(s.operands[0].dtype));
  plan.words = {{"rows", std::to_string(r.rows)},
                {"n", std::to_string(r.n)},
                {"run", std::to_string(r.run)},
                {"descending", s.flag("descending") ? "true" : "false"}};
  plan.workers = r.rows * r.of_row();
  plan.scratch = 4 * s.operands[0].elements();  // a GPU needs none, the host does
  return plan;
}

// Of the keys of neighbours, by whole warps.
double key_wavefronts(int64_t keys, int64_t words) {
  constexpr double kLanes = 32;
  return std::ceil(static_cast<double>(keys * words) / kLanes);
}

// Blocks of four warps have sixteen elements of a run. Each passes all keys through shared memory, as many at once as
// fit there; each warp reads those before its own elements, and then the others.
double wavefronts_of_run(int64_t n, DType dtype) {
  constexpr int64_t kAtOnce = 2048;
  const int64_t words = std::max<int64_t>(1, bits(dtype) / 32);
  const int64_t blocks = (n + kOfBlock - 1) / kOfBlock, warps = blocks * kOfBlock / kItems;
  double sum = 0;
  for (int64_t begin = 0; begin < n; begin += kAtOnce) {
    const int64_t count = std::min(kAtOnce, n - begin), end = begin + count;
    const double whole = key_wavefronts(count, words);
    // Warps whose elements come before or after these keys read all of them in one loop.
    const int64_t first = begin / kItems, last = std::min((end + kItems - 1) / kItems, warps);
    sum += whole * static_cast<double>(blocks + warps - (last - first));
    for (int64_t w = first; w < last; ++w) {
      const int64_t before = std::clamp<int64_t>(w * kItems - begin, 0, count);
      sum += key_wavefronts(before, words) + key_wavefronts(count - before, words);
    }
  }
  return sum;
}

// Each block reads a run once and writes it to shared memory; each of its warps reads it from there. Results are
// scattered over the run.
PrimitiveMemory memory_of(int64_t runs, int64_t run, DType dtype) {
  constexpr double kOfWarp = kItems;
  const int64_t blocks_of_run = (run + kOfBlock - 1) / kOfBlock;
  const auto n = static_cast<double>(run), blocks = static_cast<double>(runs * blocks_of_run);
  const double warps = blocks * static_cast<double>(kOfBlock) / kOfWarp;
  const auto apart = [sectors = std::ceil(n / 8)](double places) {
    return sectors * (1 - std::pow(1 - 1 / sectors, places));
  };
  const double whole = std::floor(n / kOfWarp);
  PrimitiveMemory m;
  m.fetched = blocks * std::ceil(n * static_cast<double>(bits(dtype)) / 8 / PrimitiveMemory::kSector);
  m.read = m.fetched + warps * (kOfWarp + 1);
  m.written = 2 * static_cast<double>(runs) * (whole * apart(kOfWarp) + apart(n - whole * kOfWarp));
  m.wavefronts = static_cast<double>(runs) * wavefronts_of_run(run, dtype);
  return m;
}

PrimitiveMemory memory(const Signature& s, const PrimitivePlan&, const PrimitiveMemory&) {
  const Runs r = runs_of(s);
  const DType dtype = s.operands[0].dtype;
  const int64_t rest = r.n % r.run;  // of the last run of a row, which may be shorter
  PrimitiveMemory all = memory_of(r.rows * (r.n / r.run), r.run, dtype);
  if (rest == 0) return all;
  const PrimitiveMemory last = memory_of(r.rows, rest, dtype);
  return {all.read + last.read, all.fetched + last.fetched, all.written + last.written,
          all.wavefronts + last.wavefronts};
}

// An estimate of the seconds of a launch on a current GPU: the start, the computation, and the waiting for loads.
double seconds(const OpDef& op, const Attrs& attrs, const Type& x) {
  constexpr double kLaunch = 2.5e-6, kInstruction = 1e-12, kLoad = 3.5e-7;
  const std::vector<Type> operands =
      op.operands.size() == 1 ? std::vector<Type>{x} : std::vector<Type>{{DType::i32, x.dims}, x};
  const PrimitivePlan plan = std::get<Primitive>(op.kind).plan({&op, attrs, operands, {{DType::i32, x.dims}, x}});
  return kLaunch + plan.instructions * kInstruction + plan.dependent_loads * kLoad;
}

struct Merge {
  int64_t run, ways;
};
// Merges runs until one run is left.
std::vector<Merge> merges(int64_t n, int64_t run) {
  constexpr int64_t kMostWays = 8;
  std::vector<Merge> list;
  for (; run < n; run *= kMostWays) list.push_back({run, std::min(kMostWays, (n + run - 1) / run)});
  return list;
}
Attrs merge_attrs(const Merge& m, bool descending) {
  return {{"run", m.run}, {"ways", m.ways}, {"descending", descending}};
}

// Counting spreads a row over all multiprocessors, but its work grows with the square of the length. So long rows are
// cut into runs, which are then merged, several at once. The run length with the least estimated time is taken.
Values in_launches(Builder& b, const Node& n) {
  const Type x = b.type(n.operands[0]);
  const Signature s = signature(b.graph, n);
  if (s.integer("run") != 0) return {};
  const bool descending = s.flag("descending");
  const OpDef& merge = op_def("merge_runs");
  const int64_t length = x.dims.back();
  double least = seconds(*n.op, n.attrs, x);
  int64_t best = 0;
  for (int64_t run = 64; run < length; run *= 2) {
    Attrs attrs = n.attrs;
    attrs["run"] = run;
    double all = seconds(*n.op, attrs, x);
    for (const Merge& m : merges(length, run)) all += seconds(merge, merge_attrs(m, descending), x);
    if (all < least) least = all, best = run;
  }
  if (best == 0) return {};
  Attrs attrs = n.attrs;
  attrs["run"] = best;
  Values runs = b.multi("argsort", {n.operands[0]}, attrs);
  for (const Merge& m : merges(length, best)) runs = b.multi("merge_runs", runs, merge_attrs(m, descending));
  return runs;
}

// The gradient of each sorted element goes back to the element's original position.
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
                                .type = KeyType::flag,
                                .doc = "the order turned round, but of equals",
                                .fallback = false},
                               {.name = "run",
                                .type = KeyType::integer,
                                .doc = "orders each run of so many neighbours by itself, the last of a row may be "
                                       "shorter; 0: the row",
                                .fallback = int64_t{0}}},
                     .dtypes = kArithmetic,
                     .kind = Primitive{"hd::argsort<rows, n, run, descending>(x, order, sorted, scratch);", plan,
                                       memory},
                     .infer = infer,
                     .eval = eval,
                     .grad = gradient,
                     .below = [](const Signature& s) { return s.operands[0].dims.back(); },
                     .in_launches = in_launches,
                     .samples = {{.shapes = {{7, 33}}, .low = -90, .high = 90},
                                 {.shapes = {{1}}},
                                 {.shapes = {{129}}, .attrs = {{"descending", true}}, .low = -900, .high = 900},
                                 {.shapes = {{3, 1, 9}}},
                                 {.shapes = {{2, 64}}, .low = 0, .high = 90},
                                 {.shapes = {{2, 70}}, .attrs = {{"run", int64_t{32}}}, .low = -900, .high = 900},
                                 {.shapes = {{300}}, .below = 9, .dtypes = {DType::i32}}}});

}  // namespace
}  // namespace heddle::ir
