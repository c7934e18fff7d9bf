// product_layout: where the threads of a product's block are in its tiles, as codegen/device/9_contract.cuh and
// 9_tensor_cores.cuh lay them out: which elements they copy, multiply and store.
#pragma once
#include "ir/kernel/count/requests.h"
#include "ir/kernel/kernel_schedule.h"
#include "ir/kernel/plan_contract.h"

namespace heddle::ir {

// Elements from one line of a side's tile in shared memory to the next (hd::SideTile): lines of `depth` along k with 16
// bytes of padding, or, for each k, of `length` rows (columns) with 8 elements of it.
int64_t tile_pitch(bool along_k, int64_t length, int64_t depth, int64_t element_bytes);

class ProductLayout {
 public:
  ProductLayout(const schedules::Product& schedule, const ContractPlan& plan) : schedule_(schedule), plan_(plan) {}

  // Filling a side's tile: lanes at (row, column, matrix, k), of some packets of some tiles and steps.
  std::vector<WarpPoint> fill_points(const ProductSide& s) const;
  // Packets of a thread that have one k: what of their addresses depends on it is found once.
  int64_t sharing_k(const ProductSide& s) const;
  int64_t sharing_row(const ProductSide& s) const;         // and of one row
  Wavefronts fill_wavefronts(const ProductSide& s) const;  // of a warp's request
  // Of one request, at these points of the side's filling.
  static double fill_sectors(const std::vector<WarpPoint>& points, const ProductSide& s, const IndexExpr& linear,
                             int64_t bytes);

  // One step multiplied. Wavefronts of all warps of a block, the rest of one.
  struct Step {
    double products = 0, loads = 0;
    Wavefronts wavefronts;
  };
  Step step() const;

  // The sums of a thread, and where warps store them.
  struct Sums {
    int64_t rows = 1, columns = 1;
  };
  Sums sums() const;
  Sums used() const;  // those that may lie inside the result: the compiler leaves the others out
  std::vector<WarpPoint> result_points() const;
  // For how many of the warps' rows (columns, in packets) of sums a lane is inside the result, of one.
  double inside(int axis) const;

 private:
  struct Place {
    int64_t row = 0, column = 0;
  };
  bool left(const ProductSide& s) const { return &s == &plan_.left; }
  int64_t length(const ProductSide& s) const { return schedule_.tile[left(s) ? 0 : 1]; }
  int64_t bytes() const;
  // Bytes from the start of a step's tile.
  int64_t byte_at(const ProductSide& s, int64_t row, int64_t k) const;
  int64_t lanes(const ProductSide& s) const;  // hd::SideTile::lanes
  // A packet's row (or column), and k; by slot, then thread. `lanes`: the side's.
  Place packet_at(const ProductSide& s, int64_t lanes, int64_t packet) const;
  Place thread_at(int64_t thread) const;  // of the threads that sum up with fma
  int64_t fma_place(const ProductSide& s, int64_t mine, int64_t i) const;
  Place sum_at(int64_t thread, int64_t i, int64_t j) const;
  WarpPoint result_point(int64_t tile, int64_t warp, int64_t sum) const;
  // Whether the i-th row or column of sums of one of the threads lies before the end.
  bool reaches(int axis, int64_t first_thread, int64_t threads, int64_t i, int64_t end) const;
  Step fma_step() const;
  Step tensor_step() const;
  void read(const ProductSide& s, int64_t warp, Step& to) const;

  const schedules::Product& schedule_;
  const ContractPlan& plan_;
};

}  // namespace heddle::ir
