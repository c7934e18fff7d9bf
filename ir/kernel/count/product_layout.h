// ProductLayout: which elements of its tiles each thread of a tiled product copies, multiplies and stores. It mirrors
// codegen/device/9_contract.cuh and 9_tensor_cores.cuh.
#pragma once
#include "ir/kernel/count/requests.h"
#include "ir/kernel/kernel_schedule.h"
#include "ir/kernel/plan_contract.h"

namespace heddle::ir {

// Elements from one line of a side's tile in shared memory to the next (hd::SideTile). With along_k a line has `depth`
// elements and 16 bytes of padding. Else there is a line per k, with `length` rows (columns) and 8 elements of padding.
int64_t tile_pitch(bool along_k, int64_t length, int64_t depth, int64_t element_bytes);

class ProductLayout {
 public:
  ProductLayout(const schedules::Product& schedule, const ContractPlan& plan) : schedule_(schedule), plan_(plan) {}

  // The lanes that fill a side's tile, at (row, column, matrix, k), for some packets of some tiles and steps.
  std::vector<WarpPoint> fill_points(const ProductSide& s) const;
  // The packets of a thread with the same k: the part of their addresses that depends on k is computed once.
  int64_t sharing_k(const ProductSide& s) const;
  int64_t sharing_row(const ProductSide& s) const;         // with the same row
  Wavefronts fill_wavefronts(const ProductSide& s) const;  // of one request of a warp
  // The sectors of one request, at these points of the side's filling.
  static double fill_sectors(const std::vector<WarpPoint>& points, const ProductSide& s, const IndexExpr& linear,
                             int64_t bytes);

  // The multiplication of one step. Wavefronts are those of all warps of a block; the rest is for one warp.
  struct Step {
    double products = 0, loads = 0;
    Wavefronts wavefronts;
  };
  Step step() const;

  // The sums of a thread, and the points at which warps store them.
  struct Sums {
    int64_t rows = 1, columns = 1;
  };
  Sums sums() const;
  Sums used() const;  // those that may lie inside the result; the compiler removes the others
  std::vector<WarpPoint> result_points() const;
  // The share of the warps' rows (columns, in packets) of sums for which some lane is inside the result.
  double inside(int axis) const;

 private:
  struct Place {
    int64_t row = 0, column = 0;
  };
  bool left(const ProductSide& s) const { return &s == &plan_.left; }
  int64_t length(const ProductSide& s) const { return schedule_.tile[left(s) ? 0 : 1]; }
  int64_t bytes() const;
  // The offset in bytes from the start of a step's tile.
  int64_t byte_at(const ProductSide& s, int64_t row, int64_t k) const;
  int64_t lanes(const ProductSide& s) const;  // hd::SideTile::lanes
  // A packet's row (or column) and k. Packets are numbered by slot, then thread. `lanes`: lanes(s).
  Place packet_at(const ProductSide& s, int64_t lanes, int64_t packet) const;
  Place thread_at(int64_t thread) const;  // for threads that sum up with fma
  int64_t fma_place(const ProductSide& s, int64_t mine, int64_t i) const;
  Place sum_at(int64_t thread, int64_t i, int64_t j) const;
  WarpPoint result_point(int64_t tile, int64_t warp, int64_t sum) const;
  // Whether the i-th row or column of sums of one of these threads lies before `end`.
  bool reaches(int axis, int64_t first_thread, int64_t threads, int64_t i, int64_t end) const;
  Step fma_step() const;
  Step tensor_step() const;
  void read(const ProductSide& s, int64_t warp, Step& to) const;

  const schedules::Product& schedule_;
  const ContractPlan& plan_;
};

}  // namespace heddle::ir
