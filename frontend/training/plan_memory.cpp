#include "frontend/training/plan_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/training/parameter_patterns.h"

namespace heddle::frontend {
namespace {

// 'h.0', 'h.1', 'h.2', ...
std::string first_of(const std::vector<std::string>& paths) {
  constexpr size_t kMost = 4;
  std::string text;
  for (size_t i = 0; i < std::min(paths.size(), kMost); ++i) text += fmt::format("{}'{}'", i > 0 ? ", " : "", paths[i]);
  return paths.size() > kMost ? text + ", ..." : text;
}

void check_globs(const std::vector<Named>& globs, const Instance& e, Diagnostics& errors) {
  std::vector<std::string> paths;
  for (const InstanceBlock& block : e.blocks) paths.push_back(block.path);
  for (const Named& glob : globs) {
    if (std::ranges::any_of(paths, [&](const std::string& path) { return matches({glob}, path); })) continue;
    errors.error(glob.where, fmt::format("train: memory: 'recompute': '{}' is no block", glob.text),
                 paths.empty() ? "the model has no blocks: put the layers that repeat into one, and use it by "
                                 "\"op\": \"block:NAME\""
                               : "blocks are " + first_of(paths));
  }
}

}  // namespace

PlannedMemory plan_memory(const Model& model, const Instance& e, Diagnostics& errors) {
  const MemoryUse& memory = model.train.memory;
  if (memory.blocks) check_globs(*memory.blocks, e, errors);
  PlannedMemory plan{.limit = memory.limit.value_or(0), .blocks = {}, .others = {}};
  for (const InstanceBlock& block : e.blocks) {
    if (block.recompute || (memory.blocks && matches(*memory.blocks, block.path)))
      plan.blocks.push_back(block.path);
    else if (memory.automatic)
      plan.others.push_back(block.path);
  }
  return plan;
}

}  // namespace heddle::frontend
