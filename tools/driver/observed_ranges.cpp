#include "tools/driver/observed_ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ir/int8.h"

namespace heddle::driver {
namespace {

using Observed = std::pair<const codegen::Buffer*, const codegen::Buffer*>;  // the lowest, the highest

std::map<std::string, Observed> observed(const codegen::Program& program) {
  std::map<std::string, Observed> all;
  const auto state = [&](const std::string& name) {
    const auto found = std::ranges::find(program.states, name, &codegen::Buffer::name);
    return found == program.states.end() ? nullptr : &*found;
  };
  for (const codegen::Buffer& b : program.states) {
    const codegen::Buffer *low = state(ir::observed_low_name(b.name)), *high = state(ir::observed_high_name(b.name));
    if (low != nullptr && high != nullptr) all[b.name] = {low, high};
  }
  return all;
}

}  // namespace

std::vector<std::string> ranged_weights(const codegen::Program& program) {
  std::vector<std::string> names;
  for (const auto& [name, states] : observed(program))
    if (states.first->role == codegen::BufferRole::buffer) names.push_back(name);
  return names;
}

std::vector<std::string> range_names(const codegen::Program& program) {
  std::vector<std::string> names;
  for (const std::string& weight : ranged_weights(program)) {
    names.push_back(ir::observed_low_name(weight));
    names.push_back(ir::observed_high_name(weight));
  }
  return names;
}

std::map<std::string, std::vector<float>> observed_ranges(Session& s, const std::function<void()>& run) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::map<std::string, Observed> all = observed(s.program);
  for (const auto& [name, states] : all) {
    s.executable->write(*states.first, &kInfinity);
    const float lowest = -kInfinity;
    s.executable->write(*states.second, &lowest);
  }
  run();
  std::map<std::string, std::vector<float>> ranges;
  for (const auto& [name, states] : all) {
    float low = 0, high = 0;
    s.executable->read(*states.first, &low);
    s.executable->read(*states.second, &high);
    if (std::isfinite(low) && std::isfinite(high) && (low != 0 || high != 0)) ranges[name] = {low, high};
  }
  return ranges;
}

}  // namespace heddle::driver
