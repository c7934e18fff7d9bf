#pragma once
// Tiled products: a block computes a tile of the result, in steps over k. The tiles of both sides for a step lie in
// shared memory, and the tiles of later steps are copied meanwhile. Every sum has the order of k; if k is cut into
// parts, the parts are added in order. On the host a block is one thread, which fills the tiles of each step and
// multiplies them.
namespace hd {

constexpr bool along_k = true, across_k = false;  // where neighbours in memory lie: along k, or along rows (columns)

#if defined(HD_CUDA)
HD_DEVICE float fma(float a, float b, float c) { return ::fmaf(a, b, c); }
#endif

// The tiles of one side of a product in shared memory, for several steps: `rows` (for the right side columns) times
// `depth` elements. The padding keeps 16-byte alignment, and puts elements that neighbouring threads read into
// different banks.
template <class S, int rows_, int depth_, bool along, int stages_, int threads_>
struct SideTile {
  using Element = S;
  static constexpr bool along_k = along;
  static constexpr int rows = rows_, depth = depth_, stages = stages_, threads = threads_;
  static constexpr int fast = along ? depth : rows, slow = along ? rows : depth;
#if defined(HD_CUDA)
  static constexpr int length = fast + (along ? 16 / (int)sizeof(S) : 8);
#else
  static constexpr int length = fast;
#endif
  alignas(16) S item[stages][slow][length];

  HD_DEVICE S* at(int step, int row, int k) {
    return along ? &item[step % stages][row][k] : &item[step % stages][k][row];
  }
  HD_DEVICE const S* at(int step, int row, int k) const {
    return along ? &item[step % stages][row][k] : &item[step % stages][k][row];
  }
  // The positions of a thread's packets of `width` elements; neighbouring threads take neighbours in memory. If the
  // sizes divide evenly, `lanes` threads share a k (or a row, if memory runs along k), as few threads as possible. Then
  // a thread computes the part of an address that depends on k once for several packets. Pieces of less than 64 bytes
  // would be separate memory requests.
  HD_DEVICE static constexpr int packets(int width) { return rows * depth / width; }
  HD_DEVICE static constexpr int slots(int width) { return (packets(width) + threads - 1) / threads; }
  HD_DEVICE static constexpr int lanes(int width) {
    constexpr int of_one = fewest_lanes(1), of_two = fewest_lanes(2), of_four = fewest_lanes(4), of_eight = fewest_lanes(8);
    return width == 1 ? of_one : width == 2 ? of_two : width == 4 ? of_four : of_eight;
  }
  HD_DEVICE static constexpr int fewest_lanes(int width) {  // evaluated at compile time
    const int all = fast / width, least = 64 / ((int)sizeof(S) * width);
    if (all == 0) return 0;
    if (along) return threads % all == 0 && slow % (threads / all) == 0 ? all : 0;
    for (int n = least; n <= all; ++n)
      if (all % n == 0 && threads % n == 0 && threads / n <= slow && slow % (threads / n) == 0) return n;
    return 0;
  }
  // The position of a packet: `neighbour` along memory, in packets, and `line` along the other dimension.
  HD_DEVICE static int neighbour(int slot, int width) {
    const int n = lanes(width), turns = fast / width / (n > 0 ? n : 1);
    return n > 0 ? thread() % n + slot % turns * n : (slot * threads + thread()) % (fast / width);
  }
  HD_DEVICE static int line(int slot, int width) {
    const int n = lanes(width), turns = fast / width / (n > 0 ? n : 1);
    return n > 0 ? thread() / n + slot / turns * (threads / n) : (slot * threads + thread()) / (fast / width);
  }
  HD_DEVICE static int row_of(int slot, int width) { return along ? line(slot, width) : neighbour(slot, width) * width; }
  HD_DEVICE static int k_of(int slot, int width) { return along ? neighbour(slot, width) * width : line(slot, width); }
  HD_DEVICE static bool has(int slot, int width) {
    return packets(width) % threads == 0 || slot * threads + thread() < packets(width);
  }

#if defined(HD_CUDA)
  // Computed elements on their way to the tile. They wait in registers while a step is multiplied.
  struct Kept {
    S item[slots(1)];
    HD_DEVICE void put(int slot, int, int, float x) { item[slot] = S(x); }
  };
  HD_DEVICE Kept keep(int) { return Kept(); }
  HD_DEVICE void take(int step, const Kept& kept) {
    HD_UNROLL
    for (int slot = 0; slot < slots(1); ++slot) {
      if (has(slot, 1)) *at(step, row_of(slot, 1), k_of(slot, 1)) = kept.item[slot];
    }
  }
  // Copies `width` elements directly to the tile. If not `there`, it writes zeros and reads nothing.
  template <int width>
  HD_DEVICE void copy(int step, int row, int k, const S* from, bool there) {
    constexpr int bytes = width * (int)sizeof(S);
    const int place = step % stages * (slow * length) + (along ? row * length + k : k * length + row);
    const u32 to = (u32)__cvta_generic_to_shared(item) + (u32)place * (u32)sizeof(S);
    const int read = there ? bytes : 0;
    if constexpr (bytes == 16)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(read) : "memory");
    else
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(bytes), "r"(read) : "memory");
  }
