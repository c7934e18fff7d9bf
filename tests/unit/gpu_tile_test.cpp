// The preamble's GPU branch of the loops over tiles, run by one host thread per thread of a block: every block size and
// number of blocks gives the transpose, whether the sides are whole tiles or not. Timing and banks are a GPU's own.
#include "tests/unit/gpu_threads.h"
// Behind what it needs.
#include "codegen/device/8_tile.cuh"

alignas(128) unsigned char hd::shared_bytes[sizeof(hd::Tile<double>)];

namespace {

// As printed from a kernel of schedule tile, but that the sizes are parameters and every visit is counted.
template <class T, int matrices, int rows, int columns>
void transpose(const T* x, T* y, std::vector<int>& visits) {
  HD_TILE(T, x_tile, 0);
  HD_TILES(int, matrix, top, left, matrices, rows, columns) {
    HD_DOWN(int, row, column, top, left, rows, columns) {
      x_tile.put(row - top, column - left, x[row + column * rows + matrix * rows * columns]);
    }
    HD_AHEAD(int, row, top, rows) hd::ahead(y + row * columns, columns - left);
    x_tile.turn(rows - top, columns - left);
    hd::barrier();
    HD_ALONG(int, row, column, top, left, rows, columns) {
      const int at = column + row * columns + matrix * rows * columns;
      y[at] = x_tile.get(row - top, column - left);
      ++visits[static_cast<size_t>(at)];  // no two threads visit one point, if the test passes
    }
  }
}

template <class T, int matrices, int rows, int columns>
void expect_transposed(int blocks, int threads) {
  SCOPED_TRACE(::testing::Message() << matrices << " of " << rows << " x " << columns << ", " << blocks << " blocks of "
                                    << threads);
  constexpr size_t count = static_cast<size_t>(matrices) * rows * columns;
  std::vector<T> x(count), y(count, T(-1));
  std::vector<int> visits(count, 0);
  for (size_t i = 0; i < count; ++i) x[i] = static_cast<T>(i % 120);
  gpu_launch(blocks, threads, [&] { transpose<T, matrices, rows, columns>(x.data(), y.data(), visits); });
  size_t wrong = 0;
  for (size_t m = 0; m < matrices; ++m)
    for (size_t r = 0; r < rows; ++r)
      for (size_t c = 0; c < columns; ++c) {
        const size_t at = (m * rows + r) * columns + c;
        wrong += y[at] != x[(m * columns + c) * rows + r] || visits[at] != 1 ? 1 : 0;
      }
  EXPECT_EQ(wrong, 0U);
}

template <class T>
void expect_all(int blocks, int threads) {
  expect_transposed<T, 1, 64, 64>(blocks, threads);
  expect_transposed<T, 2, 33, 70>(blocks, threads);
  expect_transposed<T, 3, 1, 5>(blocks, threads);
  expect_transposed<T, 1, 40, 1>(blocks, threads);
}

TEST(GpuTile, IsRightForEveryBlock) {
  for (const int threads : {1, 5, 32, 100}) expect_all<float>(/*blocks=*/2, threads);
  for (const int blocks : {1, 7}) expect_all<float>(blocks, /*threads=*/8);
}

TEST(GpuTile, HoldsElementsOfEverySize) {
  expect_all<signed char>(/*blocks=*/2, /*threads=*/20);
  expect_all<short>(/*blocks=*/2, /*threads=*/20);
  expect_all<double>(/*blocks=*/2, /*threads=*/20);
}

}  // namespace
