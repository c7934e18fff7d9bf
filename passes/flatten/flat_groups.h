// Flat groups: the groups of states that the pass flatten stores end to end in one flat state.
#pragma once
#include "passes/flatten/update_pattern.h"
#include "passes/pass.h"

namespace heddle::passes {

// A group of bundles, as names of their states. slots[k] is the flat state that holds the k-th state of each bundle.
struct FlatGroup {
  std::vector<ir::StateGroup> slots;
  std::vector<std::vector<std::string>> bundles;  // names of states, by member, then by slot

  int64_t elements() const {
    const ir::StateMember& last = slots[0].members.back();
    return last.offset + last.type.elements();
  }
};

// Finds the groups of all graphs. `patterns` has one entry per graph. Emits a remark for each group, and for each
// parameter that no other one is updated like.
std::vector<FlatGroup> find_flat_groups(const ir::Module& m, const std::vector<UpdatePatterns>& patterns,
                                        const Options& options);

}  // namespace heddle::passes