#else
  struct Kept {
    SideTile* tile;
    HD_DEVICE void put(int, int row, int k, float x) { *tile->at(0, row, k) = S(x); }
  };
  HD_DEVICE Kept keep(int) { return {this}; }
  HD_DEVICE void take(int, const Kept&) {}
  template <int width>
  HD_DEVICE void copy(int step, int row, int k, const S* from, bool there) {
    *at(step, row, k) = there ? *from : S(0);
  }
#endif
};

// The sums of a thread that multiplies with fma instructions. Its rows (columns) are packets of four neighbours if the
// side's tile lies along them in memory; else they are strided, and neighbouring threads take neighbouring ones.
template <int rows, int columns, int threads, bool left_along, bool right_along>
struct FmaSums {
#if defined(HD_CUDA)
  static constexpr int mine = rows * columns / threads, width = mine >= 64 ? 8 : 4, height = mine / width;
#else
  static constexpr int width = columns, height = rows;
#endif
  static constexpr int across = columns / width, down = rows / height;  // threads
  float sum[height][width] = {};

  // A warp has eight threads across and four down, if there are enough.
  HD_DEVICE static int x() {
    return across % 8 == 0 && down % 4 == 0 ? thread() / 32 % (across / 8) * 8 + thread() % 8 : thread() % across;
  }
  HD_DEVICE static int y() {
    return across % 8 == 0 && down % 4 == 0 ? thread() / 32 / (across / 8) * 4 + thread() / 8 % 4 : thread() / across;
  }
#if defined(HD_CUDA)
  HD_DEVICE static constexpr int place(bool along, int mine, int threads_, int i) {
    return along ? i * threads_ + mine : i / 4 * 4 * threads_ + mine * 4 + i % 4;
  }
#else
  HD_DEVICE static constexpr int place(bool, int, int, int i) { return i; }
#endif
  HD_DEVICE static int row_of(int i) { return place(left_along, y(), down, i); }
  HD_DEVICE static int column_of(int j) { return place(right_along, x(), across, j); }
  HD_DEVICE static constexpr int least_row(int i) { return place(left_along, 0, down, i); }  // of all threads
  HD_DEVICE static constexpr int least_column(int j) { return place(right_along, 0, across, j); }
  HD_DEVICE float get(int i, int j) const { return sum[i][j]; }

#if defined(HD_CUDA)
  // Four steps of k of `count` rows (columns).
  template <int count, bool along, class Tile>
  HD_DEVICE static void read(float (&to)[4][count], const Tile& tile, int step, int k, int mine, int threads_) {
    HD_UNROLL
    for (int i = 0; i < (along ? count : count / 4); ++i)
      HD_UNROLL
    for (int q = 0; q < (along ? 1 : 4); ++q) {
      const auto four = load<4>(tile.at(step, along ? place(along, mine, threads_, i) : place(along, mine, threads_, i * 4), k + q));
      HD_UNROLL
      for (int e = 0; e < 4; ++e) (along ? to[e][i] : to[q][i * 4 + e]) = four[e];
    }
  }
  template <class Left, class Right>
  HD_DEVICE void multiply(const Left& left, const Right& right, int step) {
    const int mine_down = y(), mine_across = x();
    HD_UNROLL
    for (int k = 0; k < Left::depth; k += 4) {
      float a[4][height], b[4][width];
      read<height, left_along>(a, left, step, k, mine_down, down);
      read<width, right_along>(b, right, step, k, mine_across, across);
      HD_UNROLL
      for (int q = 0; q < 4; ++q)
        HD_UNROLL
      for (int i = 0; i < height; ++i)
        HD_UNROLL
      for (int j = 0; j < width; ++j) sum[i][j] = fma(a[q][i], b[q][j], sum[i][j]);
    }
  }
#else
  template <class Left, class Right>
  HD_DEVICE void multiply(const Left& left, const Right& right, int step) {
    for (int k = 0; k < Left::depth; ++k)
      for (int i = 0; i < height; ++i)
        for (int j = 0; j < width; ++j) sum[i][j] = fma(float(*left.at(step, i, k)), float(*right.at(step, j, k)), sum[i][j]);
  }
#endif
};

