// The memory of this process and of the machine, in bytes.
//
//   peak_resident_bytes() -> 25'600'000     most that was resident at once since the program started
#pragma once
#include <cstdint>

namespace heddle::runtime {

// The peak of this program alone. getrusage would return the parent's peak where that is larger, because a process
// keeps its peak across exec. 0 where the system does not tell.
int64_t peak_resident_bytes();
int64_t resident_bytes();  // at present; 0 where the system does not tell

// Main memory and swap, or a control group's limit if that is less: the most that could ever be allocated.
int64_t machine_memory_bytes();

}  // namespace heddle::runtime
