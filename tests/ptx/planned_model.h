// A model of models/, planned for a GPU without library calls, and batches for it.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "codegen/program.h"
#include "ir/evaluate/evaluate.h"
#include "ir/kernel/target.h"

namespace heddle::testing {

std::vector<std::string> model_names(const std::set<std::string>& but = {});  // sorted

struct PlannedModel {
  ir::Module module;  // after all passes
  codegen::Program program;
};
// `small`: with the model's own small overrides; `set`: with these, "train.seed=3".
PlannedModel plan_model(const std::string& name, bool small, const ir::Target& target = ir::h200(),
                        const std::vector<std::string>& set = {});
PlannedModel plan_module(ir::Module module, const std::string& name, const ir::Target& target = ir::h200());

ir::NamedTensors random_batch(const codegen::Entry& entry, uint64_t seed);
// Whose indices lie anywhere in the tables that they are looked up in, as counts assume.
ir::NamedTensors spread_batch(const PlannedModel& model, const codegen::Entry& entry, uint64_t seed);

}  // namespace heddle::testing
