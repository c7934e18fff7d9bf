// A step of a training that is done once more by the operators' oracles: its graph, its batch, and how messages call its
// parts.
//
//   const StepAgain again = build_again(a, run, "train");
//   BatchesAgain batches(a, run, again.step(), rows, draws);
//   NamedTensors tensors; batches.next(again.step(), tensors);     // of the inputs
#pragma once
#include <optional>
#include <set>
#include <span>
#include <string>

#include "ir/evaluate/evaluate.h"
#include "runtime/feed.h"
#include "tools/command/open_run.h"

namespace heddle::tools {

// A step with its gradients, as far as passes must take it for the oracles.
struct StepAgain {
  ir::Module module;              // of this graph alone
  std::set<std::string> forward;  // names of values that no gradient is; of a body "@body %name"
  const ir::Graph& step() const { return module.graphs.front(); }
};

std::string name_in(const ir::Graph& g, ir::ValueId v);  // as `forward` has it

StepAgain build_again(const RunArguments& a, const Run& run, const std::string& entry);
// Of batches that are so many times larger.
StepAgain build_again(const RunArguments& a, const Run& run, const std::string& entry, int64_t times);

double flops_of(const ir::Graph& g);

ir::Tensor read_tensor(runtime::Executable& executable, const codegen::Buffer& buffer, const ir::Type& type);
ir::NamedTensors read_states(driver::Session& s, const ir::Graph& g);  // of the device, those that the graph has

// Makes the step's batches, by the device's own kernel.
class BatchesAgain {
 public:
  // Both must stay: the table, and the order in which its rows are taken.
  BatchesAgain(const RunArguments& a, const Run& run, const ir::Graph& g, const runtime::data::Table& table,
               std::span<const uint32_t> order, runtime::Draws draws);
  void next(const ir::Graph& g, ir::NamedTensors& into);

 private:
  codegen::Program program_;
  runtime::Executable executable_;
  runtime::Feed feed_;
  const codegen::Entry& entry_;
};

// Of an operator whose text tells what becomes nan or infinite, what to do about it; else nothing.
std::optional<std::string> own_limits(const ir::OpDef& op);

// What the model calls the part at that place: "log 'y'", "loss mse".
std::string title_at(const frontend::Model& model, const ir::Node& n);

}  // namespace heddle::tools
