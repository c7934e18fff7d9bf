#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ir/builder.h"
#include "ir/ops/ordering.h"

namespace heddle::ir {
namespace {

struct Merge {
  int64_t elements, n, run, ways;
};
Merge merge_of(const Signature& s) {
  const Type& x = s.operands[1];
  return {x.elements(), x.dims.back(), s.integer("run"), s.integer("ways")};
}

std::vector<Type> infer(const Signature& s) {
  const Type &order = s.operands[0], &sorted = s.operands[1];
  if (order != Type{DType::i32, sorted.dims} || sorted.rank() == 0)
    throw InferError(
        fmt::format("expected places i32 of the shape of {}, got {}", to_string(sorted), to_string(order)));
  const int64_t run = s.integer("run"), ways = s.integer("ways");
  if (run < 1 || (run & (run - 1)) != 0) throw InferError(fmt::format("run is {}, expected a power of two", run));
  if (ways < 2 || ways > 32) throw InferError(fmt::format("ways is {}, expected 2 to 32", ways));
  return {order, sorted};
}

// Runs that lie side by side are in order, so that a stable sort of all their elements merges them.
std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> in) {
  const Tensor &order = *in[0], &sorted = *in[1];
  const Merge m = merge_of(s);
  const bool descending = s.flag("descending");
  Tensor merged_order(order.type), merged(sorted.type);
  for (int64_t row = 0; row < m.elements; row += m.n) {
    std::vector<int64_t> places(static_cast<size_t>(m.n));
    std::iota(places.begin(), places.end(), row);
    for (int64_t first = 0; first < m.n; first += m.run * m.ways)
      std::stable_sort(places.begin() + static_cast<std::ptrdiff_t>(first),
                       places.begin() + static_cast<std::ptrdiff_t>(std::min(first + m.run * m.ways, m.n)),
                       [&](int64_t a, int64_t b) { return comes_before(sorted, a, b, descending); });
    for (int64_t i = 0; i < m.n; ++i) {
      merged_order.copy(row + i, order, places[static_cast<size_t>(i)]);
      merged.copy(row + i, sorted, places[static_cast<size_t>(i)]);
    }
  }
  return {std::move(merged_order), std::move(merged)};
}

double levels_of(const Merge& m) { return std::log2(static_cast<double>(m.run)) + 1; }

PrimitivePlan plan(const Signature& s) {
  constexpr int64_t kThreads = 128, kWorkersElements = 1024;
  constexpr double kElement = 60, kStep = 15.5, kLanes = 32;
  const Merge m = merge_of(s);
  const double warps = std::ceil(static_cast<double>(m.elements) / kLanes);
  return {.words = {{"Index", m.elements < int64_t{1} << 30 ? "int" : "hd::i64"},
                    {"rows", std::to_string(m.elements / m.n)},
                    {"n", std::to_string(m.n)},
                    {"run", std::to_string(m.run)},
                    {"ways", std::to_string(m.ways)},
                    {"descending", s.flag("descending") ? "true" : "false"}},
          .threads = kThreads,
          .blocks = (m.elements + kThreads - 1) / kThreads,
          .workers = (m.elements + kWorkersElements - 1) / kWorkersElements,
          .instructions = warps * (kElement + levels_of(m) * static_cast<double>(m.ways) * kStep),
          .dependent_loads = levels_of(m) + 2};
}

// Sectors in which the elements of a warp find theirs in another run: neighbours search alike, and
// go apart in the last steps.
double sectors_of_search(const Merge& m, double of_sector) {
  constexpr double kSpread = 26;  // elements of another run between those of a warp, were they drawn alike
  double sectors = 0;
  for (int64_t step = m.run; step >= 1; step /= 2)
    sectors += 1 + kSpread / std::max(static_cast<double>(step), of_sector);
  return sectors;
}

// Neighbours of a run lie `ways` elements apart where they are merged.
double sectors_written(const Merge& m, double of_sector) {
  const double sectors = 32 * static_cast<double>(m.ways) / of_sector;
  return sectors * (1 - std::pow(1 - 1 / sectors, 32));
}

PrimitiveMemory memory(const Signature& s, const PrimitivePlan&, const PrimitiveMemory& once) {
  constexpr double kLanes = 32;
  const Merge m = merge_of(s);
  const auto of_sector = [](DType dtype) { return PrimitiveMemory::kSector * 8 / static_cast<double>(bits(dtype)); };
  const double places = of_sector(DType::i32), elements = of_sector(s.operands[1].dtype);
  const double warps = std::ceil(static_cast<double>(m.elements) / kLanes);
  PrimitiveMemory found = once;
  found.read += warps * static_cast<double>(m.ways - 1) * sectors_of_search(m, elements);
  found.written = warps * (sectors_written(m, places) + sectors_written(m, elements));
  return found;
}

Sample sample(const Dims& dims, int64_t run, int64_t ways, DType dtype, bool descending = false) {
  return {.shapes = {dims, dims},
          .attrs = {{"run", run}, {"ways", ways}, {"descending", descending}},
          .low = 1,
          .high = 1,
          .below = 1,
          .dtypes = {DType::i32, dtype}};
}

const RegisterOp op(
    {.name = "merge_runs",
     .doc = "of rows whose runs of `run` neighbours are in order each `ways` neighbouring runs merged into one, the "
            "last of "
            "a row may be shorter: argsort of long rows on a GPU. Equal elements stay in their order, nan is last",
     .operands = {"order", "sorted"},
     .results = {"merged_order", "merged"},
     .attrs = {{.name = "run", .type = KeyType::integer, .doc = "a power of two", .required = true},
               {.name = "ways", .type = KeyType::integer, .doc = "2 to 32", .fallback = int64_t{2}},
               {.name = "descending", .type = KeyType::flag, .doc = "as that of argsort", .fallback = false}},
     .kind = Primitive{"hd::merge_runs<Index, rows, n, run, ways, descending>(order, sorted, merged_order, merged);",
                       plan, memory},
     .infer = infer,
     .eval = eval,
     .no_gradient = "argsort, which becomes it, has one",
     .precondition = "the runs are in order, as argsort with this `run` leaves them; order may be any places",
     .samples = {sample({2, 33}, 8, 4, DType::f32), sample({1}, 1, 2, DType::f32), sample({3, 1, 9}, 4, 3, DType::i32),
                 sample({70}, 16, 8, DType::u64, true), sample({5, 64}, 32, 2, DType::bf16)}});

}  // namespace
}  // namespace heddle::ir
