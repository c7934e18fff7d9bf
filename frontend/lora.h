// train.lora: thin matrices beside a weight, which train in its place (Hu et al. 2021, arXiv 2106.09685). Their names,
// shapes and initial values are those of the program PEFT, so that files of either load in the other.
//
//   "lora": {"rank": 2, "alpha": 4, "match": ["fc"]} of {"name": "fc", "op": "dense", "units": 3} over [N,8]
//     ->  %fc.lora_A.weight: f32[2,8], uniform on [-1, 1) / sqrt(8), and %fc.lora_B.weight: f32[3,2], zeros
//         %fc.mm: f32[N,3] = matmul(%x, %fc.weight) {transpose_b = true}
//         %fc.mm.thin: f32[N,2] = matmul(%x, %fc.lora_A.weight) {transpose_b = true}
//         %fc.mm.change: f32[N,3] = matmul(%fc.mm.thin * 4/2, %fc.lora_B.weight) {transpose_b = true}
//         %fc.mm.adapted: f32[N,3] = add(%fc.mm, %fc.mm.change)
//
// Products and lookups read the thin matrices on their own, so that no step holds a gradient of the weight's size.
// Whatever else reads the weight reads %fc.weight + 4/2 B A.
#pragma once
#include <string>

#include "frontend/instantiate/instantiate.h"
#include "frontend/layer_context.h"

namespace heddle::frontend {

// Whether the globs of `train` mean the weight: it is trained itself, and no adapter stands beside it.
bool trains_itself(const Lora& lora, const std::string& path);

// Whether the globs mean a weight of this path and type, and it has a place for them: a matrix that is a parameter.
bool adapts(const Lora& lora, const ParameterSpec& weight, const std::string& path);

// Whether the weight of this layer is a table of rows, as that of torch.nn.Embedding.
bool is_table(const std::string& layer);

// The path that an attention's first weight has, where this one is of the projection behind it; else "".
std::string beside_attention(const std::string& path);

// By the path of the weight. `lookup`: of a table. `attention`: the weight of a projection behind an attention.
AdapterPaths adapter_paths(const std::string& weight, bool lookup, bool attention);

// The thin matrices: `a` of [rank, in] and `b` of [out, rank]; of a table [out, in] they are [rank, out] and [in, rank],
// and lie in memory as those of others do.
struct AdapterSpecs {
  ParameterSpec a, b;
  Initializer of_a, of_b;
};
AdapterSpecs adapter_specs(const Lora& lora, const AdapterPaths& paths, const ir::Dims& weight);

// Weight + scale * up down, at the builder's place.
ir::ValueId whole_weight(ir::Builder& b, const Adapted& adapted);

// Nodes of a layer, from this place of the order on, and its results: what read weights reads adapted ones.
void adapt_layer(Instance& e, const Lora& lora, bool training, size_t first, ir::Values& results);

// Globs that mean nothing, weights that are no matrices, and ranks that are no thinner than their matrices are errors.
void check_lora(const Lora& lora, const Instance& e, Diagnostics& errors);

}  // namespace heddle::frontend
