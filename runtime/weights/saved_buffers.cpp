#include "runtime/weights/saved_buffers.h"

#include <algorithm>

namespace heddle::runtime {

std::vector<const codegen::Buffer*> saved_buffers(const codegen::Program& program) {
  std::vector<const codegen::Buffer*> list;
  for (const codegen::Buffer& b : program.states)
    if (codegen::is_saved(b)) list.push_back(&b);
  std::sort(list.begin(), list.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  return list;
}

TensorsByName by_name(const WeightsFile& file) {
  TensorsByName tensors;
  for (const SavedTensor& t : file.tensors) tensors.emplace(t.name, &t);
  return tensors;
}

}  // namespace heddle::runtime
