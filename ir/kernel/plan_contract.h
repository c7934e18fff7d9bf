// plan_contract: the plan of a tiled product: which dimensions are its rows, columns, matrices and depth, how the
// elements of each side come to shared memory, and what a block and its threads compute.
//
//   %y: f32[128,26,26,64] = conv2d(%x: f32[128,28,28,32], %w: f32[64,32,3,3])
//
//   rows      n, oh, ow: 86528, of which the left side %x is read (with kh, kw, i: the product is implicit)
//   columns   o: 64, of which the right side %w is read
//   depth     kh, kw, i: 288, over which products are summed
//   matrices  1; the batch of a matmul and the groups of a convolution
//
// The right side is the one that has the innermost dimension of the result, so neighbouring columns are neighbours in
// the result's memory.
#pragma once
#include "ir/loop/loops.h"

namespace heddle::ir {

inline constexpr int kProductMatrix = 2, kDepth = 3;  // coordinates after row and column

// A block has at most 163 KB (A100) or 227 KB (H100, H200). One KB is left for arrays that the text declares.
inline constexpr int64_t kMostSharedBytes = int64_t{226} << 10;

// A guard, split by its coordinates: where low <= from_row + from_k < high does not hold, the element is a padding
// zero.
struct Border {
  IndexExpr from_row, from_k;
  int64_t low = 0, high = 0;
};

// One side of the product.
struct ProductSide {
  ValueId value;                // the contraction's operand
  IndexMap at;                  // the element of `value` at (row or column, matrix, k)
  bool along_k = false;         // neighbours in memory are neighbouring k; else neighbouring rows, or columns
  int64_t packet = 0;           // elements copied unchanged from memory to shared memory at once; 0: they are computed
  ValueId memory;               // the value from which they are copied
  IndexMap memory_at;           // the element of `memory`; zeros where the guards do not hold
  IndexExpr from_row;           // the part of their position that does not depend on k
  IndexExpr from_k;             // the rest
  std::vector<Border> borders;  // the guards, if there are at most two and their numbers are small
  bool kept = false;            // threads keep what depends on the row alone from one step to the next
};

struct ContractPlan {
  NodeId contraction;
  Dims space;       // rows, columns, matrices, depth
  IndexExpr point;  // row-major position in the result
  ProductSide left, right;
  DType multiplied = DType::f32;  // the type of the elements of the sides' tiles
  bool tensor_cores = false;
  int64_t tiles = 1;          // of the result
  int64_t steps = 1;          // steps of one part, each of the tile's depth
  int64_t gather = 1;         // parts in a group; the group's last block adds them, and one block adds the groups
  int64_t counters = 0;       // counters of arrived blocks, where parts meet
  int64_t shared_bytes = 0;   // of the sides' tiles
  int64_t largest_read = 0;   // the largest index of an element, or number that a condition compares
  int64_t largest_index = 0;  // the largest of these and of the numbers of tiles and steps
  std::string reason;         // why the product cannot be tiled; the other members are then empty
  bool ok() const { return reason.empty(); }
};
ContractPlan plan_contract(const Graph& kernel);
// The kernel plan (throws Refusal) and the loops of a kernel with this plan.
KernelPlan plan_products(const Graph& kernel, const ContractPlan& contract);
loop::Statements product_loops(const Graph& kernel, const ContractPlan& product);
// Sets the members that depend only on the schedule's tile, stages and parts.
void set_tiles(ContractPlan& plan, const schedules::Product& schedule);
// Sets the members that depend on the parts (split_k). Enough if only these changed.
void set_parts(ContractPlan& plan, const schedules::Product& schedule);

// Plans a kernel that has no schedule yet: gives it this schedule, with the product's domain.
ContractPlan plan_contract(Graph& kernel, const schedules::Product& schedule);

// The rows and columns of a tile that one thread sums up with fma instructions.
struct ThreadTile {
  int64_t rows = 0, columns = 0;
};
ThreadTile thread_tile(const Dims& tile, int64_t threads);
// Why the schedule's tile, threads and stages contradict each other; "" if they do not.
std::string contract_conflict(const schedules::Product& schedule, const ContractPlan& plan);

}  // namespace heddle::ir
