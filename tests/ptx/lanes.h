// Lanes of a register as C++ values, and operations applied to all lanes that take part.
//
//   apply<Sum, uint32_t, uint32_t, uint32_t>   is the execution of   add.u32 d, a, b
//
// Values narrower than 32 bits lie in lanes of 32.
#pragma once
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "tests/ptx/machine.h"

namespace heddle::ptx {

template <int bytes>
using UnsignedOf =
    std::conditional_t<bytes == 1, uint8_t,
                       std::conditional_t<bytes == 2, uint16_t, std::conditional_t<bytes == 4, uint32_t, uint64_t>>>;
template <class T>
using LaneOf = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <class T>
T get(const std::byte* lanes, int lane) {
  LaneOf<T> word;
  std::memcpy(&word, lanes + static_cast<size_t>(lane) * sizeof word, sizeof word);
  return std::bit_cast<T>(static_cast<UnsignedOf<sizeof(T)>>(word));
}
template <class T>
void set(std::byte* lanes, int lane, T value) {
  const LaneOf<T> word = std::bit_cast<UnsignedOf<sizeof(T)>>(value);
  std::memcpy(lanes + static_cast<size_t>(lane) * sizeof word, &word, sizeof word);
}
// A lane of either width, without a sign.
inline uint64_t get_any(const std::byte* lanes, int lane, bool wide) {
  return wide ? get<uint64_t>(lanes, lane) : get<uint32_t>(lanes, lane);
}
inline void set_any(std::byte* lanes, int lane, bool wide, uint64_t value) {
  if (wide)
    set<uint64_t>(lanes, lane, value);
  else
    set<uint32_t>(lanes, lane, static_cast<uint32_t>(value));
}

template <class F>
void each_lane(Lanes lanes, F f) {
  for (; lanes != 0; lanes &= lanes - 1) f(std::countr_zero(lanes));
}

template <class T>
struct AllLanes {
  T value[kLanes];
  explicit AllLanes(const std::byte* from) {
    for (int l = 0; l < kLanes; ++l) value[l] = get<T>(from, l);
  }
};

// All lanes at once are loops that the compiler turns into vector instructions: operands are copied first, so that it
// need not ask whether the result is one of them.
template <class Op, class R, class... A, size_t... k>
void apply_to(Warp& w, const Instruction& i, Lanes lanes, std::index_sequence<k...>) {
  std::byte* to = w.at(i.slot[0]);
  if (lanes == kAllLanes) {
    const auto all = [&](const AllLanes<A>&... a) {
      R result[kLanes];
      for (int l = 0; l < kLanes; ++l) result[l] = Op()(a.value[l]...);
      for (int l = 0; l < kLanes; ++l) set<R>(to, l, result[l]);
    };
    all(AllLanes<A>(w.at(i.slot[k + 1]))...);
    return;
  }
  each_lane(lanes, [&](int l) { set<R>(to, l, Op()(get<A>(w.at(i.slot[k + 1]), l)...)); });
}
template <class Op, class R, class... A>
void apply(Warp& w, const Instruction& i, Lanes lanes) {
  apply_to<Op, R, A...>(w, i, lanes, std::index_sequence_for<A...>());
}

// A mask of the lanes of which the operation says true.
template <class Op, class A>
Lanes test(Warp& w, uint32_t a, uint32_t b, Lanes lanes) {
  Lanes result = 0;
  const std::byte* x = w.at(a);
  const std::byte* y = w.at(b);
  if (lanes == kAllLanes) {
    for (int l = 0; l < kLanes; ++l) result |= static_cast<Lanes>(Op()(get<A>(x, l), get<A>(y, l))) << l;
    return result;
  }
  each_lane(lanes, [&](int l) { result |= static_cast<Lanes>(Op()(get<A>(x, l), get<A>(y, l))) << l; });
  return result;
}

}  // namespace heddle::ptx
