// Edits that change a scan and its body together.
//
//   %a, %ys = scan @f(%h, %x), nobody reads %ys   ->   %a = scan @f(%h, %x), and @f returns nothing to stack
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace heddle::passes {

struct ScanOf {
  ir::Graph* graph;
  ir::NodeId node;
};

// The scan nodes of each body. One walk over the module finds them all; one walk per body would take quadratic time.
// The table is valid while no graph or body is added or removed. It does not include scans that are created later, such
// as by replace_scan.
class ScansByBody {
 public:
  explicit ScansByBody(ir::Module& m);
  // The scans of a body that are not erased.
  std::vector<ScanOf> of(const std::string& body) const;
  // Leaves out the scans in this graph from now on.
  void forget(const ir::Graph& g) { gone_.insert(&g); }

 private:
  std::map<std::string, std::vector<ScanOf>, std::less<>> by_body_;
  std::set<const ir::Graph*> gone_;
};

// A name that no graph of the module has: `wish`, or the first free of wish.1, wish.2, ...
std::string free_body_name(const ir::Module& m, const std::string& wish);

// The inputs of a body that it neither reads nor updates.
std::vector<ir::ValueId> unread_inputs(const ir::Graph& body);

// Replaces the scan `old` by a scan of `body`. Result i of the new scan replaces result `from[i]` of the old one and
// takes its name; -1: it is an additional result. Results of the old scan that are not replaced must be unused. Returns
// the new scan.
ir::NodeId replace_scan(ir::Graph& g, ir::NodeId old, const ir::Graph& body, const std::vector<ir::ValueId>& operands,
                        const std::vector<int>& from);

// Removes unused bodies, unused outputs, carries that only they themselves depend on, and unread inputs. A carry that
// no turn changes becomes a fixed input. Returns whether it changed anything.
bool trim_scans(ir::Module& m);

// If a body returns the value that a carry had before the turn, adds a copy node, because the update overwrites the
// carry. As a node, the copy can be fused into a kernel that reads the carry anyway.
bool copy_returned_carries(ir::Graph& body);

// Replaces the turn index of a body by a slice: each turn gets one element of an iota.
bool replace_indices(ir::Module& m);

}  // namespace heddle::passes
