// The groups of nodes from which fuse makes kernels, and the dependencies between them.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "passes/fuse/assess.h"
#include "passes/fuse/group_order.h"

namespace heddle::passes {

struct Group {
  std::vector<ir::NodeId> owned;
  bool fixed = false;  // a single fixed node: never merged, but paths lead through it
  bool alive = true;
  bool part = false;                       // part of a concatenation whose parts have separate kernels
  bool plain = false;                      // elementwise operators on one shape: a schedule always exists
  std::set<ir::ValueId> renews;            // ordered states whose next value it computes (see order_updates)
  std::set<ir::ValueId> follows;           // ordered states of which it reads the old or the next value
  bool product = false;                    // a contraction through tiles, whose operands have different shapes
  std::vector<ir::ValueId> reads, writes;  // sorted; the operands and results of a kernel of this group alone
  int64_t points = 0;                      // of its iteration space
  int64_t columns = 1, rows = 1;
  size_t size = 0;  // number of nodes, including copied ones
  ir::Cost cost;
};

// The tables that all graphs of a module share while their groups are made.
struct Shared {
  explicit Shared(const ir::Target& target) : assessor(target) {}
  Vocabulary words;
  Assessor assessor;
};

class Groups {
 public:
  // With `exact`, the reason against a kernel names the values of that kernel. Otherwise it may name those of another
  // kernel with the same body.
  Groups(const ir::Graph& g, Shared& shared, bool exact);

  int count() const { return static_cast<int>(groups_.size()); }
  const Group& operator[](int i) const { return groups_[static_cast<size_t>(i)]; }
  int of(ir::NodeId n) const { return of_[static_cast<size_t>(n.index)]; }
  const FusionRoles& roles() const { return roles_; }

  // The groups that read values of `i`, and the groups whose values it reads, directly or through copied nodes and
  // views.
  const std::set<int>& readers(int i) const { return succs_[static_cast<size_t>(i)]; }
  const std::set<int>& sources(int i) const { return preds_[static_cast<size_t>(i)]; }
  // Whether the value must be written even if a and b become one kernel: the graph returns it, or another group reads
  // it, directly or through copied nodes and views. May return true if the value has many uses.
  bool needed_beside(ir::ValueId v, int a, int b) const;
  GroupOrder::Separation separation(int a, int b) { return order_.separation(a, b, preds_, succs_); }
  // The union of a and b. Its kernel has a schedule, or `reason` says why there is none.
  struct Candidate {
    Group group;
    std::string reason;
  };
  Candidate candidate(int a, int b);
  void merge(int a, int b, const GroupOrder::Separation& separation, Group&& merged);  // the nodes of b move to a
  Sketch sketch(const Group& group) { return sketch(group.owned); }
  Sketch sketch(const std::vector<ir::NodeId>& owned) { return sketcher_.sketch(owned); }

 private:
  void connect();
  void precede(int first, int second);
  void order_updates();
  std::string why_copied(const Group& group);
  std::set<int> readers_through_copies(const std::vector<ir::ValueId>& values, ir::NodeId except) const;
  std::string fill(Group& group);  // sets all members but `owned`; returns "", or why no schedule executes the group

  const ir::Graph& g_;
  Shared& shared_;
  bool exact_;
  FusionRoles roles_;
  Sketcher sketcher_;
  std::vector<int> of_;  // by NodeId index; -1 for copied nodes and views
  std::vector<Group> groups_;
  Neighbours preds_, succs_;
  GroupOrder order_;
};

}  // namespace heddle::passes
