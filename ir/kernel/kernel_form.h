// KernelForm: how a kernel is executed on its target. `fuse` and `select` write it on the kernel; what follows from it
// is plan_kernel's to say; codegen prints both. What is left to the text is how a loop is unrolled; to the host device,
// which threads take which blocks.
//
//   kernel @broadcast.add.relu(%bias: f32[128], %x: f32[64,128])
//       {domain = [64,128], form = "pointwise", packet = 4, split = 1, threads = 256} { ... }
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/attr.h"
#include "ir/ids.h"
#include "ir/type.h"

namespace heddle::ir {

// What operands of products may be rounded to: f32 rounds none, tf32 f32 to 10 bits of fraction, for which GPUs have
// tensor cores.
enum class ProductPrecision { f32, tf32, bf16, f16 };

struct KernelForm {
  enum class Kind {
    pointwise,  // every result has one element per point of the domain; no reduction across points
    rows,       // rows x columns with row reductions, column accumulators, total accumulators
    tile,       // a transpose through a square tile in shared memory
    primitive,  // one operator by a function of the preamble: a sort, sums in an order
    contract,   // a matrix product or convolution with what surrounds it: by a library, or through tiles
    opaque,     // any other library call
  };
  Kind kind = Kind::pointwise;
  Dims domain;          // iteration space (not for library calls); of contract: matrices, rows, columns
  int64_t split = 0;    // the first `split` dimensions of the domain are rows, the others columns
  int64_t threads = 1;  // of a block; 1 on the host
  int64_t team = 1;     // threads that share a row: 1, 2, 4 ... 32, or the whole block
  int64_t packet = 1;   // elements a thread takes at once; 1 where strides or sizes forbid more
  int64_t ahead = 1;    // rows: so many of a team's rows are loaded before the first of them is computed
  int64_t index = 32;   // bits of the text's indices: 64 where one may reach 2^31
  int64_t blocks = 0;   // a fixed number of blocks, whose partial results are summed in order; 0: any number
  bool cached = false;  // what is costly stays in per-thread registers from one pass over a row to the next
  std::string impl;     // contract, opaque: the library ("onednn", "cublaslt", "cudnn"); else empty
  int64_t slices = 1;   // contract on the host: fixed number of one-thread primitives along the batch
  ProductPrecision precision = ProductPrecision::f32;
  Dims tile = {};         // contract through tiles: a block's rows and columns, and the depth of one step
  int64_t stages = 1;     // steps whose operands lie in shared memory at once: copied ahead
  int64_t parts = 1;      // into which the sum over k is cut: their results are added in order
  int64_t workspace = 0;  // bytes of scratch a call takes from the arena (library scratchpad, partial sums)

  bool is_library() const { return !impl.empty(); }
  int64_t rows() const;
  int64_t columns() const;
  bool operator==(const KernelForm&) const = default;
};

std::string to_string(KernelForm::Kind kind);
Attrs to_attrs(const KernelForm& form);  // for printing; defaults left out
std::string to_string(ProductPrecision precision);
ProductPrecision parse_precision(const std::string& text);  // throws InferError
// Throws InferError on unknown keys or values, and on numbers beyond what any kernel has.
KernelForm form_from_attrs(const Attrs& attrs);

}  // namespace heddle::ir
