#include <algorithm>
#include <cmath>

#include "ir/kernel/count/count_forms.h"
#include "ir/kernel/plan_primitive.h"

namespace heddle::ir {
namespace {

constexpr double kSector = 32, kLanesOfWarp = 32;

double sectors(const Type& t) { return std::ceil(static_cast<double>(t.bytes()) / kSector); }

// Of the keys of neighbours, by whole warps.
double key_wavefronts(int64_t keys, int64_t words) {
  return std::ceil(static_cast<double>(keys * words) / kLanesOfWarp);
}

// Blocks of four warps have sixteen elements of a row. Each passes all keys through shared memory, as many at once as
// fit there; each warp reads those before its own elements, and then the others.
double wavefronts_of_row(const Type& x) {
  constexpr int64_t kItems = 4, kOfBlock = 16, kAtOnce = 2048;
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
void count_argsort_by_counts(const Type& x, const KernelPlan& plan, double warps, KernelCounts& to) {
  constexpr double kItems = 4;  // of a warp
  const auto n = static_cast<double>(x.dims.back()), blocks = static_cast<double>(plan.most_blocks);
  const double row = std::ceil(n * static_cast<double>(bits(x.dtype)) / 8 / kSector);
  const auto apart = [sectors = std::ceil(n / 8)](double places) {
    return sectors * (1 - std::pow(1 - 1 / sectors, places));
  };
  const double whole = std::floor(n / kItems), rows = static_cast<double>(x.elements()) / n;
  to.sectors_fetched = blocks * row;
  to.sectors_read = to.sectors_fetched + warps * (kItems + 1);
  to.sectors_written = 2 * rows * (whole * apart(kItems) + apart(n - whole * kItems));
  to.shared_wavefronts = to.ideal_wavefronts = rows * wavefronts_of_row(x);
}

// Every level reads both runs in a search, of which the last steps lie apart.
void count_argsort_by_merging(const Type& x, KernelCounts& to) {
  constexpr double kRead = 1.3, kWritten = 2.2;  // sectors of an element, of each level and in all
  const auto n = static_cast<double>(x.dims.back()), elements = static_cast<double>(x.elements());
  to.sectors_read = to.sectors_fetched = elements * std::ceil(std::log2(std::max(n, 2.0))) * kRead;
  to.sectors_written = elements * kWritten;
}

// Each row searches for its first update. The rows of a warp lie side by side, the updates of a row anywhere.
void count_scatter_rows(const Graph& k, const Node& n, KernelCounts& to) {
  const Type &x = k[n.operands[0]].type, &sorted = k[n.operands[1]].type;
  const int64_t rows = x.dims[0], columns = x.elements() / rows;
  int64_t team = 1;
  while (team < 32 && team < columns) team *= 2;
  const auto count = static_cast<double>(sorted.elements()), of_warp = kLanesOfWarp / static_cast<double>(team);
  const double updates = count / static_cast<double>(rows), levels = std::ceil(std::log2(std::max(count, 2.0)));
  const double warps = std::ceil(static_cast<double>(rows) / of_warp);
  const double turns = std::ceil(static_cast<double>(columns) / static_cast<double>(team));
  const double near =
      1 + (of_warp - 1) * std::min(1.0, updates * static_cast<double>(bits(sorted.dtype)) / 8 / kSector);
  const double of_update = std::max(1.0, sectors(k[n.operands[3]].type) / count);
  to.sectors_fetched = sectors(x) + count * of_update;
  to.sectors_read = to.sectors_fetched + warps * levels * near +
                    turns * (warps * near * (updates + 1) + static_cast<double>(rows) * updates);
}

}  // namespace

// Its operands once and its results once, but for operators that read otherwise, and the instructions that the operator
// says.
void count_primitive(const Graph& k, const KernelPlan& plan, KernelCounts& to) {
  const PrimitivePlan primitive = primitive_of(k);
  const Node& n = k[k.order[0]];
  const double warps = static_cast<double>(to.blocks * to.threads) / kLanesOfWarp;
  for (const ValueId v : k.inputs) to.sectors_read += static_cast<double>(primitive_bytes(k, v)) / kSector;
  for (const ValueId v : k.outputs) to.sectors_written += static_cast<double>(primitive_bytes(k, v)) / kSector;
  to.sectors_fetched = to.sectors_read;
  const Type& x = k[n.operands[0]].type;
  if (n.op->name == "scatter_rows" && !is_in_place(k)) count_scatter_rows(k, n, to);
  if (n.op->name == "argsort") {
    const bool counts = primitive.words.back().second == "true";
    if (counts)
      count_argsort_by_counts(x, plan, static_cast<double>(plan.most_blocks * to.threads) / kLanesOfWarp, to);
    else
      count_argsort_by_merging(x, to);
  }
  to.instructions.values = primitive.instructions;
  to.dependent_loads = primitive.dependent_loads;
  count_entry(static_cast<int64_t>(k.inputs.size() + k.outputs.size()) + (plan.partial_bytes > 0 ? 1 : 0), warps, warps,
              to);
}

}  // namespace heddle::ir
