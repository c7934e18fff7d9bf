#include "tools/command/step_again.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "frontend/read/read_parts.h"
#include "frontend/training/learning_rate.h"
#include "ir/builder.h"
#include "ir/evaluate/tensor_bytes.h"
#include "ir/kernel/cost.h"
#include "ir/storage/storage.h"

namespace heddle::tools {

using ir::Graph;
using ir::NamedTensors;
using ir::Tensor;
using ir::ValueId;

namespace {

void run_to(ir::Module& m, const RunArguments& a, const char* pass) {
  driver::CompileOptions options = compile_options(a.model);
  options.to = pass;
  driver::run_passes(m, options);
}

void note_forward(StepAgain& again, const Graph& g) {
  for (const ir::NodeId id : g.order)
    if (!std::holds_alternative<ir::Gradient>(g[id].op->kind))
      for (const ValueId v : g[id].results) again.forward.insert(name_in(g, v));
}

// A program that makes the batches and nothing else: each input is a result, and the loss is 0.
codegen::Program batch_program(const RunArguments& a, const Run& run, const Graph& g) {
  ir::Module m;
  Graph& only = m.graphs.emplace_back();
  only.name = g.name;
  ir::Builder b(only);
  only.outputs.push_back(b.constant(0, {ir::DType::f32, {}}));
  only.rename(only.outputs[0], "loss");
  for (const ValueId v : g.inputs)
    if (g[v].role == ir::Role::input) only.outputs.push_back(only.add_input(g[v].name, g[v].type, ir::Role::input));
  driver::CompileOptions options = compile_options(a.model);
  options.target = run.device.target;
  driver::run_passes(m, options, run.session.fed);
  return driver::lower(m, run.session.plan.name + "_batches", options);
}

}  // namespace

std::string name_in(const Graph& g, ValueId v) {
  if (!g.body) return g[v].name;
  // A scan that saves values for its gradient has a body of another name (passes/scan/gradient.cpp).
  static const std::regex saves(R"((\.forward(\.\d+)?)+$)");
  return "@" + std::regex_replace(g.name, saves, "") + " %" + g[v].name;
}

StepAgain build_again(const RunArguments& a, const Run& run, const std::string& entry) {
  return build_again(a, run, entry, 1);
}

StepAgain build_again(const RunArguments& a, const Run& run, const std::string& entry, int64_t times) {
  frontend::BuildOptions entries = run.session.entries;
  const ir::EntryKind kind = ir::entry_kind(entry);
  // A graph of rows that are left over comes with that of whole batches.
  const int64_t train = kind.phase == ir::Phase::train ? times : 0, eval = kind.phase == ir::Phase::eval ? times : 0;
  const int64_t last = kind.batch == ir::BatchKind::remainder ? 1 : 0;
  entries.train *= train, entries.train_last *= train * last;
  entries.eval *= eval, entries.eval_last *= eval * last;
  entries.predict = 0;
  frontend::Model model = run.read.model;
  if (times > 1) model.train.sizes[model.batch_dimension] *= times;  // micro-batches are so many times larger, too
  StepAgain again{frontend::build_module(model, entries), {}};
  std::erase_if(again.module.graphs, [&](const Graph& g) { return g.name != entry; });
  note_forward(again, again.step());
  for (const Graph& body : again.module.bodies) note_forward(again, body);
  run_to(again.module, a, "differentiate");
  return again;
}

double flops_of(const Graph& g) {
  double flops = 0;
  for (const ir::NodeId id : g.order)
    flops += ir::node_flops(g, g[id]) + static_cast<double>(g[g[id].results[0]].type.elements());
  return flops;
}

Tensor read_tensor(runtime::Executable& executable, const codegen::Buffer& buffer, const ir::Type& type) {
  std::vector<std::byte> bytes(static_cast<size_t>(buffer.bytes));
  executable.read(buffer, bytes.data());
  return ir::from_bytes(type, bytes);
}

NamedTensors read_states(driver::Session& s, const Graph& g) {
  NamedTensors states;
  for (const ValueId v : g.inputs)
    for (const codegen::Buffer& state : s.program.states)
      if (ir::is_state(g[v]) && state.name == g[v].name)
        states[state.name] = read_tensor(*s.executable, state, g[v].type);
  return states;
}

BatchesAgain::BatchesAgain(const RunArguments& a, const Run& run, const Graph& g, const runtime::data::Table& table,
                           std::span<const uint32_t> order, runtime::Draws draws)
    : program_(batch_program(a, run, g)),
      executable_(program_, *run.device.device),
      feed_(executable_),
      entry_(*program_.find_entry(g.kind())) {
  feed_.begin(table, order, draws);
}

void BatchesAgain::next(const Graph& g, NamedTensors& into) {
  feed_.provide(entry_.fed_rows);
  executable_.wait(executable_.submit(entry_, 1));
  feed_.take(1);
  for (const codegen::Buffer& b : entry_.outputs)
    if (b.name != "loss") into[b.name] = read_tensor(executable_, b, g[g.find(b.name)].type);
}

std::string title_at(const frontend::Model& model, const ir::Node& n) {
  const auto of_nodes = [&](const std::vector<frontend::NodeDef>& nodes) -> std::string {
    const auto at = std::ranges::find(nodes, n.loc, &frontend::NodeDef::op_where);
    return at == nodes.end() ? "" : frontend::title_of(*at);
  };
  if (std::string title = of_nodes(model.nodes); !title.empty()) return title;
  for (const auto& [name, block] : model.blocks)
    if (std::string title = of_nodes(block.nodes); !title.empty()) return title;
  for (const frontend::Part& part : model.train.losses)
    if (part.op_where == n.loc) return "loss " + part.op;
  for (const frontend::WeightRule& rule : model.train.regularize)
    if (rule.op_where == n.loc) return "regularizer " + rule.op;
  for (const frontend::WeightRule& rule : model.train.constrain)
    if (rule.op_where == n.loc) return "constraint " + rule.op;
  for (const auto& [prefix, optimizer] : frontend::optimizers_of(model.train))
    if (optimizer->op_where == n.loc) return "optimizer " + optimizer->op;
  return n.op->name;
}

std::optional<std::string> own_limits(const ir::OpDef& op) {
  if (op.doc.find("nan") == std::string::npos && op.doc.find("inf") == std::string::npos) return std::nullopt;
  return fmt::format("{} is {}: keep what it reads within that, by clamp or by a small number that is added", op.name,
                     op.doc);
}

}  // namespace heddle::tools
