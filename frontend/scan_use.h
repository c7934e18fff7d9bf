// ScanUse: a node that runs a block once for each step of a sequence, as the model says it.
//
//   {"op": "scan", "block": "cell", "in": {"x": "seq"}, "carry": {"h": ["N", 128]}, "slice": ["x"], "out": ["h", "hs"]}
//     -> carry h, which starts as zeros f32[N,128] and becomes the block's output; a row of x in each turn; stacked: the
//        block's output
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "frontend/layer_def.h"
#include "frontend/model.h"

namespace heddle::frontend {

struct ScanCarry {
  Named input;                 // of the block
  std::optional<Named> start;  // a value around the node; absent: zeros of the shape
  std::optional<Json> shape;
  Named next;  // a value of the block
};

struct ScanUse {
  std::vector<ScanCarry> carries;  // in the order of the file
  std::vector<Named> slices;       // inputs of the block that take one step of axis 1 in each turn
  std::optional<Named> index;      // the input of the block that is the turn's number
  std::vector<Named> stacked;      // values of the block
};

// The name of the block that a node runs, by `block:` or by a scan; nothing where it runs none.
std::optional<Named> block_of(const NodeDef& node);
bool is_scan(const NodeDef& node);

// Moves what a scan's settings say of values around it to where all nodes have it: starts of carries are inputs, sizes
// are `with`.
void read_scan(NodeDef& node);
// How many results the node has: the carries, then what is stacked. Nothing where settings are of other kinds than
// their keys', or where there is none.
std::optional<size_t> scan_results(const std::vector<Json>& settings);
// What the settings say, held against the block. Throws UserError.
ScanUse scan_use(const NodeDef& node, const Block& block);

}  // namespace heddle::frontend
