// Compares two profiles. Kernels are matched by their operators and their places in the model, not by the numbers in
// their names.
//
//   k_mul_add_3 (mul add, m.json:12) 20 us, k_mul_add (mul add, m.json:14) 5 us
//   k_mul_add (mul add, m.json:12)   28 us, k_mul_add_1 (mul add, m.json:14) 5 us
//     ->   +8 us mul add m.json:12;  0 us mul add m.json:14
#pragma once
#include <vector>

#include "tools/driver/profile.h"

namespace heddle::driver {

struct KernelChange {
  const ProfiledKernel *before = nullptr, *after = nullptr;  // nullptr: exists in one profile only
  double seconds() const { return (after ? after->seconds : 0) - (before ? before->seconds : 0); }
  const ProfiledKernel& kernel() const { return after ? *after : *before; }
};

// Sorted by the size of the change, the largest first. Points into both profiles.
std::vector<KernelChange> difference(const Profile& before, const Profile& after);

}  // namespace heddle::driver
