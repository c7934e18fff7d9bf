#include "tests/numeric/reference_file.h"

#include <cmath>

#include "tests/support/source_dir.h"

namespace heddle::testing {

runtime::WeightsFile reference_file(const std::string& name) {
  return runtime::read_safetensors(source_dir() / "tests/training/reference" / name);
}

std::vector<std::string> reference_cases(const runtime::WeightsFile& file) {
  std::vector<std::string> names;
  for (const auto& [name, text] : file.metadata)
    if (name != "note") names.push_back(name);
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
