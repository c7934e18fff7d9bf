// Edits of scans together with their bodies.
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

// Which nodes scan which body, found in one walk over the module: a walk for each body would take as long as there are
// bodies and nodes, multiplied. Valid while neither graphs nor bodies are added or removed; a scan that is put in
// the place of another one is not among them.
class ScansByBody {
 public:
  explicit ScansByBody(ir::Module& m);
  // Those that are still there.
  std::vector<ScanOf> of(const std::string& body) const;
  // As if the graph had no scans.
  void forget(const ir::Graph& g) { gone_.insert(&g); }

 private:
  std::map<std::string, std::vector<ScanOf>, std::less<>> by_body_;
  std::set<const ir::Graph*> gone_;
};

// A name that no graph of the module has: `wish`, or the first free of wish.1, wish.2, ...
std::string free_body_name(const ir::Module& m, const std::string& wish);

// Inputs of a body that it neither reads nor renews.
std::vector<ir::ValueId> unread_inputs(const ir::Graph& body);

// Puts a scan of `body` in the place of another one: result i of the new one stands for result `from[i]` of the old one
// and takes its name; -1: for none. Results that nothing stands for must be unused.
ir::NodeId replace_scan(ir::Graph& g, ir::NodeId old, const ir::Graph& body, const std::vector<ir::ValueId>& operands,
                        const std::vector<int>& from);

// Drops what no scan needs: bodies, outputs that nobody reads, carries that only make themselves, inputs without readers.
// A carry that no turn changes becomes fixed.
bool trim_scans(ir::Module& m);

// What a body returns of a carry as the turn found it must be copied before the carry is renewed. As a node, the copy is
// made by a kernel that reads the carry anyway.
bool copy_returned_carries(ir::Graph& body);

// Where a body asks for the turn's number, it gets a row of an iota.
bool replace_indices(ir::Module& m);

}  // namespace heddle::passes
