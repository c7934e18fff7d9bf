// SameNetwork: checks that the network does not depend on the batch size or on the length of rows. All entries share
// the parameters, a weights file is valid for every batch size, and the smaller last batch of an epoch uses the same
// network.
//
//   {"op": "dense", "units": "N"}   ->   "parameter 'fc.weight' is f32[64,8] with a batch of 64 and f32[128,8] with one of 128"
#pragma once
#include <map>
#include <string>
#include <vector>

#include "frontend/instantiate/instantiate.h"

namespace heddle::frontend {

class SameNetwork {
 public:
  // Throws UserError if the shapes of parameters or the repeats of blocks and scans differ from those of earlier
  // instances.
  void require(const Instance& e);

 private:
  void require_type(const Parameter& p, const Instance& e);
  void require_times(const Repeat& now, const Repeat& known, const Instance& e) const;

  std::map<std::string, ir::Type> types_;  // by path
  std::vector<Repeat> repeats_;
  int64_t batch_ = 0, length_ = 0;  // of the first instance; batch 0: no instance yet
};

}  // namespace heddle::frontend
