// What the host's processors do at most, measured: operations, and bytes from caches and memory.
//
//   measure_peaks(2)   // half a second
//     -> {.flops = 4.1e11, .bandwidths = {{1 MB, 2.6e11}, {16 MB, 1e11}, {any, 3.6e10}}}
#pragma once
#include <cstdint>
#include <vector>

namespace heddle::runtime {

// Bytes per second of what moves at most so many bytes, again and again.
struct Bandwidth {
  int64_t up_to_bytes = 0;
  double bytes_per_second = 0;
};
struct Peaks {
  double flops = 0;                   // per second, f32, multiplications and additions
  std::vector<Bandwidth> bandwidths;  // by rising up_to_bytes; the last holds for any number
};

// With so many threads; 0: as many as processors this process may use. Copies and reads are measured, and the faster
// of the two counts. Throws UserError where the compiler is missing or fails, or there is no memory.
Peaks measure_peaks(int threads);

}  // namespace heddle::runtime
