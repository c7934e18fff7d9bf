#include "tools/driver/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <random>
#include <utility>

#include "ir/evaluate/tensor_bytes.h"
#include "ir/op_def.h"
#include "passes/outline.h"
#include "passes/pipeline.h"
#include "runtime/executable.h"
#include "tools/driver/profile.h"

namespace heddle::driver {
namespace {

constexpr const char* kEntry = "predict";  // an entry that takes what it is given
constexpr size_t kLeastRounds = 7, kMostRounds = 15;

bool holds_product(const ir::Graph& k) {
  return std::ranges::any_of(k.order,
                             [&](ir::NodeId n) { return std::holds_alternative<ir::Contraction>(k[n].op->kind); });
}

// Operands of a product are states, which no run overwrites. Those of a composite are inputs: what it is made of may
// want its operands in another order, which states would get for nothing.
ir::Role role_of_operands(const ir::Graph& k) { return holds_product(k) ? ir::Role::param : ir::Role::input; }

// The part as an entry, before the passes.
ir::Module part_alone(const passes::Decision& decision) {
  ir::Module m;
  const ir::Role role = role_of_operands(decision.kernel);
  ir::Graph g = decision.kernel;
  g.schedule.reset();
  g.name = kEntry;
  for (size_t i = 0; i < g.inputs.size(); ++i) {
    g[g.inputs[i]].role = role;
    g.rename(g.inputs[i], fmt::format("operand{}", i));
  }
  m.graphs.push_back(std::move(g));
  return m;
}

// A call of the kernel, behind all passes but those that plan memory.
ir::Module call_alone(const passes::Decision& decision, size_t candidate, const CompileOptions& options) {
  ir::Module m;
  ir::Graph kernel = decision.kernel;
  kernel.schedule = decision.schedules[candidate];
  ir::Graph g;
  g.name = kEntry;
  std::vector<ir::ValueId> operands;
  for (size_t i = 0; i < kernel.inputs.size(); ++i)
    operands.push_back(
        g.add_input(fmt::format("operand{}", i), kernel[kernel.inputs[i]].type, role_of_operands(kernel)));
  std::vector<std::string> names;
  std::vector<ir::Type> types;
  for (const ir::ValueId v : kernel.outputs) {
    names.push_back(fmt::format("result{}", names.size()));
    types.push_back(kernel[v].type);
  }
  const ir::NodeId call = g.add_node(ir::op_def("call"), operands, {}, names, types);
  g[call].callee = kernel.name;
  g.outputs = g[call].results;
  m.kernels.push_back(std::move(kernel));
  m.graphs.push_back(std::move(g));
  passes::Options pass_options;
  pass_options.target = options.target, pass_options.memory_bytes = options.memory_bytes;
  for (const char* pass : {"schedule_instructions", "alias", "assign_buffers"})
    passes::run_pass(*passes::find_pass(pass), m, pass_options);
  return m;
}

// Throws UserError where the compiled program does not run this candidate.
ir::Module planned(const passes::Decision& decision, size_t candidate, const CompileOptions& given) {
  if (!decision.schedules.empty()) return call_alone(decision, candidate, given);
  const std::string& name = decision.candidates[candidate];
  CompileOptions options = given;
  options.choices = {};
  options.choices.kernels[decision.body] = {.chosen = name, .seconds = {}, .origin = {}};
  bool taken = false;
  options.decided = [&](const passes::Decision& d) { taken = taken || (d.body == decision.body && d.taken == name); };
  ir::Module m = part_alone(decision);
  run_passes(m, options);
  if (!taken) throw UserError(ExitCode::failed, "alone it is another part");
  return m;
}

// normal(0, 1), the same numbers over and over in large arrays.
std::vector<std::byte> random_bytes(const codegen::Buffer& buffer) {
  constexpr int64_t kMostDrawn = 1 << 16;
  const ir::DType dtype = ir::parse_dtype(buffer.dtype).value();
  int64_t elements = 1;
  for (const int64_t d : buffer.dims) elements *= d;
  ir::Tensor drawn({dtype, {std::clamp<int64_t>(elements, 1, kMostDrawn)}});
  std::mt19937 random(1);  // NOLINT: the same each time
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < drawn.elements(); ++i) drawn.set(i, normal(random));
  const std::vector<std::byte> some = ir::to_bytes(drawn);
  std::vector<std::byte> bytes(static_cast<size_t>(buffer.bytes));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = some[i % some.size()];
  return bytes;
}

// One candidate, loaded.
class Alone {
 public:
  Alone(const passes::Decision& decision, size_t candidate, const CompileOptions& options, const DeviceRequest& device)
      : gpu_(options.target.gpu) {
    program_ = lower(planned(decision, candidate, options), "tune", options);
    device_ = open_device(device);
    executable_ = std::make_unique<runtime::Executable>(program_, *device_.device);
    entry_ = program_.find_entry(ir::entry_kind(kEntry));
    for (const codegen::Buffer& state : program_.states) executable_->write(state, random_bytes(state).data());
    for (const codegen::Buffer& input : entry_->inputs) inputs_.push_back(random_bytes(input));
  }

