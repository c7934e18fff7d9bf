#pragma once
// Products over a long k: after each run of steps what a thread has summed up joins second sums. These are floats, too, where there
// are about as many runs as there are products in one; of more, wide numbers.
namespace hd {

template <class Sums, class Second>
struct SumsInRuns : Sums {
  Second runs[Sums::height][Sums::width];

  HD_DEVICE void flush() {
    HD_IN_REGISTERS
    for (int i = 0; i < Sums::height; ++i)
      HD_IN_REGISTERS
    for (int j = 0; j < Sums::width; ++j) {
      runs[i][j].add(Sums::sum[i][j]);
      Sums::sum[i][j] = 0.0f;
    }
  }
  HD_DEVICE void finish() {
    flush();
    HD_IN_REGISTERS
    for (int i = 0; i < Sums::height; ++i)
      HD_IN_REGISTERS
    for (int j = 0; j < Sums::width; ++j) Sums::sum[i][j] = runs[i][j].result();
  }
};

template <class P, class Second>
using ProductInRuns = Product<SumsInRuns<typename P::Sums, Second>, typename P::Left, typename P::Right>;

}  // namespace hd
