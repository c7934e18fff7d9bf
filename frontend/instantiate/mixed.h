// Marks in an instance for passes/mixed_precision.h, in a mixed-precision training (train.precision): products get the
// attribute `precision`, and casts from f32 to f32 mark values that later operators must read in f32.
//
//   %fc: f32[8,4] = matmul(%x, %fc.weight)                     ->  matmul(%x, %fc.weight) {precision = "mixed_bf16"}
//   %loss reads %fc, a node with "compute": "f32" reads %fc    ->  %fc.f32 = cast(%fc) {dtype = "f32"}
#pragma once
#include <string>

#include "frontend/instantiate/instantiate.h"

namespace heddle::frontend {

inline constexpr const char* kCompute = "compute";  // the setting of nodes, "f32"
bool computes_in_f32(const NodeDef& node);

bool is_mixed(const Model& model);
// Sets `precision` of all f32 products from index `first` of the graph's order on.
void mark_products(ir::Graph& g, size_t first, const std::string& precision);
// Returns a cast of v for readers that compute in f32. Returns v itself if the training is not mixed, or if no node
// computes v.
ir::ValueId fixed_in_f32(Instance& e, const Model& model, ir::ValueId v);

}  // namespace heddle::frontend
