// Counts heap allocations of the whole process, libraries included, for tests of what must not allocate.
#pragma once
#include <cstdint>

namespace heddle::test {

int64_t allocations();
int64_t live_bytes();  // on the heap; 0 without the sanitizers, where `allocations` says more

}  // namespace heddle::test
