// The groups that fuse is making kernels of, and how they depend on each other.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "passes/fuse/assess.h"
#include "passes/fuse/group_order.h"

namespace heddle::passes {

struct Group {
  std::vector<ir::NodeId> owned;  // fixed nodes have a group of their own, too: paths lead through them
  bool fixed = false;
  bool alive = true;
  bool part = false;                       // of a concatenation whose parts are computed apart
  bool plain = false;                      // elementwise on one shape throughout: such groups always make one kernel
  std::set<ir::ValueId> renews;            // ordered states whose next value it computes
  std::set<ir::ValueId> follows;           // ordered states that it reads, or whose next values
  bool product = false;                    // a contraction through tiles: its operands have shapes of their own
  std::vector<ir::ValueId> reads, writes;  // sorted; what a kernel of this group alone would move
  int64_t points = 0;                      // of its iteration space
  int64_t columns = 1, rows = 1;
  size_t size = 0;  // nodes, copied ones included
  ir::Cost cost;
};

// What all graphs of a module share while their groups are made.
struct Shared {
  explicit Shared(const ir::Target& target) : assessor(target) {}
  Vocabulary words;
  Assessor assessor;
};

class Groups {
 public:
  // With `exact`, a reason that is given speaks of the values of the very kernel that it is about.
  Groups(const ir::Graph& g, Shared& shared, bool exact);

  int count() const { return static_cast<int>(groups_.size()); }
  const Group& operator[](int i) const { return groups_[static_cast<size_t>(i)]; }
  int of(ir::NodeId n) const { return of_[static_cast<size_t>(n.index)]; }
  const FusionRoles& roles() const { return roles_; }

  // Groups that read what `i` defines, and those whose values it reads, through copied nodes and views.
  const std::set<int>& readers(int i) const { return succs_[static_cast<size_t>(i)]; }
  const std::set<int>& sources(int i) const { return preds_[static_cast<size_t>(i)]; }
  // Whether anything but a and b reads the value, through copied nodes and views, or the graph returns it.
  bool needed_beside(ir::ValueId v, int a, int b) const;
  GroupOrder::Separation separation(int a, int b) { return order_.separation(a, b, preds_, succs_); }
  // A candidate for the union of a and b; its kernel has a schedule, or `reason` says why it cannot have one.
  struct Candidate {
    Group group;
    std::string reason;
  };
  Candidate candidate(int a, int b);
  void merge(int a, int b, const GroupOrder::Separation& separation, Group&& merged);  // b's nodes go to a
  Sketch sketch(const Group& group) { return sketch(group.owned); }
  Sketch sketch(const std::vector<ir::NodeId>& owned) { return sketcher_.sketch(owned); }

 private:
  void connect();
  void precede(int first, int second);
  void order_updates();
  std::string why_copied(const Group& group);
  std::set<int> readers_through_copies(const std::vector<ir::ValueId>& values, ir::NodeId except) const;
  std::string fill(Group& group);  // everything but `owned`; the reason when no schedule executes it

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