  void warm_up() {
    run(1);  // the first has lists to make
    constexpr double kRound = 2e-3;
    const double once = run(1);
    if (!gpu_ && inputs_.empty())
      repeats_ = std::clamp<int64_t>(static_cast<int64_t>(kRound / std::max(once, 1e-9)), 1, 2000);
  }
  double round() { return run(repeats_); }

 private:
  double run(int64_t repeats) {
    for (size_t i = 0; i < inputs_.size(); ++i) executable_->write(entry_->inputs[i], inputs_[i].data());
    double seconds = 0;
    for (const runtime::StepTime& step : executable_->profile(*entry_, repeats).steps) seconds += step.seconds;
    return seconds;
  }

  bool gpu_;
  codegen::Program program_;
  OpenedDevice device_;
  std::unique_ptr<runtime::Executable> executable_;
  const codegen::Entry* entry_ = nullptr;
  std::vector<std::vector<std::byte>> inputs_;
  int64_t repeats_ = 1;
};

std::string reads_no_numbers(const ir::Graph& k) {
  for (const ir::ValueId v : k.inputs)
    if (!is_floating(k[v].type.dtype))
      return "it reads " + to_string(k[v].type.dtype) + ", of which nothing is known here";
  return {};
}

// Every other round in the other direction.
std::vector<std::vector<double>> take_turns(std::vector<std::unique_ptr<Alone>>& alone, TuneClock::time_point end) {
  std::vector<std::vector<double>> times(alone.size());
  for (std::unique_ptr<Alone>& candidate : alone) candidate->warm_up();
  for (size_t round = 0; round < kMostRounds && (round < kLeastRounds || TuneClock::now() < end); ++round)
    for (size_t i = 0; i < alone.size(); ++i) {
      const size_t at = round % 2 == 0 ? i : alone.size() - 1 - i;
      times[at].push_back(alone[at]->round());
    }
  return times;
}

}  // namespace

Verdict judge(const std::vector<std::vector<double>>& times, size_t usual) {
  Verdict verdict{.chosen = usual, .medians = {}};
  for (const std::vector<double>& of_candidate : times) verdict.medians.push_back(median(of_candidate));
  for (size_t c = 0; c < times.size(); ++c) {
    if (c == usual || verdict.medians[c] > (1 - kLeastGain) * verdict.medians[usual]) continue;
    size_t faster = 0;
    for (size_t round = 0; round < times[c].size(); ++round) faster += times[c][round] < times[usual][round] ? 1 : 0;
    const bool often = static_cast<double>(faster) >= kRoundsFaster * static_cast<double>(times[c].size());
    if (often && verdict.medians[c] < verdict.medians[verdict.chosen]) verdict.chosen = c;
  }
  return verdict;
}

std::string TunedKernel::title() const {
  const ir::Graph& k = decision.kernel;
  return fmt::format("{} {}", passes::kernel_name(k), to_string(k[k.outputs.at(0)].type));
}

TunedKernel tune_kernel(const passes::Decision& decision, const CompileOptions& options, const DeviceRequest& device,
                        TuneClock::time_point end) {
  TunedKernel tuned;
  tuned.decision = decision;
  const size_t count = decision.candidates.size();
  tuned.seconds.resize(count), tuned.refusals.resize(count);
  tuned.usual = tuned.chosen =
      static_cast<size_t>(std::ranges::find(decision.candidates, decision.taken) - decision.candidates.begin());
  if (tuned.left = reads_no_numbers(decision.kernel); !tuned.left.empty()) return tuned;
  std::vector<std::unique_ptr<Alone>> alone;
  std::vector<size_t> which;
  size_t usual = count;  // among those
  for (size_t c = 0; c < count; ++c) {
    if (TuneClock::now() >= end) {
      tuned.left = "the time is up";
      return tuned;
    }
    try {
      alone.push_back(std::make_unique<Alone>(decision, c, options, device));
      if (c == tuned.usual) usual = which.size();
      which.push_back(c);
    } catch (const UserError& error) {
      tuned.refusals[c] = error.diagnostics().front().message;
    }
  }
  if (usual == count || which.size() < 2) {
    tuned.left = usual == count ? tuned.refusals[tuned.usual] : "no other candidate runs";
    return tuned;
  }
  const Verdict verdict = judge(take_turns(alone, end), usual);
  for (size_t i = 0; i < which.size(); ++i) tuned.seconds[which[i]] = verdict.medians[i];
  tuned.chosen = which[verdict.chosen];
  return tuned;
}

passes::MeasuredChoice choice_of(const TunedKernel& tuned) {
  passes::MeasuredChoice choice{.chosen = tuned.decision.candidates[tuned.chosen], .seconds = {}, .origin = {}};
  for (size_t c = 0; c < tuned.seconds.size(); ++c)
    if (tuned.seconds[c] > 0) choice.seconds[tuned.decision.candidates[c]] = tuned.seconds[c];
  return choice;
}

}  // namespace heddle::driver
