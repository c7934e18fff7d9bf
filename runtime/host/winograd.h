// Winograd's convolution for windows of 3 x 3 with stride 1 (Lavin and Gray 2016, arXiv:1509.09308): tiles of 4 x 4
// results, with a quarter of the multiplications.
//
//   filter g [k,3,3,c]          ->  U = G g G^T, 6 x 6 matrices [c,k], once per call
//   6 x 6 elements d of x       ->  V = B^T d B, for each channel
//   M = V U, 36 matrix products of some tiles' rows [tiles,c] and [c,k]
//   4 x 4 elements of y         <-  A^T M A, + bias, relu
//
// Sums are in f32, in the order of the channels. An element's bits depend on its own tile alone and not on other
// images. Compared with exact results, the normalised mean square error is about 1e-12; adding the products one after
// another has 5e-14. A nan or infinity makes all results of its tiles nan.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace heddle::runtime::winograd {

constexpr int64_t kTile = 4;           // results along each axis
constexpr int64_t kPatch = kTile + 2;  // elements of x that they read
constexpr int64_t kPoints = kPatch * kPatch;
constexpr int64_t kChannels = 16;  // input and output channels are multiples of it
constexpr int64_t kMostChannels = 1024;

struct Filter {
  const float* from = nullptr;  // [k,3,3,c]; of_gradient: [c,3,3,k], of the convolution whose data gradient is made
  float* to = nullptr;          // kPoints matrices [c,k]
  int64_t c = 0, k = 0;
  bool of_gradient = false;
};
inline int64_t filter_floats(int64_t c, int64_t k) { return kPoints * c * k; }

struct Images {
  const float *x = nullptr, *filter = nullptr, *bias = nullptr;  // `filter`: transformed; `bias`: [k], or none
  float *y = nullptr, *scratch = nullptr;
  int64_t images = 0, c = 0, k = 0;
  std::array<int64_t, 2> in = {}, out = {}, low = {};  // rows and columns; `low`: padding before the first
  bool relu = false;
};
int64_t scratch_floats(int64_t c, int64_t k);

// The code for an instruction set.
struct Code {
  const char* instructions;
  void (*convolve)(const Images& images);
  // Transforms the result channels `begin` to `end`, which are multiples of 16. Parts are independent.
  void (*transform)(const Filter& filter, int64_t begin, int64_t end);
};
std::vector<Code> codes();  // those that this processor can run, the widest first
const Code& code();         // the first

}  // namespace heddle::runtime::winograd
