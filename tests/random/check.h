// What every random graph owes: passes keep its meaning, and the host computes what the oracles say.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace heddle::testing {

struct Fault {
  std::string graph;  // the entry's name
  std::string stage;  // "pass fuse", "host": what a reduction must keep
  std::string text;
};

// Every pass in turn: verified, announced truthfully, idempotent, its text reads back, the meaning stays; at the end
// the same through the planned arena. An edge between two kernels that are not one has a remark.
std::vector<Fault> check_passes(const ir::Module& m);

struct HostReport {
  std::vector<Fault> faults;
  std::set<std::string> compared;       // "g17%y": an output that comes from it has elements that were held to a bound
  int64_t elements = 0, unbounded = 0;  // of what was compared; those that may be anything
};
// The pipeline that ships, one program of all graphs, by one thread and by two, each entry twice over its states, in
// poisoned memory.
HostReport check_host(const ir::Module& m);

}  // namespace heddle::testing