// The parts of the addresses of a thread's packets, and of their positions in an image, that do not change from step to
// step.
template <class Index, class T, int width>
struct Offsets {
  Index item[T::slots(HD_WIDTH(width))];
};
// Two small numbers in one word. Each may be negative in intermediate results.
HD_DEVICE u32 pair(int a, int b) { return (u32)a * 65536u + (u32)b; }
// Whether 0 <= a < n and 0 <= b < m: a number outside sets the highest bit of its half, here or in the difference to n
// - 1 or m - 1.
template <int n, int m>
HD_DEVICE bool within(u32 ab) {
  return ((ab | (pair(n - 1, m - 1) - ab)) & 0x80008000u) == 0;
}

template <class Sums_, class Left_, class Right_>
struct Product {
  using Sums = Sums_;
  using Left = Left_;
  using Right = Right_;
  static constexpr int tile_rows = Left::rows, tile_columns = Right::rows, depth = Left::depth, threads = Left::threads;
#if defined(HD_CUDA)
  static constexpr int ahead = Left::stages - 1;  // steps that are copied while one is multiplied
#else
  static constexpr int ahead = 0;
#endif
};

template <class Index>
HD_DEVICE constexpr Index cut(Index n, Index by) {
  return (n + by - 1) / by;
}

// A side's tile for tensor cores or fma; one step at a time on the host.
#if defined(HD_CUDA)
#define HD_STAGES(stages) (stages)
#define HD_PRODUCT_THREADS(threads) (threads)
#else
#define HD_STAGES(stages) 1
#define HD_PRODUCT_THREADS(threads) 1
#endif
template <class S, int rows, int columns, int depth, int threads, int stages, bool left_along, bool right_along>
using FmaProduct =
    Product<FmaSums<rows, columns, threads, left_along, right_along>,
            SideTile<S, rows, depth, left_along, HD_STAGES(stages), HD_PRODUCT_THREADS(threads)>,
            SideTile<S, columns, depth, right_along, HD_STAGES(stages), HD_PRODUCT_THREADS(threads)>>;

// Called after the copies for `step` were started. Multiplies the step that is ready.
template <class P>
HD_DEVICE void multiply(typename P::Sums& sums, const typename P::Left& left, const typename P::Right& right, int step) {
#if defined(HD_CUDA)
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
  if (step >= P::ahead) sums.multiply(left, right, step - P::ahead);
}
// Called before each step. Waits until the tiles of the next multiplication are filled, and nobody reads the tiles that
// are filled next.
template <class P>
HD_DEVICE bool arrive() {
#if defined(HD_CUDA)
  asm volatile("cp.async.wait_group %0;" ::"n"(P::ahead - 1) : "memory");
  barrier();
#endif
  return true;
}

}  // namespace hd

