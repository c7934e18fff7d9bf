// Flat groups: which states of a module flatten lays end to end.
#pragma once
#include "passes/flatten/update_pattern.h"
#include "passes/pass.h"

namespace heddle::passes {

// One group of bundles, by the names of their states: slots[k] is the flat state of everybody's k-th slot.
struct FlatGroup {
  std::vector<ir::StateGroup> slots;
  std::vector<std::vector<std::string>> bundles;  // by member, then by slot

  int64_t elements() const {
    const ir::StateMember& last = slots[0].members.back();
    return last.offset + last.type.elements();
  }
};

// The groups of all graphs; a remark for each, and for each parameter that stays alone. `patterns` are those of each
// graph.
std::vector<FlatGroup> find_flat_groups(const ir::Module& m, const std::vector<UpdatePatterns>& patterns,
                                        const Options& options);

}  // namespace heddle::passes
