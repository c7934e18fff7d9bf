#include "tests/ptx/planned_model.h"

#include <algorithm>
#include <filesystem>

#include "codegen/lower.h"
#include "frontend/build_graph.h"
#include "frontend/read_model.h"
#include "passes/pipeline.h"
#include "tests/numeric/harness.h"
#include "tests/support/source_dir.h"

namespace heddle::testing {

std::vector<std::string> model_names(const std::set<std::string>& but) {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(source_dir() / "models"))
    if (file.path().extension() == ".json" && !but.contains(file.path().stem())) names.push_back(file.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

PlannedModel plan_model(const std::string& name, bool small, const ir::Target& target,
                        const std::vector<std::string>& set) {
  frontend::Sources sources;
  const frontend::Model model = frontend::read_model(sources, (source_dir() / "models" / (name + ".json")).string(),
                                                     {.set = set, .small = small});
  return plan_module(frontend::build_module(model, frontend::default_build_options(model)), name, target);
}

PlannedModel plan_module(ir::Module module, const std::string& name, const ir::Target& target) {
  passes::Options options;
  options.target = target;
  passes::run_pipeline(module, options);
  codegen::Program program = codegen::lower(module, name, target);
  return {std::move(module), std::move(program)};
}

ir::NamedTensors random_batch(const codegen::Entry& entry, uint64_t seed) {
  ir::NamedTensors all;
  for (const codegen::Buffer& b : entry.inputs) {
    const ir::Type type{ir::parse_dtype(b.dtype).value(), b.dims};
    all.emplace(b.name, random_tensor(type, 0, 1, 10, hash_text(b.name) + seed));
  }
  return all;
}

}  // namespace heddle::testing
