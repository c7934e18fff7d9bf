// What this process takes of the machine's memory, and what there is.
//
//   peak_resident_bytes() -> 25'600'000     most that was resident at once since the program started
#pragma once
#include <cstdint>

namespace heddle::runtime {

// Of this program alone: getrusage would tell the parent's where that is more, since a process
// keeps it when it starts another program. 0 where the system does not tell.
int64_t peak_resident_bytes();
int64_t resident_bytes();  // now; 0 where the system does not tell

// Main memory and swap, or less where a control group has a limit: what is larger never fits,
// whoever uses how much of it.
int64_t machine_memory_bytes();

}  // namespace heddle::runtime
