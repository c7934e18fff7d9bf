#include "runtime/host/heap.h"

#if HEDDLE_SANITIZED

void heddle::runtime::use_small_object_heap() {}

#else

#include <mimalloc.h>

#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <new>

#include "runtime/host/step_memory.h"

namespace heddle::runtime {
namespace {

constinit thread_local bool small_objects = false;

// mimalloc recognises its objects by their addresses. But arrays of a GiB, and all objects where the system does not
// grant the addresses it asks for, lie outside of the addresses it checks. Such an object would be freed as one of
// malloc's, which is an error.
bool is_known_again(void* p) {
  constexpr int kGranule = 22;  // 4 MiB: no segment of mimalloc is smaller
  thread_local constinit uintptr_t known[64] = {};
  const uintptr_t granule = reinterpret_cast<uintptr_t>(p) >> kGranule;
  uintptr_t& last = known[granule % std::size(known)];
  if (last == granule) return true;
  if (!mi_is_in_heap_region(p)) return false;
  last = granule;
  return true;
}

void* take_small(size_t bytes, size_t align) {
  void* p = align <= alignof(std::max_align_t) ? mi_malloc(bytes) : mi_malloc_aligned(bytes, align);
  if (p == nullptr || is_known_again(p)) return p;
  mi_free(p);
  small_objects = false;  // it would fail again on this machine
  return nullptr;
}

void* take_of_heap(size_t bytes, size_t align) {
  constexpr size_t kLargest = size_t{1} << 20;  // beyond, malloc is as fast, and gives memory back at once
  const bool ordinary = align <= alignof(std::max_align_t);
  if (small_objects && bytes <= kLargest)
    if (void* p = take_small(bytes, align)) return p;
  if (ordinary) return std::malloc(bytes == 0 ? 1 : bytes);
  void* p = nullptr;
  return posix_memalign(&p, align, bytes) == 0 ? p : nullptr;
}

void* allocate(size_t bytes, size_t align) {
  if (void* p = StepMemory::take(bytes, align)) return p;
  for (;;) {
    if (void* p = take_of_heap(bytes, align)) return p;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void release(void* p) {
  if (StepMemory::give_back(p)) return;
  if (mi_is_in_heap_region(p))
    mi_free(p);
  else
    std::free(p);
}

}  // namespace

void use_small_object_heap() { small_objects = true; }

}  // namespace heddle::runtime

// The array and nothrow forms of the C++ library call these.
void* operator new(size_t bytes) { return heddle::runtime::allocate(bytes, alignof(std::max_align_t)); }
void* operator new(size_t bytes, std::align_val_t align) {
  return heddle::runtime::allocate(bytes, static_cast<size_t>(align));
}
void operator delete(void* p) noexcept { heddle::runtime::release(p); }
void operator delete(void* p, size_t) noexcept { heddle::runtime::release(p); }
void operator delete(void* p, std::align_val_t) noexcept { heddle::runtime::release(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { heddle::runtime::release(p); }

#endif
