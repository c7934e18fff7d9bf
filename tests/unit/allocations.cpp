#include "tests/unit/allocations.h"

#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

namespace {
std::atomic<int64_t> count{0};
}

namespace heddle::test {
int64_t allocations() { return count.load(); }
}  // namespace heddle::test

#if HEDDLE_SANITIZED
// The sanitizer owns malloc, and offers a hook instead.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*, size_t),
                                                         void (*on_free)(const volatile void*));
extern "C" size_t __sanitizer_get_current_allocated_bytes();
namespace heddle::test {
int64_t live_bytes() { return static_cast<int64_t>(__sanitizer_get_current_allocated_bytes()); }
}  // namespace heddle::test
namespace {
const int installed = __sanitizer_install_malloc_and_free_hooks([](const volatile void*, size_t) { ++count; },
                                                                [](const volatile void*) {});
}
#else
namespace heddle::test {
int64_t live_bytes() { return static_cast<int64_t>(mallinfo2().uordblks); }
}  // namespace heddle::test

// glibc's own entries do the work; operator new and the libraries call these.
extern "C" void* __libc_malloc(size_t);
extern "C" void* __libc_calloc(size_t, size_t);
extern "C" void* __libc_realloc(void*, size_t);
extern "C" void* __libc_memalign(size_t, size_t);
extern "C" void* malloc(size_t n) noexcept {
  ++count;
  return __libc_malloc(n);
}
extern "C" void* calloc(size_t n, size_t size) noexcept {
  ++count;
  return __libc_calloc(n, size);
}
extern "C" void* realloc(void* p, size_t n) noexcept {
  ++count;
  return __libc_realloc(p, n);
}
extern "C" void* aligned_alloc(size_t align, size_t n) noexcept {
  ++count;
  return __libc_memalign(align, n);
}
extern "C" int posix_memalign(void** p, size_t align, size_t n) noexcept {
  ++count;
  *p = __libc_memalign(align, n);
  return *p == nullptr ? ENOMEM : 0;
}
#endif
