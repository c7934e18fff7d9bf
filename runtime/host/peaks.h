// Measures the peaks of the host's processors: operations per second, and bytes per second from caches and memory.
//
//   measure_peaks(2)   // half a second
//     -> {.flops = 4.1e11, .bandwidths = {{1 MB, 2.6e11}, {16 MB, 1e11}, {any, 3.6e10}}}
#pragma once
#include <cstdint>
#include <vector>

namespace heddle::runtime {

// The bandwidth of a loop that moves the same bytes again and again, at most `up_to_bytes` of them.
struct Bandwidth {
  int64_t up_to_bytes = 0;
  double bytes_per_second = 0;
};
struct Peaks {
  double flops = 0;                   // per second, f32, multiplications and additions
  std::vector<Bandwidth> bandwidths;  // by rising up_to_bytes; the last holds for any number
};

// Measures with `threads` threads; 0: one per processor that this process may use. Bandwidth is that of copies or of
// reads, whichever is faster. Throws UserError where the compiler is missing or fails, or there is too little memory.
Peaks measure_peaks(int threads);

}  // namespace heddle::runtime
