// PyTorch's numbers (tests/training/reference, see make_reference.py there) as tensors by name.
#pragma once
#include <string>

#include "ir/evaluate/evaluate.h"

namespace heddle::testing {

struct Reference {
  ir::NamedTensors tensors;

  // Step k of a tensor whose first dimension counts steps (or batches of the ring).
  ir::Tensor at(const std::string& name, int64_t k) const;
  std::vector<std::string> parameters() const;  // "conv1.weight", ...
};

Reference read_reference(const std::string& model);  // "mlp"

}  // namespace heddle::testing
