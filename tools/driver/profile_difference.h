// What changed between two profiles: kernels are matched by what they compute and where the model says so, never by
// the numbers in their names.
//
//   k_mul_add_3 (mul add, m.json:12) 20 us, k_mul_add (mul add, m.json:14) 5 us
//   k_mul_add (mul add, m.json:12)   28 us, k_mul_add_1 (mul add, m.json:14) 5 us
//     ->   +8 us mul add m.json:12;  0 us mul add m.json:14
#pragma once
#include <vector>

#include "tools/driver/profile.h"

namespace heddle::driver {

struct KernelChange {
  const ProfiledKernel *before = nullptr, *after = nullptr;  // nullptr: it is new, or gone
  double seconds() const { return (after ? after->seconds : 0) - (before ? before->seconds : 0); }
  const ProfiledKernel& kernel() const { return after ? *after : *before; }
};

// The largest change first. Points into both profiles.
std::vector<KernelChange> difference(const Profile& before, const Profile& after);

}  // namespace heddle::driver
