// Row product: c = a b + bias, where each row of c has the bits that it has alone, whatever the other rows are and however
// many there are. For a text beside others in a batch: oneDNN takes rows in groups, and may add up another group in
// another order.
//
//   a: [m,k], b: [n,k] (`transposed`) or [k,n]   ->   c: [m,n], rows of it `stride` floats apart
//
// Few rows are what it is good at: it reads b once, as it lies, where a general product copies it first. Rows at the end
// that are equal are made once. The order of an
// element's sum is fixed. b [n,k]: 16 sums, of each 16th product, are added in pairs. b [k,n]: one product after another,
// in runs of 1,024.
#pragma once
#include <cstdint>
#include <vector>

namespace heddle::runtime {

struct RowProduct {
  const float *a = nullptr, *b = nullptr, *bias = nullptr;  // bias: of the columns of c, or none
  float* c = nullptr;
  int64_t m = 0, n = 0, k = 0;
  int64_t b_stride = 0, c_stride = 0;  // floats between rows of b and of c; those of a lie without gaps
  bool transposed = false;
  bool ends_in_zeros = false;  // a row of a may end in many zeros, which nothing is read for: weights of hidden keys
};

void multiply(const RowProduct& p);

// What `multiply` may be, the first of those that this processor has. All that fuse products with their sums have the
// same bits.
struct RowProductCode {
  const char* instructions;
  bool fused;
  void (*multiply)(const RowProduct& p);
};
std::vector<RowProductCode> row_product_codes();

}  // namespace heddle::runtime
