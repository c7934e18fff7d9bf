// What fuse tells of its decisions: each edge that was not fused, and why.
//
//   %a -> %y: not fused: %c lies between: it needs %a, and %y needs it (@exp and @slice.mul)
#pragma once
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "passes/fuse/groups.h"
#include "passes/pass.h"

namespace heddle::passes {

using Refusals = std::vector<std::map<int, std::string>>;  // by group: those it cannot be one kernel with, and why

// Does nothing where nobody listens to remarks.
class FusionRemarks {
 public:
  // Before groups become one: the edges are those that a user may ask about.
  FusionRemarks(const ir::Graph& g, Groups& groups, const Refusals& refused, const Options& options);

  // Reasons are found here, while the nodes are there, and told last, when kernels have names.
  void groups_made();
  // A group has no schedule beside what others leave in memory: each of its nodes becomes a kernel.
  void split(int group, const std::string& reason);
  // A kernel is made of these nodes.
  void outlined(const std::vector<ir::NodeId>& owned, const Sketch& s);
  void kernel_made(int group, const std::string& name) { kernels_[group] = name; }
  void tell_edges();

 private:
  struct EdgeNote {
    int from, to;
    std::string edge, reason;
  };
  std::string edge_name(ir::NodeId from, ir::NodeId to) const;
  std::string name_of(ir::NodeId n) const;
  std::string kernels_of(const EdgeNote& note) const;
  std::string reason_between(ir::NodeId from, ir::NodeId to);
  std::string between(ir::NodeId from, ir::NodeId to) const;
  bool reaches(int from, int to) const;
  void find_left_in_memory();

  const ir::Graph& g_;
  Groups& groups_;
  const Refusals& refused_;
  const Options& options_;
  std::vector<std::pair<ir::NodeId, ir::NodeId>> edges_;  // producer and consumer
  std::vector<EdgeNote> notes_;
  std::set<std::string> left_in_memory_;
  std::map<int, std::string> kernels_;  // by group: the kernel that it has become
};

// Of a node that is a kernel of its own: what it reads of others, and what others read of it.
void note_primitive(const ir::Graph& g, const ir::Node& n, const Options& options);

}  // namespace heddle::passes
