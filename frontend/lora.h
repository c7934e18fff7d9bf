// train.lora: low-rank adapters. Two thin matrices beside a weight are trained instead of the weight (Hu et al. 2021,
// arXiv 2106.09685). Their names, shapes and initial values are those of the library PEFT, so that each program can
// load the files of the other.
//
//   "lora": {"rank": 2, "alpha": 4, "match": ["fc"]} of {"name": "fc", "op": "dense", "units": 3} over [N,8]
//     ->  %fc.lora_A.weight: f32[2,8], uniform on [-1, 1) / sqrt(8), and %fc.lora_B.weight: f32[3,2], zeros
//         %fc.mm: f32[N,3] = matmul(%x, %fc.weight) {transpose_b = true}
//         %fc.mm.thin: f32[N,2] = matmul(%x, %fc.lora_A.weight) {transpose_b = true}
//         %fc.mm.change: f32[N,3] = matmul(%fc.mm.thin * 4/2, %fc.lora_B.weight) {transpose_b = true}
//         %fc.mm.adapted: f32[N,3] = add(%fc.mm, %fc.mm.change)
//
// Products and lookups read the thin matrices separately, so that no step holds a gradient of the weight's size. Any
// other reader of the weight reads %fc.weight + 4/2 B A.
#pragma once
#include <string>

#include "frontend/instantiate/instantiate.h"
#include "frontend/layer_context.h"

namespace heddle::frontend {

// Whether a glob of lora.train matches the weight: it is trained itself and has no adapter.
bool trains_itself(const Lora& lora, const std::string& path);

// Whether the weight gets an adapter: a glob of lora.match matches it, and it is a parameter and a matrix.
bool adapts(const Lora& lora, const ParameterSpec& weight, const std::string& path);

// Whether the weight of this layer is a table of rows, as in torch.nn.Embedding.
bool is_table(const std::string& layer);

// If `path` is the weight of an attention's output projection, the path of that attention's first weight; otherwise "".
std::string beside_attention(const std::string& path);

// The paths of a weight's adapter in files. `lookup`: the weight is a table. `attention`: the weight is that of the
// output projection of an attention.
AdapterPaths adapter_paths(const std::string& weight, bool lookup, bool attention);

// The thin matrices: `a` is [rank, in] and `b` is [out, rank]. For a table [out, in] they are [rank, out] and [in,
// rank] in files, but lie in memory like those of other weights.
struct AdapterSpecs {
  ParameterSpec a, b;
  Initializer of_a, of_b;
};
AdapterSpecs adapter_specs(const Lora& lora, const AdapterPaths& paths, const ir::Dims& weight);

// Builds weight + scale * up down.
ir::ValueId whole_weight(ir::Builder& b, const Adapted& adapted);

// Rewrites the nodes of a layer, from index `first` of the order on, and its results: readers of weights read the
// adapted weights.
void adapt_layer(Instance& e, const Lora& lora, bool training, size_t first, ir::Values& results);

// Reports as errors: globs without a match, weights that are not matrices, and ranks that are not less than the sizes
// of the matrix.
void check_lora(const Lora& lora, const Instance& e, Diagnostics& errors);

}  // namespace heddle::frontend
