// Replays a training step with the operators' oracles: builds its graph and its batches, and names its parts in
// messages.
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

// The graph of a step with its gradients, after the passes that the oracles need.
struct StepAgain {
  ir::Module module;              // holds only this graph
  std::set<std::string> forward;  // names of the forward values; in a body: "@body %name"
  const ir::Graph& step() const { return module.graphs.front(); }
};

std::string name_in(const ir::Graph& g, ir::ValueId v);  // the value's name as in `forward`

StepAgain build_again(const RunArguments& a, const Run& run, const std::string& entry);
// The same with batches that are `times` times larger.
StepAgain build_again(const RunArguments& a, const Run& run, const std::string& entry, int64_t times);

double flops_of(const ir::Graph& g);

ir::Tensor read_tensor(runtime::Executable& executable, const codegen::Buffer& buffer, const ir::Type& type);
ir::NamedTensors read_states(driver::Session& s, const ir::Graph& g);  // reads the graph's states from the device

// Makes the step's batches with the device's own kernel.
class BatchesAgain {
 public:
  // `table` and `order`, the row numbers, must outlive this.
  BatchesAgain(const RunArguments& a, const Run& run, const ir::Graph& g, const runtime::data::Table& table,
               std::span<const uint32_t> order, runtime::Draws draws);
  void next(const ir::Graph& g, ir::NamedTensors& into);

 private:
  codegen::Program program_;
  runtime::Executable executable_;
  runtime::Feed feed_;
  const codegen::Entry& entry_;
};

// The remedy for an operator whose documentation says where it gives nan or infinity; else nothing.
std::optional<std::string> own_limits(const ir::OpDef& op);

// The model's name for the part that the node comes from: "log 'y'", "loss mse".
std::string title_at(const frontend::Model& model, const ir::Node& n);

}  // namespace heddle::tools
