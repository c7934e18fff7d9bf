// What may not depend on the batch or on the length of rows: the entries share their parameters, the
// weights file is for every batch, and the last rows of an epoch go through the same network as the
// others.
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
  // Throws UserError where the parameters' shapes or the repeats of blocks differ from those of earlier instances.
  void require(const Instance& e);

 private:
  void require_type(const Parameter& p, const Instance& e);
  void require_times(const Repeat& now, const Repeat& known, const Instance& e) const;

  std::map<std::string, ir::Type> types_;  // by path
  std::vector<Repeat> repeats_;
  int64_t batch_ = 0, length_ = 0;  // of the first instance; batch 0: there was none
};

}  // namespace heddle::frontend
