// Sketches of candidate kernels: their nodes, operands and results, without a graph. fuse compares many candidates for
// each kernel that it builds.
//
//   %b: f32[64,128] = broadcast(%bias) {dims = [1], shape = [64,128]}      nodes    %b (copied), %a
//   %a: f32[64,128] = add(%x, %b)                                     ->   operands %bias, %x
//   return %a                                                              results  %a
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "passes/fuse/nodes.h"
#include "passes/outline.h"

namespace heddle::passes {

// Two kernels have equal keys if and only if their bodies are equal, apart from the names of values.
using BodyKey = std::vector<int32_t>;
struct BodyKeyHash {
  size_t operator()(const BodyKey& key) const;
};

struct Sketch {
  std::vector<ir::NodeId> nodes;  // those the group owns and those it copies, in the order of the graph
  std::vector<char> copied;       // by position in `nodes`
  std::vector<ir::ValueId> operands, results;
  BodyKey key;
};
Members members_of(const Sketch& sketch);

// Gives each distinct text a number. Texts describe operators with attributes and types, so that nodes compare by
// number.
class Vocabulary {
 public:
  int32_t number(const std::string& text) { return numbers_.emplace(text, numbers_.size()).first->second; }

 private:
  std::unordered_map<std::string, int32_t> numbers_;
};

class Sketcher {
 public:
  Sketcher(const ir::Graph& g, const FusionRoles& roles, Vocabulary& words);
  // The sketch of a kernel with these nodes, and with the copied nodes and views that they need.
  Sketch sketch(const std::vector<ir::NodeId>& owned);

 private:
  void grow();  // extends the tables, since fuse adds calls while it outlines
  void collect(Sketch& s, const std::vector<ir::NodeId>& owned);
  void take_operands(ir::NodeId n, std::vector<ir::NodeId>& nodes);
  bool computed_inside(ir::ValueId v);
  void find_results(Sketch& s);
  void write_key(Sketch& s);

  // Flags are round numbers. A new round clears all flags without a walk over the graph.
  bool inside(ir::NodeId n) const { return inside_[ir::index_of(n)] == round_; }
  bool owns(ir::NodeId n) const { return owned_[ir::index_of(n)] == round_; }

  const ir::Graph& g_;
  const FusionRoles& roles_;
  Vocabulary& words_;
  std::vector<int32_t> operator_of_;  // by NodeId index: its number in the vocabulary; 0 for calls
  std::vector<int32_t> type_of_;      // by ValueId index
  int32_t round_ = 0, query_ = 0;
  std::vector<int32_t> inside_, owned_;     // by NodeId index: the round of the last sketch that holds it
  std::vector<int32_t> asked_;              // by NodeId index: the last query that visited it
  std::vector<int32_t> numbered_, number_;  // by ValueId index: the round, and the value's number in the key
  std::vector<int32_t> escaping_;           // by ValueId index: the last round in which a node outside reads it
};

}  // namespace heddle::passes
