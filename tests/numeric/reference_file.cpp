#include "tests/numeric/reference_file.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "ir/evaluate/tensor_bytes.h"
#include "tests/support/source_dir.h"

namespace heddle::testing {

runtime::WeightsFile reference_file(const std::string& name, const char* variable) {
  if (const char* other = variable == nullptr ? nullptr : std::getenv(variable); other != nullptr)
    return runtime::read_safetensors(other);
  return runtime::read_safetensors(source_dir() / "tests/training/reference" / name);
}

ir::Tensor stored_tensor(const runtime::WeightsFile& file, const std::string& name) {
  const runtime::SavedTensor& saved = *file.find(name);
  return ir::from_bytes({ir::parse_dtype(saved.dtype).value(), saved.dims}, file.bytes(saved));
}

ir::Tensor part_of(const ir::Tensor& all, int64_t k, const ir::Type& type) {
  ir::Tensor out(type);
  for (int64_t i = 0; i < out.elements(); ++i) out.copy(i, all, k * out.elements() + i);
  return out;
}

std::vector<std::string> reference_cases(const runtime::WeightsFile& file) {
  std::vector<std::string> names;
  for (const auto& [name, text] : file.metadata)
    if (name != "note") names.push_back(name);
  return names;
}

const runtime::WeightsFile& drawn_numbers() {
  static const runtime::WeightsFile file = reference_file("drawn.safetensors", "HEDDLE_DRAWN");
  return file;
}

std::vector<std::string> drawn_cases(const std::vector<std::string>& operators) {
  std::vector<std::string> names = reference_cases(drawn_numbers());
  std::erase_if(names, [&](const std::string& name) {
    return std::ranges::none_of(operators, [&](const std::string& op) { return name.starts_with("drawn_" + op); });
  });
  return names;
}

double nmse(const ir::Tensor& got, const ir::Tensor& expected) {
  if (got.elements() != expected.elements()) return HUGE_VAL;
  double error = 0, power = 0;
  for (int64_t i = 0; i < got.elements(); ++i) {
    error += (got.at(i) - expected.at(i)) * (got.at(i) - expected.at(i));
    power += expected.at(i) * expected.at(i);
  }
  return power == 0 ? error : error / power;
}

}  // namespace heddle::testing
