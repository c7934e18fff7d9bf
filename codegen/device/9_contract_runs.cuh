#pragma once
// Products over a long k: after each run of steps a thread adds its sums to second sums. These are floats if the number
// of runs is about the number of products in a run; if there are more runs, they are wide numbers.
namespace hd {

constexpr bool wide = true, narrow = false;  // the type of the second sums

template <int count, bool is_wide>
struct SecondSums {
  float value[count] = {};
  HD_DEVICE void add(int i, float x) { value[i] = value[i] + x; }
  HD_DEVICE float result(int i) const { return value[i]; }
};
template <int count>
struct SecondSums<count, true> : Wide<float, count> {};

template <class Sums, bool is_wide>
struct SumsInRuns : Sums {
  SecondSums<Sums::height * Sums::width, is_wide> runs;

  HD_DEVICE void flush() {
    HD_IN_REGISTERS
    for (int i = 0; i < Sums::height; ++i)
      HD_IN_REGISTERS
    for (int j = 0; j < Sums::width; ++j) {
      runs.add(i * Sums::width + j, Sums::sum[i][j]);
      Sums::sum[i][j] = 0.0f;
    }
  }
  HD_DEVICE void finish() {
    flush();
    HD_IN_REGISTERS
    for (int i = 0; i < Sums::height; ++i)
      HD_IN_REGISTERS
    for (int j = 0; j < Sums::width; ++j) Sums::sum[i][j] = runs.result(i * Sums::width + j);
  }
};

template <class P, bool is_wide>
using ProductInRuns = Product<SumsInRuns<typename P::Sums, is_wide>, typename P::Left, typename P::Right>;

}  // namespace hd
