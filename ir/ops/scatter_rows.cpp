#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/builder.h"
#include "ir/kernel/long_sums.h"
#include "ir/ops/scatter.h"

namespace heddle::ir {
namespace {

std::vector<Type> infer(const Signature& s) {
  const Type &x = s.operands[0], &sorted = s.operands[1], &order = s.operands[2], &updates = s.operands[3];
  check_target(s);
  if (!is_integer(sorted.dtype) || sorted.rank() != 1)
    throw InferError(fmt::format("expected sorted integer indices [n], got {}", to_string(sorted)));
  if (!(order == Type{DType::i32, sorted.dims}))
    throw InferError(fmt::format("expected an i32 place for each index, got {}", to_string(order)));
  const Type expected{x.dtype, with_rows(x.dims, sorted.dims[0])};
  if (updates != expected)
    throw InferError(fmt::format("expected updates {}, got {}", to_string(expected), to_string(updates)));
  return {x};
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> in) {
  const Tensor &order = *in[2], &updates = *in[3];
  const int64_t n = order.elements(), width = updates.elements() / n;
  Tensor sorted = *in[1], turned(updates.type);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t from = order.integer[static_cast<size_t>(i)];
    const bool there = from >= 0 && from < n;
    if (!there) sorted.integer[static_cast<size_t>(i)] = -1;
    for (int64_t c = 0; there && c < width; ++c) turned.copy(i * width + c, updates, from * width + c);
  }
  return {scatter_in_order(*in[0], sorted, turned, s.text("combine"))};
}

std::string monoid_of(const std::string& combine) {
  if (combine == "set") return "hd::Last";
  if (combine == "add") return "hd::Sum";
  if (combine == "mul") return "hd::Prod";
  return combine == "max" ? "hd::Max" : "hd::Min";
}

// A warp shares a row with many columns; it takes several rows with few columns.
int64_t team_of(int64_t columns) {
  int64_t team = 1;
  while (team < 32 && team < columns) team *= 2;
  return team;
}

PrimitivePlan plan(const Signature& s) {
  constexpr int64_t kThreads = 128, kWorkersPoints = 1024;
  constexpr double kSearch = 16, kRow = 30, kElement = 21, kRunOfRow = 8, kRunOfElement = 6;
  const int64_t rows = s.operands[0].dims[0], columns = s.operands[0].elements() / rows, n = s.operands[1].dims[0];
  const bool in_place = s.flag("in_place");
  const int64_t team = team_of(columns);
  int64_t levels = 1;
  while (!in_place && int64_t{1} << levels < n) ++levels;
  // Each row of x searches for its updates. In place, each update checks whether it is the first one of its row.
  const int64_t visits = in_place ? n : rows;
  const int64_t all_warps = (visits * team + 31) / 32, column_turns = (columns + team - 1) / team;
  const auto warps = static_cast<double>(all_warps), turns = static_cast<double>(column_turns);
  // A warp runs as long as its row with the most updates: an estimate of the largest of independent counts with this
  // mean.
  const double mean = static_cast<double>(n) / static_cast<double>(visits);
  const double updates = mean + 2.3 * std::sqrt(mean) * std::log2(32 / static_cast<double>(team)) / 5;
  // Many are added up in runs (hd::SumInOrder).
  const bool runs = s.text("combine") == "add" && is_floating(s.operands[0].dtype) && n > kRun;
  const double row = kRow + (runs ? kRunOfRow : 0), element = kElement + (runs ? kRunOfElement : 0);
  return {.words = {{"Function", in_place ? "hd::scatter_rows_in_place" : "hd::scatter_rows"},
                    {"Monoid", monoid_of(s.text("combine"))},
                    {"rows", std::to_string(rows)},
                    {"columns", std::to_string(columns)},
                    {"n", std::to_string(n)},
                    {"team", std::to_string(team)}},
          .threads = kThreads,
          .blocks = (visits * team + kThreads - 1) / kThreads,
          .workers = (visits * columns + kWorkersPoints - 1) / kWorkersPoints,
          .instructions = warps * (static_cast<double>(levels) * kSearch + turns * (row + updates * element)),
          .dependent_loads = static_cast<double>(levels + 2)};
}

// Each row searches for its first update. The rows of a warp are contiguous; the updates of a row are scattered. In
// place, only rows with updates are read and written, once.
PrimitiveMemory memory(const Signature& s, const PrimitivePlan&, const PrimitiveMemory& once) {
  if (s.flag("in_place")) return once;
  constexpr double kSector = PrimitiveMemory::kSector, kLanesOfWarp = 32;
  const auto sectors = [](const Type& t) { return std::ceil(static_cast<double>(t.bytes()) / kSector); };
  const Type &x = s.operands[0], &sorted = s.operands[1], &all_updates = s.operands[3];
  const int64_t all_rows = x.dims[0], all_columns = x.elements() / all_rows;
  const auto rows = static_cast<double>(all_rows), columns = static_cast<double>(all_columns);
  const auto count = static_cast<double>(sorted.elements()), team = static_cast<double>(team_of(all_columns));
  const double of_warp = kLanesOfWarp / team, warps = std::ceil(rows / of_warp), turns = std::ceil(columns / team);
  const double updates = count / rows, levels = std::ceil(std::log2(std::max(count, 2.0)));
  const double near =
      1 + (of_warp - 1) * std::min(1.0, updates * static_cast<double>(bits(sorted.dtype)) / 8 / kSector);
  PrimitiveMemory found = once;
  found.fetched = sectors(x) + count * std::max(1.0, sectors(all_updates) / count);
  found.read = found.fetched + warps * levels * near + turns * (warps * near * (updates + 1) + rows * updates);
  return found;
}

Sample sample(const Dims& x, int64_t n, const std::string& combine, DType dtype = DType::f32) {
  return {.shapes = {x, {n}, {n}, with_rows(x, n)},
          .attrs = {{"combine", combine}},
          .below = 1,
          .dtypes = {dtype, DType::i32, DType::i32, dtype}};
}

const RegisterOp op(
    {.name = "scatter_rows",
     .doc = "scatter of sorted indices: y = x, where row sorted[i] is combined with updates[order[i]], one i after the "
            "other",
     .operands = {"x", "sorted", "order", "updates"},
     .attrs = {combine_attr(),
               {.name = "in_place",
                .type = KeyType::flag,
                .doc =
                    "y lies over x, of which only the rows that have updates are read and written; for kernels only, "
                    "where alias says so",
                .fallback = false}},
     .dtypes = kArithmetic,
     .kind = Primitive{"Function<Monoid, Index, rows, columns, n, team>(x, sorted, order, updates, y);", plan, memory},
     .traits = {.adds_to_first = combines_by_adding},
     .infer = infer,
     .eval = eval,
     .no_gradient = "scatter, which becomes it, has one",
     .precondition = "sorted are ascending, as argsort returns them; order may be any places",
     .samples = {sample({7, 5}, 9, "add"), sample({33}, 3, "set"), sample({1, 1}, 1, "add"), sample({3, 5}, 200, "add"),
                 sample({4, 3, 2}, 6, "mul"), sample({5, 40}, 17, "max"), sample({6, 2}, 3, "min", DType::i32)}});

}  // namespace
}  // namespace heddle::ir
