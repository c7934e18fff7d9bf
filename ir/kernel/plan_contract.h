// plan_contract: how a product goes through tiles. Which dimensions are its rows, columns, matrices
// and depth, how each side's elements come to shared memory, what a block and its threads take.
//
//   %y: f32[128,26,26,64] = conv2d(%x: f32[128,28,28,32], %w: f32[64,32,3,3])
//
//   rows      n, oh, ow: 86528, of which the left side %x is read (with kh, kw, i: the product is implicit)
//   columns   o: 64, of which the right side %w is read
//   depth     kh, kw, i: 288, over which products are summed
//   matrices  1; the batch of a matmul and the groups of a convolution
//
// The side of the result's innermost dimension is the right one, so that neighbouring columns lie side by side.
#pragma once
#include "ir/loop/loops.h"

namespace heddle::ir {

inline constexpr int kProductMatrix = 2, kDepth = 3;  // coordinates after row and column

// A block of the targets has at most 163 (A100) and 227 KB (H100, H200), of which one is left to
// what the text declares.
inline constexpr int64_t kMostSharedBytes = int64_t{226} << 10;

// low <= from_row + from_k < high, or the element is a zero of the padding.
struct Border {
  IndexExpr from_row, from_k;
  int64_t low = 0, high = 0;
};

// One side of the product.
struct ProductSide {
  ValueId value;         // the contraction's operand, at
  IndexMap at;           // (row or column, matrix, k)
  bool along_k = false;  // neighbours in memory are neighbouring k; else neighbouring rows, or columns
  int64_t packet = 0;    // elements that go from memory to shared memory at once, as they are; 0: they are computed
  ValueId memory;        // where they lie then, and
  IndexMap memory_at;    // which they are; zeros where the guards do not hold
  IndexExpr from_row;    // the part of their position that k does not change, and
  IndexExpr from_k;      // the rest
  std::vector<Border> borders;  // the guards, where there are at most two and their numbers are small
  bool kept = false;            // threads keep what depends on the row alone from one step to the next
};

struct ContractPlan {
  NodeId contraction;
  Dims space;       // rows, columns, matrices, depth
  IndexExpr point;  // row-major position in the result
  ProductSide left, right;
  DType multiplied = DType::f32;  // what the sides' tiles hold
  bool tensor_cores = false;
  int64_t tiles = 1;          // of the result
  int64_t steps = 1;          // of the tile's depth, in one part
  int64_t gather = 1;         // parts that one block adds, and about as many such sums the last one
  int64_t counters = 0;       // in which the blocks of the parts count themselves
  int64_t shared_bytes = 0;   // that the sides' tiles take
  int64_t largest_read = 0;   // index of an element, or number that a condition compares, and
  int64_t largest_index = 0;  // of these and the numbers of tiles and steps
  std::string reason;         // why the kernel cannot go through tiles; the rest is empty then
  bool ok() const { return reason.empty(); }
};
ContractPlan plan_contract(const Graph& kernel);
// What a kernel with this plan does: plan_kernel's answer, which throws a Refusal, and its loops.
KernelPlan plan_products(const Graph& kernel, const ContractPlan& contract);
loop::Statements product_loops(const Graph& kernel, const ContractPlan& product);
// What follows from the schedule's tile, stages and parts alone.
void set_tiles(ContractPlan& plan, const schedules::Product& schedule);
// Where the parts alone have changed since.
void set_parts(ContractPlan& plan, const schedules::Product& schedule);

// Of a kernel that has no schedule yet: sets this one, of the product's domain.
ContractPlan plan_contract(Graph& kernel, const schedules::Product& schedule);

// The rows and columns of a tile that one thread sums up with fma.
struct ThreadTile {
  int64_t rows = 0, columns = 0;
};
ThreadTile thread_tile(const Dims& tile, int64_t threads);
// Why the schedule's tile, threads and stages do not go together, "" where they do.
std::string contract_conflict(const schedules::Product& schedule, const ContractPlan& plan);

}  // namespace heddle::ir
