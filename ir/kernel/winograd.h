// winograd_work: the operations of a convolution by Winograd's transforms (runtime/host/winograd.h): 3 x 3 windows with
// stride 1, and results in tiles of 4 x 4.
//
//   conv2d of [128,32,32,16] and [16,3,3,16]  ->  a quarter of the multiplications, and transforms that take longer than these
//   conv2d of [128,8,8,64] and [64,3,3,64]    ->  the same quarter, and transforms that take half as long
#pragma once
#include "ir/graph.h"

namespace heddle::ir {

// The `impl` of a library call that uses these transforms.
inline constexpr const char* kWinograd = "winograd";

struct WinogradWork {
  double flops = 0;        // of the products and all transforms
  double as_products = 0;  // the flops of products that would take the same time
  double direct = 0;       // flops of the direct convolution
};
// For a node of the convolution family whose result is images (NHWC, one group), for this many images.
WinogradWork winograd_work(const Graph& g, const Node& n, int64_t images);

}  // namespace heddle::ir
