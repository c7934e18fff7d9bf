#include "tests/unit/allocations.h"

#include <atomic>
#include <cstddef>

#if !HEDDLE_SANITIZED
#include <mimalloc.h>
#endif

namespace {
std::atomic<int64_t> count{0};
}

namespace heddle::test {
int64_t allocations() { return count.load(); }
}  // namespace heddle::test

#if HEDDLE_SANITIZED
// Of the sanitizer's interface, whose header g++ lacks.
extern "C" size_t __sanitizer_get_current_allocated_bytes();
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*, size_t),
                                                         void (*on_free)(const volatile void*));
namespace heddle::test {
int64_t live_bytes() { return static_cast<int64_t>(__sanitizer_get_current_allocated_bytes()); }
}  // namespace heddle::test

// The sanitizer owns malloc, and offers a hook instead.
namespace {
const int installed = __sanitizer_install_malloc_and_free_hooks([](const volatile void*, size_t) { ++count; },
                                                                [](const volatile void*) {});
}
#else
namespace heddle::test {
int64_t live_bytes() { return 0; }
}  // namespace heddle::test

// mimalloc's own entries do the work; operator new and the libraries call these.
extern "C" void* malloc(size_t n) noexcept {
  ++count;
  return mi_malloc(n);
}
extern "C" void* calloc(size_t n, size_t size) noexcept {
  ++count;
  return mi_calloc(n, size);
}
extern "C" void* realloc(void* p, size_t n) noexcept {
  ++count;
  return mi_realloc(p, n);
}
extern "C" void* aligned_alloc(size_t align, size_t n) noexcept {
  ++count;
  return mi_aligned_alloc(align, n);
}
extern "C" int posix_memalign(void** p, size_t align, size_t n) noexcept {
  ++count;
  return mi_posix_memalign(p, align, n);
}
#endif
