// Row product: c = a b + bias. The bits of a row of c depend on that row of a alone, and not on the other rows or their
// number. So a text in a batch gets the same result as alone. oneDNN does not promise this: it computes rows in groups,
// and the order of its sums may depend on the group.
//
//   a: [m,k], b: [n,k] (`transposed`) or [k,n]   ->   c: [m,n], rows of it `stride` floats apart
//
// A transposed b may be whole numbers of 8 bits, which become floats in registers: c = scale a b + bias.
//
// It is fast for few rows: it reads b once and in place, where a general product copies it first. Equal rows at the end
// are computed once. The order of an element's sum is fixed. b [n,k]: 16 sums, each of every 16th product, are added in
// pairs; for whole numbers each is of 4 adjacent products of every 64. b [k,n]: one product after another, in runs of
// 1,024.
#pragma once
#include <cstdint>
#include <vector>

namespace heddle::runtime {

struct RowProduct {
  const float *a = nullptr, *b = nullptr;
  const int8_t* wholes = nullptr;  // instead of b
  float* room = nullptr;           // with `wholes`: room_for_wholes(*this) floats
  const float* scale = nullptr;    // with `wholes`: one per column of c, or none
  const float* bias = nullptr;     // one per column of c, or none
  float* c = nullptr;
  int64_t m = 0, n = 0, k = 0;
  int64_t b_stride = 0, c_stride = 0;  // elements between rows of b and of c; rows of a lie without gaps
  bool transposed = false;
  bool ends_in_zeros = false;  // a row of a may end in many zeros, which are skipped: attention weights of masked keys
};

void multiply(const RowProduct& p);
int64_t room_for_wholes(const RowProduct& p);

// The variants of `multiply` for instruction sets. `multiply` is the first that this processor can run. All variants
// with `fused` (fused multiply-add) give the same bits.
struct RowProductCode {
  const char* instructions;
  bool fused;
  void (*multiply)(const RowProduct& p);
};
std::vector<RowProductCode> row_product_codes();

}  // namespace heddle::runtime
