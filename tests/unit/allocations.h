// Counts heap allocations of the whole process, libraries included, for tests of what must not
// allocate. Of oneDNN 3, and of any without AVX-512, what it makes with `new` counts, and what it
// asks malloc for does not.
#pragma once
#include <cstdint>

namespace heddle::test {

int64_t allocations();
int64_t live_bytes();  // on the heap

}  // namespace heddle::test
