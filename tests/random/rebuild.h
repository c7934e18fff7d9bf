// A module made anew with some of its parts left out or changed: the step that a reduction takes.
#pragma once
#include <map>
#include <optional>
#include <set>

#include "ir/graph.h"

namespace heddle::testing {

struct Edit {
  int graph = 0;                                    // which of the module's the rest is about; bodies follow graphs
  bool leave_out = false;                           // this graph
  std::set<size_t> outputs = {}, updates = {};      // positions of those left out
  std::map<ir::ValueId, ir::ValueId> replace = {};  // by another value of the graph
  std::set<ir::ValueId> cut = {};                   // become inputs
  std::map<int64_t, int64_t> sizes = {};            // of all graphs
  bool plain = false;                               // all inputs hold plain numbers
  bool stateless = false;                           // params and states without update become inputs
};

// Nothing where the result would not be well formed. What nobody reads any more is left out.
std::optional<ir::Module> rebuild(const ir::Module& m, const Edit& edit);

}  // namespace heddle::testing
