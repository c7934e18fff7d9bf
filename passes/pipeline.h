// The order of the passes, with the reason for each constraint beside the pass it binds, and the runner that verifies
// around each.
#pragma once
#include <string_view>
#include <vector>

#include "passes/pass.h"

namespace heddle::passes {

const std::vector<Pass>& all_passes();         // in pipeline order
const Pass* find_pass(std::string_view name);  // nullptr when unknown
std::vector<std::string> pass_names();         // in pipeline order

// What a pass took of the processor; the last one, "verify", is all that the verifier took around the others.
struct PassTime {
  std::string name;
  double seconds = 0;
  bool changed = false;
};
double processor_seconds();  // of this thread, since it began: what else runs on the machine does not count
struct RunOptions {
  std::string to;                                                           // stop after this pass; empty: run all
  std::function<void(const Pass&, const ir::Module&, bool changed)> after;  // for --print-after
};
// Verifies before the first pass and after each; a violation is a bug of the pass it names.
std::vector<PassTime> run_pipeline(ir::Module& m, const Options& options, const RunOptions& run = {});
bool run_pass(const Pass& pass, ir::Module& m, const Options& options);  // verified on both sides

}  // namespace heddle::passes
