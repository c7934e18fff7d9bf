// Small programs whose kernels together use all of the preamble that GPUs have: what mutants of the text are tried on.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "tests/ptx/program_run.h"

namespace heddle::testing {

struct Sample {
  codegen::Program program;
  // All results, of a program with the sample's interface.
  std::function<Images(const codegen::Program&, runtime::Device&)> run;
};
// tests/ptx/mutants/NAME.hir, planned for the target h200: in the forms that its kernels have, or,
// without kernels, as compiled.
Sample sample(const std::string& name);

}  // namespace heddle::testing
