// The groups that fuse is making kernels of, and how they depend on each other.
#pragma once
#include <string>
#include <vector>

#include "ir/kernel/cost.h"
#include "passes/fuse/nodes.h"
#include "passes/outline.h"

namespace heddle::passes {

struct Group {
  std::vector<ir::NodeId> owned;  // fixed nodes have a group of their own, too: paths lead through them
  bool fixed = false;
  bool alive = true;
  bool part = false;                       // of a concatenation whose parts are computed apart
  bool plain = false;                      // elementwise on one shape throughout: such groups always make one kernel
  std::vector<ir::ValueId> reads, writes;  // sorted; what a kernel of this group alone would move
  int64_t points = 0;                      // of its iteration space
  int64_t columns = 1, rows = 1;
  size_t size = 0;  // nodes, copied ones included
  ir::Cost cost;
};

class Groups {
 public:
  Groups(const ir::Graph& g, const ir::Target& target);

  const std::vector<Group>& all() const { return groups_; }
  const Group& operator[](int i) const { return groups_[static_cast<size_t>(i)]; }
  int of(ir::NodeId n) const { return of_[static_cast<size_t>(n.index)]; }
  const Fates& fates() const { return fates_; }

  Members members(const std::vector<ir::NodeId>& owned) const;
  // Groups that read what `i` defines, through copied nodes and views.
  const std::set<int>& readers(int i) const { return succs_[static_cast<size_t>(i)]; }
  // Whether a path leads from a to b through a third group.
  bool path_between(int a, int b) const;
  // A candidate for the union of a and b; its kernel has a form, or `reason` says why it cannot have one.
  struct Candidate {
    Group group;
    std::string reason;
  };
  Candidate candidate(int a, int b) const;
  void merge(int a, int b, Group&& merged);  // b's nodes go to a

 private:
  void connect();
  std::string fill(Group& group) const;  // everything but `owned`; the reason when no form executes it
  void note_traffic(Group& group, Extract&& e) const;

  const ir::Graph& g_;
  const ir::Target& target_;
  Fates fates_;
  std::vector<Group> groups_;
  std::vector<int> of_;  // by NodeId index; -1 for copied nodes and views
  std::vector<std::set<int>> preds_, succs_;
};

}  // namespace heddle::passes
