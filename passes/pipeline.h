// The order of the passes, with the reason for each constraint beside the pass it binds, and the runner that verifies
// around each.
#pragma once
#include <string_view>
#include <vector>

#include "passes/pass.h"

namespace heddle::passes {

const std::vector<Pass>& all_passes();         // in pipeline order
const Pass* find_pass(std::string_view name);  // nullptr when unknown

struct PassTime {
  std::string_view name;
  double seconds = 0;
  bool changed = false;
};
struct RunOptions {
  std::string to;                                                           // stop after this pass; empty: run all
  std::function<void(const Pass&, const ir::Module&, bool changed)> after;  // for --print-after
};
// Verifies before the first pass and after each; a violation is a bug of the pass it names.
std::vector<PassTime> run_pipeline(ir::Module& m, const Options& options, const RunOptions& run = {});
bool run_pass(const Pass& pass, ir::Module& m, const Options& options);  // verified on both sides

}  // namespace heddle::passes
