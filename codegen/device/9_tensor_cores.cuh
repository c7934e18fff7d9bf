#pragma once
// Products by tensor cores: operands have 16 bits, or are f32 rounded to TF32; sums are f32. A warp takes 32 rows. The
// host rounds the operands in the same way, and adds one product after the other.
namespace hd {

// Rounds to ten bits of fraction, to nearest, ties away from zero, as cvt.rna does.
HD_DEVICE float to_tf32(float x) {
#if defined(HD_CUDA)
  u32 word;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(word) : "f"(x));
  return bits<float>(word);
#else
  const u32 word = bits<u32>(x);
  return (word & 0x7f800000u) == 0x7f800000u ? x : bits<float>((word + 0x1000u) & 0xffffe000u);
#endif
}
template <class S>
HD_DEVICE float multiplied(S x) {
  if constexpr (sizeof(S) == 4) return to_tf32(x);
  else return float(x);
}

#if defined(HD_CUDA)
// d += a b for 16 x `k` times `k` x 8. The layout of the fragments in the lanes is that of mma.sync in the PTX manual.
HD_DEVICE void multiply_fragments(float (&top)[2], float (&bottom)[2], const u32 (&a)[4], const u32 (&b)[2], bf16) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(top[0]), "+f"(top[1]), "+f"(bottom[0]), "+f"(bottom[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
HD_DEVICE void multiply_fragments(float (&top)[2], float (&bottom)[2], const u32 (&a)[4], const u32 (&b)[2], half) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(top[0]), "+f"(top[1]), "+f"(bottom[0]), "+f"(bottom[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
HD_DEVICE void multiply_fragments(float (&top)[2], float (&bottom)[2], const u32 (&a)[4], const u32 (&b)[2], float) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(top[0]), "+f"(top[1]), "+f"(bottom[0]), "+f"(bottom[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Loads four (two) matrices of 8 x 8 words of 16 bits. Each lane passes the address of a row of one matrix.
template <bool turned>
HD_DEVICE void load_matrices(u32 (&to)[4], const void* row) {
  const u32 from = (u32)__cvta_generic_to_shared(row);
  if constexpr (turned)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(from) : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(from) : "memory");
}
template <bool turned>
HD_DEVICE void load_matrices(u32 (&to)[2], const void* row) {
  const u32 from = (u32)__cvta_generic_to_shared(row);
  if constexpr (turned)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(to[0]), "=r"(to[1]) : "r"(from) : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "r"(from) : "memory");
}
#endif

template <int rows, int columns, int threads, bool left_along, bool right_along>
struct TensorSums {
#if defined(HD_CUDA)
  static constexpr int down = rows / 32, across = threads / 32 / down;  // warps
  static constexpr int height = 4, width = columns / across / 4;       // two of each 16 rows, two of each 8 columns
#else
  static constexpr int height = rows, width = columns;
#endif
  float sum[height][width] = {};
  HD_DEVICE float get(int i, int j) const { return sum[i][j]; }

#if defined(HD_CUDA)
  HD_DEVICE static int lane() { return thread() % 32; }
  HD_DEVICE static int top() { return thread() / 32 / across * 32; }
  HD_DEVICE static int left() { return thread() / 32 % across * (columns / across); }
  HD_DEVICE static int row_of(int i) { return top() + i * 8 + lane() / 4; }
  HD_DEVICE static int column_of(int j) { return left() + j / 2 * 8 + lane() % 4 * 2 + j % 2; }
  HD_DEVICE static constexpr int least_row(int i) { return i * 8; }  // of all threads
  HD_DEVICE static constexpr int least_column(int j) { return j / 2 * 8 + j % 2; }

  template <class Left, class Right>
  HD_DEVICE void multiply(const Left& a, const Right& b, int step) {
    constexpr int deep = sizeof(typename Left::Element) == 4 ? 8 : 16;
    HD_UNROLL
    for (int k = 0; k < Left::depth; k += deep) {
      u32 x[height / 2][4];
      HD_UNROLL
      for (int i = 0; i < height / 2; ++i) left_fragment(x[i], a, step, top() + i * 16, k);
      HD_UNROLL
      for (int j = 0; j < width / 2; ++j) {
        u32 y[2];
        right_fragment(y, b, step, left() + j * 8, k);
        HD_UNROLL
        for (int i = 0; i < height / 2; ++i) {
          float upper[2] = {sum[i * 2][j * 2], sum[i * 2][j * 2 + 1]};
          float lower[2] = {sum[i * 2 + 1][j * 2], sum[i * 2 + 1][j * 2 + 1]};
          multiply_fragments(upper, lower, x[i], y, typename Left::Element());
          HD_UNROLL
          for (int e = 0; e < 2; ++e) {
            sum[i * 2][j * 2 + e] = upper[e];
            sum[i * 2 + 1][j * 2 + e] = lower[e];
          }
        }
      }
    }
  }

  template <class Tile>
  HD_DEVICE static void left_fragment(u32 (&to)[4], const Tile& tile, int step, int row, int k) {
    const int l = lane();
    if constexpr (sizeof(typename Tile::Element) == 4) {
      HD_UNROLL
      for (int e = 0; e < 4; ++e) to[e] = bits<u32>(to_tf32(*tile.at(step, row + l / 4 + e % 2 * 8, k + l % 4 + e / 2 * 4)));
    } else if constexpr (left_along) {
      load_matrices<false>(to, tile.at(step, row + l % 16, k + l / 16 * 8));
    } else {
      load_matrices<true>(to, tile.at(step, row + l / 8 % 2 * 8, k + l / 16 * 8 + l % 8));
    }
  }
  template <class Tile>
  HD_DEVICE static void right_fragment(u32 (&to)[2], const Tile& tile, int step, int column, int k) {
    const int l = lane();
    if constexpr (sizeof(typename Tile::Element) == 4) {
      HD_UNROLL
      for (int e = 0; e < 2; ++e) to[e] = bits<u32>(to_tf32(*tile.at(step, column + l / 4, k + l % 4 + e * 4)));
    } else if constexpr (right_along) {
      load_matrices<false>(to, tile.at(step, column + l % 8, k + l / 8 % 2 * 8));
    } else {
      load_matrices<true>(to, tile.at(step, column, k + l % 16));
    }
  }
#else
  HD_DEVICE static int row_of(int i) { return i; }
  HD_DEVICE static int column_of(int j) { return j; }
  template <class Left, class Right>
  HD_DEVICE void multiply(const Left& left, const Right& right, int step) {
    for (int k = 0; k < Left::depth; ++k)
      for (int i = 0; i < height; ++i)
        for (int j = 0; j < width; ++j)
          sum[i][j] = fma(multiplied(*left.at(step, i, k)), multiplied(*right.at(step, j, k)), sum[i][j]);
  }
#endif
};

template <class S, int rows, int columns, int depth, int threads, int stages, bool left_along, bool right_along>
using TensorProduct =
    Product<TensorSums<rows, columns, threads, left_along, right_along>,
            SideTile<S, rows, depth, left_along, HD_STAGES(stages), HD_PRODUCT_THREADS(threads)>,
            SideTile<S, columns, depth, right_along, HD_STAGES(stages), HD_PRODUCT_THREADS(threads)>>;

}  // namespace hd
