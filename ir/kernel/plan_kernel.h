// plan_kernel: what follows from a kernel and its schedule: how each value is computed, in which
// pass, and where partial results lie.
//
//   softmax of f32[64,128] in schedule rows, split = 1:   max      a row reduction, in pass 0
//                                                     sum      a row reduction, in pass 1; exp(x - max) is kept from it
//                                                     y        one element per point, in pass 2
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/index/index_map.h"

namespace heddle::ir {

constexpr int64_t kDrawnAtOnce = 4;  // random numbers, where packets are of as many

// What a value of a pointwise or rows kernel varies with, and how a reduction in it is executed.
enum class Extent {
  scalar,  // the same everywhere: loaded or computed once per thread
  row,     // one value per row
  column,  // one value per column: only results of a column accumulation
  full,    // one value per point
};
enum class ReductionPlan {
  none,   // not a reduction
  inner,  // a sequential loop inside one point (a pooling window, a short middle axis, a contraction without a library)
  row,    // over the columns of a row, by the row's team
  column,  // over the rows, one accumulator per column, partial results per block
  total,   // over everything, partial results per block
};

struct ContractPlan;

struct ValuePlan {
  Extent extent = Extent::full;
  ReductionPlan reduction = ReductionPlan::none;
  int phase = 0;  // the pass over the row in which the value is computed: 1 + the latest row reduction it needs
  bool finishing = false;  // computed by the last block, from column or total accumulators
};

// An element that one pass over a row computes and a later one needs again: it stays in the threads' registers.
struct KeptValue {
  ValueId value;
  IndexMap at;    // the same value may be needed at several elements: turned around, say
  int phase = 0;  // the pass that computes it
};

// Where the blocks leave what they have summed up of one reduction: `width` accumulators a block, block after block.
struct Partials {
  NodeId reduction;
  int64_t offset = 0;  // bytes, in the launch's scratch
  int64_t width = 1;   // the columns, or 1 of a total
};

// The plan of every value of the kernel by ValueId index; decided here only, so that fuse asks before it fuses and
// codegen prints what fuse asked for. `reason` is set, and the plan empty, when the kernel cannot be executed in its
// schedule: "sum reduces axis 1 of 3: neither the rows nor the columns".
//
// Inputs, sources, and elementwise and movement operators on those, are read at any index. A value that depends on a
// row reduction lives at its row: movements of it must keep it there. Column and total results exist once the last
// block has summed the partial results: only elementwise operators and reshapes on them may follow in the kernel.
struct KernelPlan {
  std::vector<ValuePlan> values;
  int64_t rows = 1, columns = 1;  // the space that codegen loops over; for pointwise kernels not always the schedule's
  int phases = 1;
  bool span = false;     // one long row is shared by all blocks
  bool guarded = false;  // some element is read only where it exists
  bool draws = false;    // random numbers come kDrawnAtOnce at a time where packets are of as many
  std::vector<Partials> partials;
  int64_t partial_bytes = 0;    // scratch that they need, or the parts of a contraction: the schedule's workspace
  int64_t gather = 0;           // blocks whose sums of columns meet first, where not all do at once
  int64_t counters = 0;         // in which blocks that leave partial results count themselves
  std::vector<KeptValue> kept;  // where the schedule is cached
  int64_t shared_bytes = 0;     // of a block, that the launch supplies
  int64_t largest_index = 0;    // no index, or part of one, is larger
  int64_t most_blocks = 1;      // what there is to do at once: more blocks would be idle
  std::string reason;
  bool ok() const { return reason.empty(); }
  Dims space() const { return {rows, columns}; }
  const ValuePlan& of(ValueId v) const { return values[index_of(v)]; }
  ValuePlan& of(ValueId v) { return values[index_of(v)]; }
};
KernelPlan plan_kernel(const Graph& kernel);
// Of a product through tiles whose plan is known.
KernelPlan plan_kernel(const Graph& kernel, const ContractPlan& product);

bool has_reduction(const KernelPlan& plan, ReductionPlan how);
// Whether the reduction, one of the kernel, has a sum for each column.
bool is_column(const Graph& kernel, const KernelPlan& plan, NodeId reduction);
// Whether there is one such value in all, which one thread stores. A span has one row and no loop
// over rows, so what has one value per row has one value.
bool is_single(const KernelPlan& plan, const ValuePlan& value);

// Why the schedule, though it has a plan, cannot be printed as it is: a packet that does not divide
// a row, a team that does not divide the block, too little scratch for the partial results. ""
// where it can.
std::string schedule_conflict(const KernelSchedule& schedule, const KernelPlan& plan);
// The same of a library's call, which has no plan.
std::string library_conflict(const Graph& kernel);

}  // namespace heddle::ir
