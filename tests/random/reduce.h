// Makes a failing module as small as it can: fewer entries, outputs and nodes, smaller sizes, plainer data.
//
//   40 nodes, softmax of a strided read somewhere   ->   %y = softmax(%x); %z = reverse(%y); return %z
//
// The fault must stay of its kind; each candidate is tried in a child process, so that crashes reduce, too.
#pragma once
#include <string>

#include "ir/graph.h"
#include "tests/random/check.h"

namespace heddle::testing {

// Stops after so many seconds, with the smallest module until then. `fault` is what `m` fails with.
ir::Module reduce(ir::Module m, const Fault& fault, double seconds);

}  // namespace heddle::testing
