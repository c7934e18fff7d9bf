// KernelSchedule: how a kernel is executed on its target. `fuse` and `select` attach it to the kernel. plan_kernel
// derives the rest from it, and codegen prints text from both. Only two things are decided later: kernel text decides
// how loops are unrolled, and the host device decides which threads run which blocks.
//
//   kernel @broadcast.add.relu(%bias: f32[128], %x: f32[64,128])
//       {domain = [64,128], schedule = "pointwise", split = 1, threads = 256, vector_width = 4} { ... }
#pragma once
#include <cstdint>
#include <string>
#include <variant>

#include "ir/attr.h"
#include "ir/ids.h"
#include "ir/type.h"

namespace heddle::ir {

// The type to which operands of products may be rounded. f32: no rounding. tf32: f32 with 10 bits of fraction, which
// tensor cores multiply.
enum class ProductPrecision { f32, tf32, bf16, f16 };

template <class Schedule>
struct KernelScheduleDef;  // ir/kernel/schedule_def.h

namespace schedules {

// What all schedules with generated text have.
struct Generated {
  int64_t threads = 1;  // of a block; 1 on the host
  int64_t index = 32;   // bits of indices in the text: 64 if an index may reach 2^31
  bool operator==(const Generated&) const = default;
};

struct OverDomain : Generated {
  Dims domain;        // iteration space; for a product: matrices, rows, columns
  int64_t split = 0;  // the first `split` dimensions of the domain are rows, the others columns
  int64_t rows() const;
  int64_t columns() const;
  bool operator==(const OverDomain&) const = default;
};

// Every result has one element per point of the domain; no reduction across points.
struct Pointwise : OverDomain {
  int64_t vector_width = 1;  // elements that a thread takes at once; 1 if strides or sizes forbid more
  bool operator==(const Pointwise&) const = default;
  static const KernelScheduleDef<Pointwise>& def();
};

// Rows x columns with row reductions, column accumulators, total accumulators.
struct Rows : OverDomain {
  int64_t team = 1;  // threads that share a row: 1, 2, 4 ... 32, or the whole block
  int64_t vector_width = 1;
  int64_t prefetch_distance = 1;  // rows that a team loads before it computes the first of them
  int64_t blocks = 0;             // a fixed number of blocks, whose partial results are summed in order; 0: any number
  bool cached = false;            // costly values stay in registers from one pass over a row to the next (plan_kept.h)
  bool operator==(const Rows&) const = default;
  static const KernelScheduleDef<Rows>& def();
};

// A transpose through a square tile in shared memory.
struct Tile : OverDomain {
  bool operator==(const Tile&) const = default;
  static const KernelScheduleDef<Tile>& def();
};

// One operator that a function of the preamble executes, such as a sort.
struct Primitive : Generated {
  bool operator==(const Primitive&) const = default;
  static const KernelScheduleDef<Primitive>& def();
};

// A matrix product or convolution with the operators fused to it, through tiles in shared memory. Its name in IR text
// is schedule = "contract".
struct Product : OverDomain {
  int64_t vector_width = 1;
  Dims tile;            // a block's rows and columns, and the depth of one step
  int64_t stages = 1;   // steps whose operands lie in shared memory at once: later steps are copied ahead
  int64_t split_k = 1;  // parts into which the sum over k is cut; their results are added in order
  ProductPrecision precision = ProductPrecision::f32;
  bool operator==(const Product&) const = default;
  static const KernelScheduleDef<Product>& def();
};

// A library call: of a contraction (schedule = "contract") or of a composite (schedule = "opaque").
struct LibraryCall {
  bool contraction = false;
  std::string impl;         // the library: "onednn", "cublaslt", "cudnn"
  int64_t batch_split = 1;  // on the host: fixed number of one-thread primitives along the batch
  ProductPrecision precision = ProductPrecision::f32;
  bool operator==(const LibraryCall&) const = default;
  static const KernelScheduleDef<LibraryCall>& def();
};

}  // namespace schedules

struct KernelSchedule {
  std::variant<schedules::Pointwise, schedules::Rows, schedules::Tile, schedules::Primitive, schedules::Product,
               schedules::LibraryCall>
      how;
  int64_t workspace = 0;  // bytes of scratch that a call takes from the arena (library scratchpad, partial sums)
  Attrs misplaced = {};   // attributes of parsed text that this schedule does not have; schedule_conflict reports them
  bool operator==(const KernelSchedule&) const = default;
};

const schedules::Generated& generated(const KernelSchedule& schedule);     // must not be a library call
const schedules::OverDomain* over_domain(const KernelSchedule& schedule);  // null if the schedule has no domain

// How a thread takes points of the domain; 1 for each value that the schedule does not have.
struct ThreadWork {
  int64_t team = 1, vector_width = 1, prefetch_distance = 1;  // see schedules::Rows
};
ThreadWork thread_work(const KernelSchedule& schedule);

std::string to_string(const KernelSchedule& schedule);  // only its name: "rows"
Attrs to_attrs(const KernelSchedule& schedule);         // for printing; defaults left out
std::string to_string(ProductPrecision precision);
ProductPrecision parse_precision(const std::string& text);  // throws InferError
// Throws InferError for unknown keys or values, and for numbers beyond the limits of all kernels.
KernelSchedule schedule_from_attrs(const Attrs& attrs);

}  // namespace heddle::ir
