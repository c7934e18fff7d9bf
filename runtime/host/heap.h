// Heddle's operator new and delete.
//
//   use_small_object_heap();   // in main: this thread compiles
//
// While a StepMemory lives, it serves its thread. Otherwise, a thread that has called use_small_object_heap takes
// objects of up to 1 MiB from mimalloc. A compilation makes millions of small objects: it takes 1.3 s with mimalloc,
// 2.2 s with malloc. Larger objects, other threads and libraries that call malloc use malloc, because mimalloc takes
// tens of MiB of address space per thread. Builds with AddressSanitizer, which has its own operator new, have none of
// this.
#pragma once

namespace heddle::runtime {

void use_small_object_heap();  // for this thread, until it ends

}  // namespace heddle::runtime
