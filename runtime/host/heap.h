// The product's operator new and delete.
//
//   use_small_object_heap();   // in main: this thread compiles
//
// Where a StepMemory lives it serves. Else a thread that has asked for it takes objects of up to 1
// MiB from mimalloc: a compilation makes millions of small ones, and takes 1.3 s there where it
// takes 2.2 s with malloc. Larger objects, all other threads and all libraries use malloc: mimalloc
// takes tens of MiB of address space for each thread. Under AddressSanitizer, which has an operator
// new of its own, nothing of this is there.
#pragma once

namespace heddle::runtime {

void use_small_object_heap();  // on this thread, to its end

}  // namespace heddle::runtime
