// plan_kernel: derives the plan of a kernel from its graph and its schedule: how each value is computed, in which pass,
// and where partial results lie.
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

constexpr int64_t kDrawnAtOnce = 4;  // random numbers of one draw; a packet of this width takes all of them

// Extent: what a value of a pointwise or rows kernel varies with. ReductionPlan: how a reduction in it is executed.
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

// An element that one pass over a row computes and a later pass needs again. It stays in the threads' registers.
struct KeptValue {
  ValueId value;
  IndexMap at;    // a value may be kept at several elements, for example also reversed
  int phase = 0;  // the pass that computes it
};

// The partial results of one reduction in scratch memory: `width` accumulators per block, block after block.
struct Partials {
  NodeId reduction;
  int64_t offset = 0;  // bytes, in the launch's scratch
  int64_t width = 1;   // the number of columns; 1 for a total
};

// The plan of a kernel and of each of its values. Only plan_kernel decides it: `fuse` asks before it fuses, and codegen
// prints the same plan. If the kernel cannot be executed in its schedule, `reason` says why, and the plan is empty:
// "sum reduces axis 1 of 3: neither the rows nor the columns".
//
// Inputs, sources, and elementwise and movement operators on them can be read at any index. A value that depends on a
// row reduction exists at its row only; movements must keep it there. Column and total results exist once the last
// block has summed the partial results. Only elementwise operators and reshapes may follow them in the kernel.
struct KernelPlan {
  std::vector<ValuePlan> values;  // by ValueId index
  int64_t rows = 1, columns = 1;  // the space that codegen loops over; for pointwise kernels not always the schedule's
  int phases = 1;
  bool span = false;     // all blocks share one long row
  bool guarded = false;  // some element is read under a guard
  bool draws = false;    // it draws random numbers, kDrawnAtOnce at a time if packets have that width
  std::vector<Partials> partials;
  int64_t partial_bytes = 0;    // scratch for the partial results, or for the parts of a contraction
  int64_t gather = 0;           // blocks per group, if column sums meet in groups first (columns_meet.h); 0: no groups
  int64_t counters = 0;         // counters of blocks that have written partial results
  std::vector<KeptValue> kept;  // if the schedule is cached
  int64_t shared_bytes = 0;     // shared memory of a block that the launch supplies
  int64_t largest_index = 0;    // an upper bound of all indices and of their parts
  int64_t most_blocks = 1;      // blocks that have work; more would be idle
  std::string reason;
  bool ok() const { return reason.empty(); }
  Dims space() const { return {rows, columns}; }
  const ValuePlan& of(ValueId v) const { return values[index_of(v)]; }
  ValuePlan& of(ValueId v) { return values[index_of(v)]; }
};
KernelPlan plan_kernel(const Graph& kernel);
// The same for a tiled product whose plan is known.
KernelPlan plan_kernel(const Graph& kernel, const ContractPlan& product);

bool has_reduction(const KernelPlan& plan, ReductionPlan how);
// Whether a reduction of the kernel has a sum for each column.
bool is_column(const Graph& kernel, const KernelPlan& plan, NodeId reduction);
// Whether the value has one element in the whole kernel, which one thread stores. That includes a value per row of a
// span, because a span has one row.
bool is_single(const KernelPlan& plan, const ValuePlan& value);

// Why the kernel cannot be printed with this schedule although it has a plan: a packet does not divide a row, a team
// does not divide the block, the scratch is too small for the partial results. "" if it can be printed.
std::string schedule_conflict(const KernelSchedule& schedule, const KernelPlan& plan);
// The same for a library call, which has no plan.
std::string library_conflict(const Graph& kernel);

}  // namespace heddle::ir
