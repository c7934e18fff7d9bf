// ScanUse: the settings of a node that runs a block once for each step of a sequence.
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
  Named input;                 // an input of the block
  std::optional<Named> start;  // the start, a value outside of the block; nullopt: zeros of `shape`
  std::optional<Json> shape;
  Named next;  // the value of the block that becomes the next value
};

struct ScanUse {
  std::vector<ScanCarry> carries;  // in the order of the file
  std::vector<Named> slices;       // inputs of the block that get one step of axis 1 in each turn
  std::optional<Named> index;      // the input of the block that gets the number of the turn
  std::vector<Named> stacked;      // values of the block that are stacked over the turns
};

// The name of the block that a node runs, by `block:` or by a scan; nullopt if it runs none.
std::optional<Named> block_of(const NodeDef& node);
bool is_scan(const NodeDef& node);

// Moves references from a scan's settings to the members that all nodes have: starts of carries become inputs, and
// sizes become `with`.
void read_scan(NodeDef& node);
// The number of results: the carries, then the stacked values. nullopt if it is 0, or if settings have wrong kinds.
std::optional<size_t> scan_results(const std::vector<Json>& settings);
// Reads the settings and checks them against the block. Throws UserError.
ScanUse scan_use(const NodeDef& node, const Block& block);

}  // namespace heddle::frontend
