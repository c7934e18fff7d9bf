// KernelForm: how a kernel is executed. `fuse` and `select` write it on the kernel, codegen prints it and decides
// nothing.
//
//   kernel @broadcast.add.relu(%a: f32[128], %b: f32[64,128]) {form = pointwise, domain = [64,128], split = 1, packet =
//   4} { ... }
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/attr.h"
#include "ir/ids.h"
#include "ir/type.h"

namespace heddle::ir {

class Graph;

struct KernelForm {
  enum class Kind {
    pointwise,  // every result has one element per point of the domain; no reduction across points
    rows,       // rows x columns with row reductions, column accumulators, total accumulators
    tile,       // a transpose through a square tile in shared memory
    contract,   // a matrix product or convolution with its epilogue
    opaque,     // any other library call
  };
  Kind kind = Kind::pointwise;
  Dims domain;            // iteration space (not for contract and opaque)
  int64_t split = 0;      // the first `split` dimensions of the domain are rows, the others columns
  int64_t team = 1;       // threads that share a row: 1, 2, 4 ... 32, or the whole block
  int64_t packet = 1;     // elements a thread takes at once on a GPU; 1 where strides or sizes forbid more
  int64_t blocks = 0;     // a fixed number of blocks, whose partial results are summed in order; 0: any number
  bool cached = false;    // a row stays in per-thread registers from one pass over it to the next
  std::string impl;       // contract, opaque: the library ("onednn", "cublaslt", "cudnn"); empty: generated text
  int64_t slices = 1;     // contract on the host: fixed number of one-thread primitives along the batch
  int64_t workspace = 0;  // bytes of scratch a call takes from the arena (library scratchpad, partial sums)

  int64_t rows() const;
  int64_t columns() const;
  bool operator==(const KernelForm&) const = default;
};

std::string to_string(KernelForm::Kind kind);
Attrs to_attrs(const KernelForm& form);          // for printing; defaults left out
KernelForm form_from_attrs(const Attrs& attrs);  // throws InferError on unknown keys or values

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

struct ValuePlan {
  Extent extent = Extent::full;
  ReductionPlan reduction = ReductionPlan::none;
  int phase = 0;  // the pass over the row in which the value is computed: 1 + the latest row reduction it needs
  bool finishing = false;  // computed by the last block, from column or total accumulators
};

// The plan of every value of the kernel by ValueId index; decided here only, so that fuse asks before it fuses and
// codegen prints what fuse asked for. `reason` is set, and the plan empty, when the kernel cannot be executed in its
// form: "sum reduces axis 1 of 3: neither the rows nor the columns".
//
// Inputs, sources, and elementwise and movement operators on those, are read at any index. A value that depends on a
// row reduction lives at its row: movements of it must keep it there. Column and total results exist once the last
// block has summed the partial results: only elementwise operators and reshapes on them may follow in the kernel.
struct KernelPlan {
  std::vector<ValuePlan> values;
  int64_t rows = 1, columns = 1;  // the space that codegen loops over; for pointwise kernels not always the form's
  int phases = 1;
  int64_t partial_bytes = 0;  // scratch that the blocks' partial results need: the form's workspace
  std::string reason;
  bool ok() const { return reason.empty(); }
  Dims space() const { return {rows, columns}; }
};
KernelPlan plan_kernel(const Graph& kernel);

}  // namespace heddle::ir
