// Counts heap allocations of the whole process, libraries included, for tests of what must not allocate.
#pragma once
#include <cstdint>

namespace heddle::test {

int64_t allocations();
int64_t live_bytes();  // on the heap

}  // namespace heddle::test
