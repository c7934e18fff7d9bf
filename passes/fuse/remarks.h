// The remarks of fuse: one for each edge that was not fused, with the reason.
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

using Refusals = std::vector<std::map<int, std::string>>;  // by group: the groups it cannot be merged with, and why

// Collects and emits the remarks. Does nothing if Options::remark is empty.
class FusionRemarks {
 public:
  // Must be constructed before groups are merged: the edges between the initial groups are those that users ask about.
  FusionRemarks(const ir::Graph& g, Groups& groups, const Refusals& refused, const Options& options);

  // Finds the reasons, while the nodes exist. They are emitted later, when kernels have names.
  void groups_made();
  // Notes that a group has lost its schedule, because other kernels store values that it would copy. Each node becomes
  // a kernel.
  void split(int group, const std::string& reason);
  // Notes that a kernel is made of these nodes.
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

// Emits the remarks for a primitive, which is always a separate kernel: one for each edge to or from it.
void note_primitive(const ir::Graph& g, const ir::Node& n, const Options& options);

}  // namespace heddle::passes
