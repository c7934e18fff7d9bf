#pragma once
// What reductions combine elements with. `add` takes an element and its index k in the reduction, `merge` another partial result.
// Each starts as its identity.
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

// What an accumulator holds of an element. A short beside an int leaves a gap, which copies of both at once would read.
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

// The first of the best elements; nan is better than anything.
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
