#include "tests/unit/allocations.h"

#include <link.h>
#include <malloc.h>
#include <oneapi/dnnl/dnnl.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace {
std::atomic<int64_t> count{0};
}  // namespace

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
namespace {
// Where libdnnl's code lies. From version 3 on, and where the processor has no AVX-512, it asks
// malloc itself for parts of some primitives each time it executes them, beside what StepMemory
// serves: its own calls do not count then.
struct Code {
  uintptr_t begin = 0, end = 0;
};

int find_onednn(dl_phdr_info* info, size_t, void* data) {
  if (std::strstr(info->dlpi_name, "libdnnl.so") == nullptr) return 0;
  auto& code = *static_cast<Code*>(data);
  code.begin = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type == PT_LOAD) code.end = info->dlpi_addr + part.p_vaddr + part.p_memsz;
  }
  return 1;
}

const Code onednn = [] {
  Code code;
  const bool wide = (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core;
  if (DNNL_VERSION_MAJOR >= 3 || !wide) dl_iterate_phdr(find_onednn, &code);
  return code;
}();

void note(const void* caller) {
  const auto address = reinterpret_cast<uintptr_t>(caller);
  if (address < onednn.begin || address >= onednn.end) ++count;
}
}  // namespace

namespace heddle::test {
int64_t live_bytes() { return static_cast<int64_t>(mallinfo2().uordblks); }
}  // namespace heddle::test

// glibc's own entries do the work; operator new and the libraries call these.
extern "C" void* __libc_malloc(size_t);
extern "C" void* __libc_calloc(size_t, size_t);
extern "C" void* __libc_realloc(void*, size_t);
extern "C" void* __libc_memalign(size_t, size_t);
extern "C" void* malloc(size_t n) noexcept {
  note(__builtin_return_address(0));
  return __libc_malloc(n);
}
extern "C" void* calloc(size_t n, size_t size) noexcept {
  note(__builtin_return_address(0));
  return __libc_calloc(n, size);
}
extern "C" void* realloc(void* p, size_t n) noexcept {
  note(__builtin_return_address(0));
  return __libc_realloc(p, n);
}
extern "C" void* aligned_alloc(size_t align, size_t n) noexcept {
  note(__builtin_return_address(0));
  return __libc_memalign(align, n);
}
extern "C" int posix_memalign(void** p, size_t align, size_t n) noexcept {
  note(__builtin_return_address(0));
  *p = __libc_memalign(align, n);
  return *p == nullptr ? ENOMEM : 0;
}
#endif
