// Choices: a table of measured choices, which `heddle tune` writes and --choices reads.
//
//   {"format": "heddle-choices/1", "heddle": "0.1.0", "processor": "AMD EPYC 9R15, native", "model": "mnist_mlp", ...
//    "kernels": [{"body": "f32[128,784], .. | matmul 0 1 ..", "default": "onednn", "chosen": "generated text",
//                 "seconds": {"generated text": 2.1e-05, "onednn": 3.4e-05}}],
//    "steps": [{"body": "train 5f3a..", "default": "launches", "chosen": "one kernel", "seconds": {..}}], ..}
//
// A table is valid for one processor or GPU and one version of Heddle. With others it is an error.
#pragma once
#include <string>

#include "codegen/lower.h"
#include "ir/diagnostic.h"
#include "passes/choices.h"
#include "tools/driver/gpu_libraries.h"

namespace heddle::driver {

struct Choices {
  std::string file;  // the file it was read from; empty: there is none
  std::string heddle, processor;
  GpuLibraries libraries;           // libraries for kernels that the table does not list
  passes::MeasuredChoices kernels;  // by body (passes/choices.h)
  passes::MeasuredChoices steps;    // by step_body: "launches" or "one kernel"
  bool empty() const { return kernels.empty() && steps.empty(); }
};

inline const std::string kLaunches = "launches", kOneKernel = "one kernel";
constexpr size_t kMostChoicesBytes = size_t{16} << 20;
constexpr std::string_view kChoicesHead = "{\"format\": \"heddle-choices/1\"";

// Throws UserError at the first error. Locations point into `file`.
Choices read_choices(const SourceFile& file);

// The processor's name in a table, which decides whether it is valid. For a GPU: the target's name and figures. For the
// host: the model in /proc/cpuinfo and the target of the compiler.
std::string processor_name(const ir::Target& target);
// Throws UserError where the table was measured on another processor or by another version.
void require_choices_for(const Choices& choices, const ir::Target& target);

// A hash of the choices without their times, so it is equal for equal programs. "" without choices.
std::string hash_of(const Choices& choices);

// The key of an entry: its name and a hash of the bodies of the kernels that it calls, "train 5f3a..".
std::string step_body(const ir::Module& m, const ir::Graph& entry);
codegen::OneKernels one_kernels(const Choices& choices, const ir::Module& m);

// The note for a table that has no choice for a program: "t.json: none of its choices is about this program", "t.json:
// it holds no choices".
std::string told_of_unused(const Choices& choices);

// Records whether a program uses any choice of a table.
class ChoicesUsed {
 public:
  explicit ChoicesUsed(const Choices& choices) : choices_(choices) {}
  void see(const passes::Decision& decision) { any_ = any_ || choices_.kernels.contains(decision.body); }
  void see(const ir::Module& m) { any_ = any_ || !one_kernels(choices_, m).empty(); }
  bool any() const { return any_ || choices_.empty(); }

 private:
  const Choices& choices_;
  bool any_ = false;
};

}  // namespace heddle::driver
