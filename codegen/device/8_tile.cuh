#pragma once
// Square tiles for transposes. Elements that are read along one dimension and written along another pass through a
// tile, so that both accesses touch neighbours in memory together. The threads of a block fill a tile down its columns,
// then read it along its rows.
namespace hd {
constexpr int kTile = 32;
template <class Index>
HD_DEVICE constexpr Index tiles(Index n) {
  return (n + kTile - 1) / kTile;
}
}  // namespace hd

// The tile that starts at row `top` and column `left` of `matrix`.
#define HD_TILE_AT(Index, matrix, top, left, rows, columns)                                       \
  if (const Index matrix = hd_tile / (hd::tiles<Index>(rows) * hd::tiles<Index>(columns)),        \
                  left = hd_tile / hd::tiles<Index>(rows) % hd::tiles<Index>(columns) * hd::kTile, \
                  top = hd_tile % hd::tiles<Index>(rows) * hd::kTile;                              \
      true)

#if defined(HD_CUDA)

namespace hd {
template <class T>
struct Tile {
  T item[kTile][kTile + 1];  // the odd length puts the items of a column into different banks
  HD_DEVICE void put(int row, int column, T x) { item[column][row] = x; }
  HD_DEVICE void turn(i64, i64) {}
  HD_DEVICE T get(int row, int column) const { return item[column][row]; }
};
constexpr int kAtOnce = 4;  // loads of a thread in flight
template <class S>
HD_DEVICE void ahead(S*, i64) {}
}  // namespace hd

#define HD_TILE(T, name, first_byte) hd::Tile<T>& name = hd::in_shared<hd::Tile<T>>(first_byte)
#define HD_TILES(Index, matrix, top, left, matrices, rows, columns)                                            \
  for (Index hd_tile = hd::block(); hd_tile < (matrices) * hd::tiles<Index>(rows) * hd::tiles<Index>(columns); \
       hd_tile += hd::blocks(), hd::barrier())                                                                 \
    HD_TILE_AT(Index, matrix, top, left, rows, columns)
#define HD_AHEAD(Index, row, top, rows) if (constexpr Index row = 0; false)
// Neighbouring threads take neighbouring values of `fast`.
#define HD_TILE_POINTS(Index, fast, slow, fast_from, slow_from, fasts, slows)                                     \
  for (int hd_first = hd::thread(); hd_first < hd::kTile * hd::kTile; hd_first += hd::kAtOnce * hd::threads())    \
    HD_UNROLL for (int hd_each = 0; hd_each < hd::kAtOnce; ++hd_each)                                             \
      if (const Index hd_place = hd_first + hd_each * hd::threads(), fast = fast_from + hd_place % hd::kTile,     \
                      slow = slow_from + hd_place / hd::kTile;                                                    \
          hd_place < hd::kTile * hd::kTile && ((fasts) % hd::kTile == 0 || fast < (fasts)) &&                     \
          ((slows) % hd::kTile == 0 || slow < (slows)))
#define HD_DOWN(Index, row, column, top, left, rows, columns) HD_TILE_POINTS(Index, row, column, top, left, rows, columns)
#define HD_ALONG(Index, row, column, top, left, rows, columns) HD_TILE_POINTS(Index, column, row, left, top, columns, rows)

#else

namespace hd {
// b[j][i] = a[i][j] for eight by eight elements in rows of kTile. It exchanges ever larger halves of pairs of rows.
template <class U>
HD_DEVICE void turn_eight(const U* a, U* b) {
  typedef U Eight __attribute__((vector_size(8 * sizeof(U))));
  Eight x[8], y[8];
  HD_UNROLL
  for (int i = 0; i < 8; ++i) copy_bytes(&x[i], a + i * kTile, sizeof(Eight));
  HD_UNROLL
  for (int i = 0; i < 8; i += 2) {
    y[i] = __builtin_shufflevector(x[i], x[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    y[i + 1] = __builtin_shufflevector(x[i], x[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  HD_UNROLL
  for (int h = 0; h < 4; ++h) {
    const int i = h / 2 * 4 + h % 2;
    x[i] = __builtin_shufflevector(y[i], y[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    x[i + 2] = __builtin_shufflevector(y[i], y[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  HD_UNROLL
  for (int i = 0; i < 4; ++i) {
    y[i] = __builtin_shufflevector(x[i], x[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    y[i + 4] = __builtin_shufflevector(x[i], x[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
  HD_UNROLL
  for (int i = 0; i < 8; ++i) copy_bytes(b + i * kTile, &y[i], sizeof(Eight));
}

// The host's tile. It is filled column by column, then transposed in registers, so that both loops over its points run
// along memory.
template <class T>
struct Tile {
  using U = typename Word<sizeof(T)>::type;
  alignas(64) U down[kTile][kTile], along[kTile][kTile];
  HD_DEVICE void put(int row, int column, T x) { down[column][row] = bits<U>(x); }
  HD_DEVICE void turn(i64 rows, i64 columns) {
    for (int column = 0; column < least<i64>(columns, kTile); column += 8)
      for (int row = 0; row < least<i64>(rows, kTile); row += 8) turn_eight(&down[column][row], &along[row][column]);
  }
  HD_DEVICE T get(int row, int column) const { return bits<T>(along[row][column]); }
};
// Prefetches the memory to which a row of the tile will be written; `rest` is the number of elements up to the end of
// the result's row.
template <class S>
HD_DEVICE void ahead(S* to, i64 rest) {
  constexpr int line = 64 / sizeof(S);
  for (int i = 0; i < least<i64>(rest, kTile); i += line) __builtin_prefetch(to + i, 1);
}
template <class Index>
HD_DEVICE Index tile_end(Index from, Index n) {
  return n % kTile == 0 ? from + kTile : least(from + kTile, n);
}
}  // namespace hd

#define HD_TILE(T, name, first_byte) hd::Tile<T> name
#define HD_TILES(Index, matrix, top, left, matrices, rows, columns)                                           \
  for (Index hd_tiles = (matrices) * hd::tiles<Index>(rows) * hd::tiles<Index>(columns),                      \
             hd_tile = hd::first<Index>(hd_tiles), hd_last = hd::last<Index>(hd_tiles);                       \
       hd_tile < hd_last; ++hd_tile)                                                                          \
    HD_TILE_AT(Index, matrix, top, left, rows, columns)
#define HD_AHEAD(Index, row, top, rows) \
  for (Index row = top, hd_bottom = hd::tile_end<Index>(top, rows); row < hd_bottom; ++row)
#define HD_TILE_POINTS(Index, fast, slow, fast_from, slow_from, fasts, slows)                                              \
  for (Index slow = slow_from, hd_slow_end = hd::tile_end<Index>(slow_from, slows); slow < hd_slow_end; ++slow)            \
    HD_IVDEP for (Index fast = fast_from, hd_fast_end = hd::tile_end<Index>(fast_from, fasts); fast < hd_fast_end; ++fast)
#define HD_DOWN(Index, row, column, top, left, rows, columns) HD_TILE_POINTS(Index, row, column, top, left, rows, columns)
#define HD_ALONG(Index, row, column, top, left, rows, columns) HD_TILE_POINTS(Index, column, row, left, top, columns, rows)

#endif