#if defined(HD_CUDA)
#define HD_SIDE(T, name, first_byte) typename T& name = hd::in_shared<typename T>(first_byte)
#define HD_BY_FOUR _Pragma("unroll 4")
// A compile-time constant: false for sums that lie outside of the result for every thread. They are not computed.
#define HD_USED(P, i, j, rows, columns) P::Sums::least_row(i) < (rows) && P::Sums::least_column(j) < (columns)
#define HD_EACH_PRODUCT(Index, item, count) \
  for (Index item = hd::block(); item < (count); item += hd::blocks())
#else
#define HD_SIDE(T, name, first_byte) typename T name
#define HD_BY_FOUR
#define HD_USED(P, i, j, rows, columns) true
#define HD_EACH_PRODUCT(Index, item, count) \
  for (Index hd_count = (count), item = hd::first<Index>(hd_count), hd_last = hd::last<Index>(hd_count); item < hd_last; ++item)
#endif

// The loop over the tiles of `matrices` results of rows x columns. Each part of a tile is the work of one block.
#define HD_PRODUCTS(Index, P, tile, part, matrix, top, left, parts, matrices, rows, columns)                        \
  HD_EACH_PRODUCT(Index, hd_item, (parts) * (matrices) * hd::cut<Index>(rows, P::tile_rows) * hd::cut<Index>(columns, P::tile_columns)) \
    if (const Index tile = hd_item / (parts), part = hd_item % (parts),                                             \
                    left = tile % hd::cut<Index>(columns, P::tile_columns) * P::tile_columns,                                 \
                    top = tile / hd::cut<Index>(columns, P::tile_columns) % hd::cut<Index>(rows, P::tile_rows) * P::tile_rows,     \
                    matrix = tile / (hd::cut<Index>(columns, P::tile_columns) * hd::cut<Index>(rows, P::tile_rows));          \
        true)
// The loop over the steps of a part. Its body fills the sides' tiles for `step`, from k = `from` on, and multiplies an
// earlier step.
#define HD_STEPS(Index, P, step, from, part, parts, k)                                                              \
  for (Index hd_each = hd::cut<Index>(hd::cut<Index>(k, P::depth), parts), hd_from = hd_each * (part),              \
             hd_steps = hd::least(hd_each, hd::cut<Index>(k, P::depth) - hd_from), step = 0;                        \
       step < hd_steps + P::ahead; ++step)                                                                          \
    if (const Index from = (hd_from + step) * P::depth; hd::arrive<P>())
#define HD_FILLS(step) if (step < hd_steps)
// The loop over this thread's packets of a side's tile; `slot` counts them. Copies are unrolled by four, because the
// addresses of all of them would need too many registers. Computed elements wait in registers, so their loop (HD_FILL)
// is unrolled completely.
#define HD_FILL(Index, T, slot, row, k, top, from, width) HD_IN_REGISTERS HD_FILL_SLOTS(Index, T, slot, row, k, top, from, width)
#define HD_COPIES(Index, T, slot, row, k, top, from, width) HD_BY_FOUR HD_FILL_SLOTS(Index, T, slot, row, k, top, from, width)
#define HD_FILL_SLOTS(Index, T, slot, row, k, top, from, width)                                                     \
  for (int slot = 0; slot < T::slots(HD_WIDTH(width)); ++slot)                                                      \
    if (const Index row = top + T::row_of(slot, HD_WIDTH(width)), k = from + T::k_of(slot, HD_WIDTH(width));        \
        T::has(slot, HD_WIDTH(width)))
// The loop over the sums of this thread that lie inside the result, `packet` neighbouring columns at once.
#define HD_SUMS(Index, P, i, j, row, column, top, left, rows, columns, packet)                                       \
  HD_IN_REGISTERS                                                                                                         \
  for (int i = 0; i < P::Sums::height; ++i)                                                                         \
    HD_IN_REGISTERS                                                                                                       \
  for (int j = 0; j < P::Sums::width; j += HD_WIDTH(packet))                                                         \
    if (const Index row = top + P::Sums::row_of(i), column = left + P::Sums::column_of(j);                                \
        HD_USED(P, i, j, rows, columns) &&                                                                           \
        ((rows) % P::tile_rows == 0 || row < (rows)) && ((columns) % P::tile_columns == 0 || column < (columns)))
