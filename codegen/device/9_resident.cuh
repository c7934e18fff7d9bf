#pragma once
// Products of a loop whose weights (the right side) stay in shared memory. A block has the same columns in every turn,
// so it reads their weights once. The block also computes what follows the product at these columns; only the left side
// comes from other blocks. Sums have the order of a tiled product (9_contract.cuh), so the bits are the same.
#if defined(HD_PERSISTENT)

namespace hd {

// The product has `gates` times `units` columns. A block has `slice` neighbouring units of each gate. A part of the sum
// has `part_depth` products. Its first run has `first_run` products and the others have `run`; 0: no runs.
template <int rows_, int units_, int gates, int slice_, int depth, int parts, int part_depth, int first_run, int run, bool is_wide,
          int gather, int threads_>
struct Resident {
  static constexpr int rows = rows_, units = units_, slice = slice_, columns = gates * slice, across = columns / 4;
  // The rows of sums per thread: the most with which all threads still take part.
  HD_DEVICE static constexpr int cells(int height) { return across * cut(rows, height) * parts; }
  static constexpr int height = cells(8) >= threads_ ? 8 : cells(4) >= threads_ ? 4 : cells(2) >= threads_ ? 2 : 1;
  static constexpr int down = cut(rows, height);
  struct Weights {
    float item[columns][depth + 4];  // the padding puts elements that neighbouring threads read into different banks
  };
  struct Sums {
    float item[parts][rows][columns];
  };

  // Loads the weights of the slice that begins at unit `first`, unless they are there. `held` is the first unit of the
  // slice there.
  HD_DEVICE static void hold(Weights& weights, const float* from, int first, int& held) {
    if (held == first) return;
    held = first;
    barrier();  // nobody multiplies by the old weights any more
    for (int i = thread(); i < columns * (depth / 4); i += threads()) {
      const int column = i / (depth / 4), k = i % (depth / 4) * 4;
      store(&weights.item[column][k], load<4>(from + ((i64)(column / slice * units + first + column % slice) * depth + k)));
    }
  }

  // A thread's rows and columns are strided; neighbouring threads take neighbouring ones.
  HD_DEVICE static void multiply(Sums& sums, const float* left, const Weights& weights) {
    barrier();  // the weights are there, and the old contents of `sums` have been read
    for (int cell = thread(); cell < cells(height); cell += threads()) {
      const int mine_across = cell % across, mine_down = cell / across % down, part = cell / (across * down);
      const int from = part * part_depth, to = least(from + part_depth, depth);
      float sum[height][4] = {};
      SecondSums<height * 4, is_wide> runs;
      const float* row[height];
      HD_UNROLL
      for (int i = 0; i < height; ++i) row[i] = left + (i64)least(mine_down + i * down, rows - 1) * depth;
      int k = from;
      for (int end = run > 0 ? least(from + first_run, to) : to; k < to; end = least(end + run, to)) {
        _Pragma("unroll 2") for (; k < end; k += 4) {
          Elements<float, 4> a[height], b[4];
          HD_UNROLL
          for (int i = 0; i < height; ++i) a[i] = load<4>(row[i] + k);
          HD_UNROLL
          for (int j = 0; j < 4; ++j) b[j] = load<4>(&weights.item[mine_across + j * across][k]);
          HD_UNROLL
          for (int q = 0; q < 4; ++q)
            HD_UNROLL
          for (int i = 0; i < height; ++i)
            HD_UNROLL
          for (int j = 0; j < 4; ++j) sum[i][j] = fma(a[i][q], b[j][q], sum[i][j]);
        }
        if constexpr (run > 0) {
          HD_UNROLL
          for (int e = 0; e < height * 4; ++e) {
            runs.add(e, sum[e / 4][e % 4]);
            sum[e / 4][e % 4] = 0.0f;
          }
        }
      }
      HD_UNROLL
      for (int e = 0; e < height * 4; ++e) {
        const int i = e / 4, j = e % 4, mine = mine_down + i * down;
        if (mine < rows) sums.item[part][mine][mine_across + j * across] = run > 0 ? runs.result(e) : sum[i][j];
      }
    }
    barrier();
  }

  // The sum of the parts in order: first within groups of `gather` parts, then over the groups (as add_parts).
  HD_DEVICE static float result(const Sums& sums, int row, int column) {
    float all = 0.0f;
    HD_UNROLL
    for (int first = 0; first < parts; first += gather) {
      float some = sums.item[first][row][column];
      HD_UNROLL
      for (int part = first + 1; part < least(first + gather, parts); ++part) some = some + sums.item[part][row][column];
      all = first == 0 ? some : all + some;
    }
    return all;
  }
};

// The place of a carried value in this turn. It alternates between two places, so that a turn does not overwrite what
// others still read.
HD_DEVICE char* in_turn(int turn, char* even, char* odd) { return turn % 2 == 0 ? even : odd; }

}  // namespace hd

// The loop over the slices of this block: one slice, if the grid has enough blocks.
#define HD_SLICES(slice, count) for (int slice = (int)blockIdx.x; slice < (count); slice += (int)gridDim.x)
// The loop over the points of `count` columns from `hd_unit` on.
#define HD_POINTS_OF_SLICE(Index, row, column, rows, count, width)                                          \
  for (Index hd_point = hd::thread(); hd_point < (Index)(rows) * ((count) / (width)); hd_point += hd::threads()) \
    if (const Index row = (HD_COUNTS(hd_point), hd_point / ((count) / (width))),                             \
        column = hd_unit + hd_point % ((count) / (width)) * (width);                                         \
        HD_COUNTS(row), HD_COUNTS(column), true)
// The loop over the results of a slice's product, `packet` neighbouring ones at once.
#define HD_SUMS_OF_SLICE(P, row, column, across, packet)                                                              \
  for (int hd_sum = hd::thread(); hd_sum < P::rows * (P::columns / (packet)); hd_sum += hd::threads())                \
    if (const int row = (HD_COUNTS(hd_sum), hd_sum / (P::columns / (packet))),                                        \
        across = hd_sum % (P::columns / (packet)) * (packet), column = across / P::slice * P::units + hd_unit + across % P::slice; \
        HD_COUNTS(row), HD_COUNTS(column), true)

#endif
