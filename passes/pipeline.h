// The pipeline: all passes in their order, and a runner that verifies the module before and after each pass. The
// reasons for the order are in pipeline.cpp.
#pragma once
#include <string_view>
#include <vector>

#include "passes/pass.h"

namespace heddle::passes {

const std::vector<Pass>& all_passes();         // in pipeline order
const Pass* find_pass(std::string_view name);  // nullptr when unknown
std::vector<std::string> pass_names();         // in pipeline order

// The processor time of a pass. The last entry, "verify", is the time of the verifier around all passes.
struct PassTime {
  std::string name;
  double seconds = 0;
  bool changed = false;
};
double processor_seconds();  // processor time of this thread since its start; other threads and processes do not count
struct RunOptions {
  std::string to;                                                           // stop after this pass; empty: run all
  std::function<void(const Pass&, const ir::Module&, bool changed)> after;  // for --print-after
};
// Runs the passes in order, and verifies before the first one and after each. A violation is a bug of the pass it
// names.
std::vector<PassTime> run_pipeline(ir::Module& m, const Options& options, const RunOptions& run = {});
bool run_pass(const Pass& pass, ir::Module& m, const Options& options);  // verifies before and after

}  // namespace heddle::passes
