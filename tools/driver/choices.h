// choices: a table of measured choices, as `heddle tune` writes it and --choices reads it.
//
//   {"format": "heddle-choices/1", "heddle": "0.1.0", "processor": "AMD EPYC 9R15, native", "model": "mnist_mlp", ...
//    "kernels": [{"body": "f32[128,784], .. | matmul 0 1 ..", "default": "onednn", "chosen": "generated text",
//                 "seconds": {"generated text": 2.1e-05, "onednn": 3.4e-05}}],
//    "steps": [{"body": "train 5f3a..", "default": "launches", "chosen": "one kernel", "seconds": {..}}], ..}
//
// A table holds for one processor or card and one version of Heddle: elsewhere it is refused.
#pragma once
#include <string>

#include "codegen/lower.h"
#include "ir/diagnostic.h"
#include "passes/choices.h"
#include "tools/driver/gpu_libraries.h"

namespace heddle::driver {

struct Choices {
  std::string file;  // where it was read; empty: there is none
  std::string heddle, processor;
  GpuLibraries libraries;           // what the table does not list goes there, too
  passes::MeasuredChoices kernels;  // by body (passes/choices.h)
  passes::MeasuredChoices steps;    // by step_body: "launches" or "one kernel"
  bool empty() const { return kernels.empty() && steps.empty(); }
};

inline const std::string kLaunches = "launches", kOneKernel = "one kernel";
constexpr size_t kMostChoicesBytes = size_t{16} << 20;
constexpr std::string_view kChoicesHead = "{\"format\": \"heddle-choices/1\"";

// Throws UserError at the first fault. Locations point into `file`.
Choices read_choices(const SourceFile& file);

// What decides whether a table holds: of a GPU the target's name and figures, of the host what /proc/cpuinfo says.
std::string processor_name(const ir::Target& target);
// Throws UserError where the table was measured elsewhere, or by another version.
void require_choices_for(const Choices& choices, const ir::Target& target);

// What is chosen, without times: equal where programs are. "" without choices.
std::string hash_of(const Choices& choices);

// An entry, by a hash of the bodies of the kernels that it calls: "train 5f3a..".
std::string step_body(const ir::Module& m, const ir::Graph& entry);
codegen::OneKernels one_kernels(const Choices& choices, const ir::Module& m);

// What is said of a table that changes nothing in a program: "t.json: none of its choices is about this program",
// "t.json: it holds no choices".
std::string told_of_unused(const Choices& choices);

// Whether any choice was about a program.
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
