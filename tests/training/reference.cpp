#include "tests/training/reference.h"

#include "ir/evaluate/tensor_bytes.h"
#include "runtime/weights/safetensors.h"
#include "tests/support/source_dir.h"

namespace heddle::testing {
Reference read_reference(const std::string& model) {
  const runtime::WeightsFile file =
      runtime::read_safetensors(testing::source_dir() / "tests/training/reference" / (model + ".safetensors"));
  Reference out;
  for (const runtime::SavedTensor& saved : file.tensors) {
    const ir::Type type{ir::parse_dtype(saved.dtype).value(), saved.dims};
    const auto bytes = file.bytes(saved);
    out.tensors.emplace(saved.name, ir::from_bytes(type, bytes));
  }
  return out;
}

ir::Tensor Reference::at(const std::string& name, int64_t k) const {
  const ir::Tensor& all = tensors.at(name);
  ir::Tensor one({all.type.dtype, {all.type.dims.begin() + 1, all.type.dims.end()}});
  for (int64_t i = 0; i < one.elements(); ++i) one.set(i, all.at(k * one.elements() + i));
  return one;
}

std::vector<std::string> Reference::parameters() const {
  const std::string prefix = "start.";
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors)
    if (name.rfind(prefix, 0) == 0) names.push_back(name.substr(prefix.size()));
  return names;
}

}  // namespace heddle::testing
