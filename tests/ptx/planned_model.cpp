#include "tests/ptx/planned_model.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "codegen/lower.h"
#include "frontend/build_graph.h"
#include "frontend/read/read_model.h"
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

namespace {

// The input of a kernel whose elements a value holds, moved around at most.
ir::ValueId origin(const ir::Graph& kernel, ir::ValueId v) {
  const auto is_input = [&] { return std::find(kernel.inputs.begin(), kernel.inputs.end(), v) != kernel.inputs.end(); };
  while (!is_input()) {
    const ir::Node& n = kernel[kernel[v].def];
    if (!std::holds_alternative<ir::Movement>(n.op->kind)) return {};
    v = n.operands[0];
  }
  return v;
}

// How many rows the tables have that inputs of an entry look up, the fewest of each input.
std::map<std::string, int64_t> rows_of_tables(const ir::Module& module, const ir::Graph& entry) {
  std::map<std::string, int64_t> rows;
  for (const ir::NodeId c : entry.order) {
    const ir::Node& call = entry[c];
    const ir::Graph* called = module.find_kernel(call.callee);
    if (called == nullptr) continue;  // no call, or that of a loop's body
    const ir::Graph& kernel = *called;
    for (const ir::NodeId n : kernel.order) {
      const auto* lookup = std::get_if<ir::Lookup>(&kernel[n].op->kind);
      const ir::ValueId from = lookup == nullptr ? ir::ValueId{} : origin(kernel, kernel[n].operands[1]);
      if (!from.valid()) continue;
      const auto place = std::find(kernel.inputs.begin(), kernel.inputs.end(), from) - kernel.inputs.begin();
      const int64_t extent = lookup->domain(ir::signature(kernel, kernel[n])).extents[0];
      int64_t& fewest = rows.try_emplace(entry[call.operands[static_cast<size_t>(place)]].name, extent).first->second;
      fewest = std::min(fewest, extent);
    }
  }
  return rows;
}

}  // namespace

ir::NamedTensors spread_batch(const PlannedModel& model, const codegen::Entry& entry, uint64_t seed) {
  ir::NamedTensors all = random_batch(entry, seed);
  for (const auto& [name, rows] : rows_of_tables(model.module, *model.module.find_graph(entry.name)))
    if (const auto it = all.find(name); it != all.end())
      it->second = random_tensor(it->second.type, 0, 1, rows, hash_text(name) + seed);
  return all;
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
