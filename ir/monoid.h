// Monoid: what a reduction combines elements with. Its class is in the preamble (codegen/device/5_monoids.cuh); all
// else that the compiler knows of it stands here. A new one is that class, its record, and the operator that uses it.
#pragma once

namespace heddle::ir {

struct Monoid {
  const char* name;      // of the class, over the accumulation type
  bool indexed = false;  // it takes an element with its index, and is acc.value and acc.index
  int words = 1;         // what it holds, each of the accumulation type's size
  bool rounds = false;   // adding up many floats rounds many times: long ones go in runs (ir/kernel/long_sums.h)
  double add = 1;        // instructions of adding an element, without its index
  double merge = 1;      // and of merging two
};

namespace monoids {
inline constexpr Monoid kSum{.name = "Sum", .rounds = true};
inline constexpr Monoid kProd{.name = "Prod"};
inline constexpr Monoid kMax{.name = "Max", .add = 4, .merge = 4};
inline constexpr Monoid kMin{.name = "Min", .add = 4, .merge = 4};
// Three comparisons, which of them, and a selection.
inline constexpr Monoid kArgMax{.name = "ArgMax", .indexed = true, .words = 2, .add = 6, .merge = 26};
inline constexpr Monoid kArgMin{.name = "ArgMin", .indexed = true, .words = 2, .add = 6, .merge = 26};
}  // namespace monoids

}  // namespace heddle::ir
