#pragma once
// Monoids: the accumulators of reductions. `add` takes an element and its index k in the reduction; `merge` takes
// another accumulator. A new accumulator is the identity.
namespace hd {

#define HD_MONOID(name, identity, combine)                \
  template <class A>                                      \
  struct name {                                           \
    A value = identity;                                   \
    HD_DEVICE void add(A x, int = 0) { value = combine; } \
    HD_DEVICE void merge(const name& other) { add(other.value); } \
    HD_DEVICE A result() const { return value; }          \
  };
HD_MONOID(Sum, A(0), hd::add(value, x))
HD_MONOID(Prod, A(1), mul(value, x))
HD_MONOID(Max, lowest<A>(), max(x, value))
HD_MONOID(Min, largest<A>(), min(x, value))
#undef HD_MONOID

// A long sum is added up in runs of this many elements, and each run is added to a wider number. In a single float, a
// sum of 20 million ones would stop at 16,777,216.
constexpr int kRun = 32;

// `count` wider numbers: doubles for floats; for doubles a pair, whose second number adds up the rounding errors of the
// first. The two are separate arrays, so that the host vectorises over the places.
template <class A, int count>
struct Wide {
  double value[count] = {};
  HD_DEVICE void add(int i, A x) { value[i] = value[i] + (double)x; }
  HD_DEVICE A result(int i) const { return (A)value[i]; }
};
template <int count>
struct Wide<double, count> {
  double value[count] = {}, lost[count] = {};
  HD_DEVICE void add(int i, double x) {
    const double before = value[i], sum = before + x, of_x = sum - before;
    lost[i] = lost[i] + ((before - (sum - of_x)) + (x - of_x));
    value[i] = sum;
  }
  // The errors of an infinite sum are NaN: return the sum alone.
  HD_DEVICE double result(int i) const {
    const double all = value[i] + lost[i];
    return all == all ? all : value[i];
  }
};

// One long sum. It takes elements as Sum does; `flush` ends a run.
template <class M>
struct alignas(4 * sizeof(M)) Long {
  M run;
  Wide<decltype(M().value), 1> runs;
  template <class A>
  HD_DEVICE void add(A x, int = 0) { run.add(x); }
  HD_DEVICE void flush() {
    runs.add(0, run.value);
    run = M();
  }
  HD_DEVICE M sum() const {
    Long all = *this;
    all.flush();
    return {all.runs.result(0)};
  }
  HD_DEVICE auto result() const { return sum().result(); }
};
template <class M>
HD_DEVICE void flush(Long<M>& sum) {
  sum.flush();
}
template <class S, int width>
HD_DEVICE void flush(Elements<S, width>& sums) {
  HD_UNROLL
  for (int k = 0; k < width; ++k) sums[k].flush();
}

// Whether each addition of the monoid rounds.
template <class M>
constexpr bool is_rounded_sum = false;
template <>
inline constexpr bool is_rounded_sum<Sum<float>> = true;
template <>
inline constexpr bool is_rounded_sum<Sum<double>> = true;

// `count` accumulators that take elements in a fixed order, one element for each accumulator per turn. If `in_runs`,
// they are long sums: `end_run` may be called after any turn. `so_far` reads a sum between turns.
template <class M, int count, bool in_runs>
struct InOrder {
  M all[count];
  template <class A>
  HD_DEVICE void start(int i, A x) {
    all[i].value = x;
  }
  template <class A>
  HD_DEVICE void add(int i, A x) {
    all[i].add(x);
  }
  HD_DEVICE auto so_far(int i) const { return all[i].value; }
  HD_DEVICE void end_run() {}
};
template <class M, int count>
struct InOrder<M, count, true> {
  using A = decltype(M().value);
  M run[count];
  Wide<A, count> runs;
  A before[count] = {};
  HD_DEVICE void start(int i, A x) {
    runs.add(i, x);
    before[i] = x;
  }
  HD_DEVICE void add(int i, A x) { run[i].add(x); }
  HD_DEVICE A so_far(int i) const { return before[i] + run[i].value; }
  HD_DEVICE void end_run() {
    HD_IVDEP for (int i = 0; i < count; ++i) {
      runs.add(i, run[i].value);
      run[i] = M();
      before[i] = runs.result(i);
    }
  }
};
template <class M, int count, i64 turns>
using SumInOrder = InOrder<M, count, is_rounded_sum<M> && (turns > kRun)>;
// The type in which an accumulator holds an element. A short beside an int would leave a gap of uninitialised bytes,
// which a copy of the whole struct would read.
template <class A, int bytes>
struct Held {
  using Type = A;
};
template <class A>
struct Held<A, 1> {
  using Type = int;
};
template <class A>
struct Held<A, 2> {
  using Type = int;
};

// The largest (or smallest) element, and the index of the first one. NaN wins over everything.
template <class A, bool largest_wins>
struct ArgBest {
  static constexpr int kNone = 0x7fffffff;
  using Value = typename Held<A, sizeof(A)>::Type;
  Value value = Value(0);
  int index = kNone;
  HD_DEVICE static bool better(Value a, Value b) { return (largest_wins ? a > b : a < b) || (a != a && b == b); }
  HD_DEVICE void add(A x, int k) {
    const bool take = index == kNone || better(x, value);
    value = take ? x : value;
    index = take ? k : index;
  }
  HD_DEVICE void merge(const ArgBest& other) {
    const bool tie = !better(value, other.value) && !better(other.value, value) && other.index < index;
    const bool take = other.index != kNone && (index == kNone || better(other.value, value) || tie);
    value = take ? other.value : value;
    index = take ? other.index : index;
  }
  HD_DEVICE const ArgBest& result() const { return *this; }
};
template <class A>
using ArgMax = ArgBest<A, true>;
template <class A>
using ArgMin = ArgBest<A, false>;

}  // namespace hd
