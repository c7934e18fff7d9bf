// Monoid: how a reduction combines elements, such as sum or maximum. The device code is a class of the preamble
// (codegen/device/5_monoids.cuh). This record holds what the compiler knows about that class. To add a monoid, write
// the class, its record, and the operator that uses it.
#pragma once

namespace heddle::ir {

struct Monoid {
  const char* name;      // of the class template over the accumulation type
  bool indexed = false;  // takes an element with its index; an accumulator has acc.value and acc.index
  int words = 1;         // size of an accumulator, in elements of the accumulation type
  bool rounds = false;   // each step may round, so long float sums are split into runs (ir/kernel/long_sums.h)
  double add = 1;        // instructions to add an element, without those for its index
  double merge = 1;      // instructions to merge two accumulators
};

namespace monoids {
inline constexpr Monoid kSum{.name = "Sum", .rounds = true};
inline constexpr Monoid kProd{.name = "Prod"};
inline constexpr Monoid kMax{.name = "Max", .add = 4, .merge = 4};
inline constexpr Monoid kMin{.name = "Min", .add = 4, .merge = 4};
// `add`: three comparisons, the combination of their results, and a selection.
inline constexpr Monoid kArgMax{.name = "ArgMax", .indexed = true, .words = 2, .add = 6, .merge = 26};
inline constexpr Monoid kArgMin{.name = "ArgMin", .indexed = true, .words = 2, .add = 6, .merge = 26};
}  // namespace monoids

}  // namespace heddle::ir
