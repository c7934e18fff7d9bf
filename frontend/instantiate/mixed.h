// What a mixed training (train.precision) leaves in an instance for passes/mixed_precision.h: products that say so, and
// casts of f32 to f32, behind which nothing has 16 bits.
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
// All products of f32 from this place of the order on.
void mark_products(ir::Graph& g, size_t first, const std::string& precision);
// v as whoever computes in f32 reads it: itself where the training is not mixed, or nothing computes v.
ir::ValueId fixed_in_f32(Instance& e, const Model& model, ir::ValueId v);

}  // namespace heddle::frontend
