// KernelSchedule: how a kernel is executed on its target. `fuse` and `select` write it on the
// kernel; what follows from it is plan_kernel's to say; codegen prints both. What is left to the
// text is how a loop is unrolled; to the host device, which threads take which blocks.
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

// What operands of products may be rounded to: f32 rounds none, tf32 f32 to 10 bits of fraction, for which GPUs have
// tensor cores.
enum class ProductPrecision { f32, tf32, bf16, f16 };

template <class Schedule>
struct KernelScheduleDef;  // ir/kernel/schedule_def.h

namespace schedules {

// A schedule whose text is generated.
struct Generated {
  int64_t threads = 1;  // of a block; 1 on the host
  int64_t index = 32;   // bits of the text's indices: 64 where one may reach 2^31
  bool operator==(const Generated&) const = default;
};

struct OverDomain : Generated {
  Dims domain;        // iteration space; of a product: matrices, rows, columns
  int64_t split = 0;  // the first `split` dimensions of the domain are rows, the others columns
  int64_t rows() const;
  int64_t columns() const;
  bool operator==(const OverDomain&) const = default;
};

// Every result has one element per point of the domain; no reduction across points.
struct Pointwise : OverDomain {
  int64_t vector_width = 1;  // elements a thread takes at once; 1 where strides or sizes forbid more
  bool operator==(const Pointwise&) const = default;
  static const KernelScheduleDef<Pointwise>& def();
};

// Rows x columns with row reductions, column accumulators, total accumulators.
struct Rows : OverDomain {
  int64_t team = 1;  // threads that share a row: 1, 2, 4 ... 32, or the whole block
  int64_t vector_width = 1;
  int64_t prefetch_distance = 1;  // so many of a team's rows are loaded before the first of them is computed
  int64_t blocks = 0;             // a fixed number of blocks, whose partial results are summed in order; 0: any number
  bool cached = false;            // what is costly stays in per-thread registers from one pass over a row to the next
  bool operator==(const Rows&) const = default;
  static const KernelScheduleDef<Rows>& def();
};

// A transpose through a square tile in shared memory.
struct Tile : OverDomain {
  bool operator==(const Tile&) const = default;
  static const KernelScheduleDef<Tile>& def();
};

// One operator by a function of the preamble: a sort, sums in an order.
struct Primitive : Generated {
  bool operator==(const Primitive&) const = default;
  static const KernelScheduleDef<Primitive>& def();
};

// A matrix product or convolution, with what surrounds it, through tiles in shared memory:
// schedule = "contract".
struct Product : OverDomain {
  int64_t vector_width = 1;
  Dims tile;            // a block's rows and columns, and the depth of one step
  int64_t stages = 1;   // steps whose operands lie in shared memory at once: copied ahead
  int64_t split_k = 1;  // into which the sum over k is cut: their results are added in order
  ProductPrecision precision = ProductPrecision::f32;
  bool operator==(const Product&) const = default;
  static const KernelScheduleDef<Product>& def();
};

// A library's call: of a contraction, schedule = "contract", or of a composite, schedule = "opaque".
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
  int64_t workspace = 0;  // bytes of scratch a call takes from the arena (library scratchpad, partial sums)
  Attrs misplaced = {};   // of text that was read: attributes that this schedule does not have (schedule_conflict)
  bool operator==(const KernelSchedule&) const = default;
};

const schedules::Generated& generated(const KernelSchedule& schedule);     // of no library's call
const schedules::OverDomain* over_domain(const KernelSchedule& schedule);  // null where the schedule has no domain

// What a thread takes of the domain at once: 1 each where the schedule has no say in it.
struct ThreadWork {
  int64_t team = 1, vector_width = 1, prefetch_distance = 1;  // as of schedules::Rows
};
ThreadWork thread_work(const KernelSchedule& schedule);

std::string to_string(const KernelSchedule& schedule);  // its name alone: "rows"
Attrs to_attrs(const KernelSchedule& schedule);         // for printing; defaults left out
std::string to_string(ProductPrecision precision);
ProductPrecision parse_precision(const std::string& text);  // throws InferError
// Throws InferError on unknown keys or values, and on numbers beyond what any kernel has.
KernelSchedule schedule_from_attrs(const Attrs& attrs);

}  // namespace heddle::ir
