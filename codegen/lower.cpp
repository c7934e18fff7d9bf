#include "codegen/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "codegen/emit.h"
#include "codegen/feeding.h"
#include "codegen/lower_memory.h"
#include "codegen/persistent.h"
#include "codegen/predict.h"
#include "codegen/scalar_argument.h"
#include "ir/check.h"
#include "ir/inner_text.h"
#include "ir/kernel/cost.h"
#include "ir/scan.h"
#include "ir/storage/view.h"

namespace heddle::codegen {
namespace {

using namespace ir;

// An identifier that C accepts, not used before: "broadcast.add" becomes broadcast_add.
std::string symbol(const std::string& name, std::set<std::string>& used) {
  std::string base;
  for (char c : name) base += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (base.empty() || std::isdigit(static_cast<unsigned char>(base[0]))) base = "k_" + base;
  std::string result = base;
  for (int i = 1; !used.insert(result).second; ++i) result = fmt::format("{}_{}", base, i);
  return result;
}

struct Lowered {
  int64_t kernel = 0;  // index into Program::kernels
  bool scratch = false;
  int64_t counters = 0;  // of each launch, if blocks or parts meet
};

class Lowering {
  using Steps = std::vector<Step>;

 public:
  Lowering(const Module& m, const std::string& name, const Target& target, OneKernel one_kernel,
           const OneKernels& of_entries)
      : m_(m), target_(target), one_kernel_(one_kernel), of_entries_(of_entries) {
    program_.name = name;
    program_.target = target.name;
    program_.arch = target.arch;
  }

  Program run() {
    states_ = state_table(m_);
    program_.feeding = feeding(m_, states_);
    emit_kernels();
    for (const Graph& g : m_.graphs) program_.entries.push_back(entry(g));
    if (target_.gpu && !program_.feeding.columns.empty()) predict(program_, m_, target_);
    for (Entry& e : program_.entries) make_persistent(e);
    if (!persistent_.empty()) add_persistent_kernels();
    for (const Entry& e : program_.entries) program_.arena_bytes = std::max(program_.arena_bytes, e.arena_bytes);
    program_.states = states_.buffers;
    program_.state_bytes = align_up(states_.bytes, kArenaAlignment);
    return std::move(program_);
  }

 private:
  void add_persistent_kernels() {
    program_.source += fmt::format("{}, those above are functions that these call.\n", kPersistentKernels);
    program_.source += "#if defined(HD_PERSISTENT)\n" + persistent_ + "#endif\n";
  }

  // Makes a persistent kernel of an entry that reads its own batches, or of the turns of its loops.
  void make_persistent(Entry& e) {
    if (e.fed_rows == 0 || !target_.gpu) return;
    const auto measured = of_entries_.find(e.name);
    const OneKernel one_kernel = measured == of_entries_.end() ? one_kernel_ : measured->second;
    PersistentPlan whole = plan_persistent(m_, program_, e.steps, target_);
    double otherwise = whole.seconds_launched;
    std::vector<PersistentPlan> loops(e.steps.size());
    for (size_t i = 0; i < e.steps.size(); ++i) {
      auto* loop = std::get_if<Loop>(&e.steps[i].what);
      if (loop == nullptr) continue;
      loops[i] = plan_persistent(m_, program_, {e.steps[i]}, target_);
      loop->not_persistent = refusal(loops[i], one_kernel, loops[i].seconds_launched, target_.launch);
      if (loop->not_persistent.empty() && one_kernel == OneKernel::where_faster)
        otherwise += loops[i].seconds + target_.launch - loops[i].seconds_launched;
    }
    e.not_persistent = refusal(whole, one_kernel, otherwise, 0);
    if (e.not_persistent.empty()) {
      for (Step& step : e.steps)
        if (auto* loop = std::get_if<Loop>(&step.what)) loop->not_persistent.clear();
      e.persistent_facts = whole.facts();
      e.persistent = add_persistent(e, e.steps, e.name, "_steps", std::move(whole));
      return;
    }
    for (size_t i = 0; i < e.steps.size(); ++i) {
      auto* loop = std::get_if<Loop>(&e.steps[i].what);
      if (loop == nullptr || !loop->not_persistent.empty()) continue;
      loop->persistent_facts = loops[i].facts();
      loop->persistent = add_persistent(e, {e.steps[i]}, loop->title, "_turns", std::move(loops[i]));
    }
  }

  // Why the launches are kept instead of the persistent kernel. They take `launched` seconds; `more` are the seconds to
  // start the kernel.
  static std::string refusal(const PersistentPlan& plan, OneKernel one_kernel, double launched, double more) {
    if (one_kernel == OneKernel::nowhere) return "not asked for";
    if (!plan.impossible.empty()) return plan.impossible;
    if (plan.seconds + more < launched || one_kernel == OneKernel::where_possible) return {};
    const char* in = launched < plan.seconds_launched ? "launches and kernels of loops" : "launches";
    return fmt::format("predicted {:.1f} us in one kernel, {:.1f} us in {} {}", (plan.seconds + more) * 1e6,
                       launched * 1e6, plan.launches, in);
  }

  int64_t add_persistent(Entry& e, const Steps& steps, const std::string& title, const char* what,
                         PersistentPlan&& plan) {
    for (auto& [i, cell] : plan.cells) {
      const auto& loop = std::get<Loop>(steps[i].what);
      if (!cell.other) {
        cell.other = Address{.segment = Segment::arena, .offset = align_up(e.arena_bytes, kArenaAlignment)};
        e.arena_bytes = cell.other->offset + cell.value.bytes;
      }
      cell.product_function = slice_function(loop.steps[cell.product], cell.slice);
      if (cell.cell) cell.cell_function = slice_function(loop.steps[*cell.cell], cell.slice);
    }
    const Argument meeting = launch_counter(1);
    EmittedKernel emitted =
        emit_persistent(program_, steps, title, plan, meeting.at, "k_" + symbol(title + what, symbols_));
    persistent_ += "\n" + emitted.text;
    program_.kernels.push_back(std::move(emitted.facts));
    return std::ssize(program_.kernels) - 1;
  }

  // Entries share it.
  const std::string& slice_function(const Step& step, const UnitSlice& slice) {
    const Kernel& k = program_.kernels[static_cast<size_t>(std::get<Launch>(step.what).kernel)];
    std::string& name = slice_functions_[fmt::format("{} {} {}", k.name, slice.count, slice.threads)];
    if (!name.empty()) return name;
    name = symbol(fmt::format("{}_of_{}", k.name, slice.count), symbols_);
    persistent_ += "\n" + emit_slice(*m_.find_kernel(k.title), name, slice);
    return name;
  }

  std::vector<const Graph*> generated_kernels() const {
    std::set<std::string> called;
    for (const Graph* g : m_.all_graphs())
      for (NodeId n : g->order) called.insert((*g)[n].callee);
    std::vector<const Graph*> kernels;
    for (const Graph& k : m_.kernels)
      if (called.count(k.name) && !calls_library(k)) kernels.push_back(&k);
    return kernels;
  }

  void emit_kernels() {
    std::vector<const Graph*> kernels = generated_kernels();
    std::string text;
    for (const Graph* k : kernels) {
      EmittedKernel emitted = emit_kernel(*k, symbol(k->name, symbols_));
      const Cost cost = moved_and_computed(*k);
      emitted.facts.bytes_read = cost.bytes_read;
      emitted.facts.bytes_written = cost.bytes_written;
      emitted.facts.flops = cost.flops;
      lowered_[k->name] = {.kernel = static_cast<int64_t>(program_.kernels.size()),
                           .scratch = emitted.scratch,
                           .counters = emitted.counters};
      program_.kernels.push_back(std::move(emitted.facts));
      text += "\n" + emitted.text;
    }
    program_.source = preamble() + emit_scalar_functions(kernels) + text;
  }

  Entry entry(const Graph& g) {
    Entry e;
    e.name = g.name;
    e.arena_bytes = std::max<int64_t>(g.arena_bytes, 0);
    e.max_live_bytes = max_live_bytes(m_, g);
    const Frame frame = entry_frame(g, states_);
    for (ValueId v : g.inputs)
      if (g[v].role == Role::input) e.inputs.push_back(buffer(g[v], BufferRole::input, address(frame, v)));
    for (const FedValue& fed : fed_values(m_, g)) {
      e.inputs.push_back(buffer(g[fed.value], BufferRole::input, address(frame, fed.value)));
      e.inputs.back().name = fed.fed.column.input;
      e.fed_rows = fed.fed.rows();
      e.draws = e.draws || fed.fed.first_draw > 0;
    }
    for (NodeId n : g.order) add_steps(e.steps, frame, g[n]);
    add_updates(e.steps, frame);
    for (ValueId v : g.outputs)
      e.outputs.push_back(buffer(g[v], result_role(output_role(g[v].name)), address(frame, v)));
    return e;
  }

  static std::vector<Argument> arguments(const Frame& frame, const Node& n) {
    std::vector<Argument> list;
    for (ValueId v : n.operands) list.push_back({address(frame, v), frame.graph[v].type.bytes(), Access::read});
    for (ValueId v : n.results) list.push_back({address(frame, v), frame.graph[v].type.bytes(), Access::write});
    return list;
  }

  static Argument workspace(const Frame& frame, const Node& n, const Graph& kernel) {
    auto found = n.attrs.find("workspace_at");
    Address at = frame.arena;
    at.offset += found == n.attrs.end() ? 0 : std::get<int64_t>(found->second);
    return {at, kernel.schedule->workspace, Access::read_write};
  }

  // The counters are zero at load, and the launch's last block resets them. Each launch has its own counters, because
  // two launches may run at the same time.
  Argument launch_counter(int64_t counters) {
    const int64_t one = sizeof(uint32_t), bytes = counters * one;
    return {{Segment::state, states_.reserve(bytes, one)}, bytes, Access::read_write};
  }

  void add_steps(Steps& steps, const Frame& frame, const Node& n) {
    if (is_scan(n)) return add_loop(steps, frame, n);
    std::string origin = own_place(to_string(n.loc));
    const Graph* kernel = m_.find_kernel(n.callee);
    if (!kernel) {
      add_copies(steps, frame, n, origin);
    } else if (calls_library(*kernel)) {
      steps.push_back({library(frame, n, *kernel), origin});
    } else {
      const Lowered& lowered = lowered_.at(kernel->name);
      Launch launch{.kernel = lowered.kernel, .arguments = arguments(frame, n), .scalars = {}};
      if (lowered.scratch) launch.arguments.push_back(workspace(frame, n, *kernel));
      if (lowered.counters > 0) launch.arguments.push_back(launch_counter(lowered.counters));
      for (const ir::Scalar& s : kernel->scalars)
        launch.scalars.push_back(scalar_argument(n.attrs.find(s.name)->second, s.dtype));
      steps.push_back({std::move(launch), origin});
    }
  }

  Library library(const Frame& frame, const Node& n, const Graph& kernel) const {
    Library call = describe_library(kernel);
    call.arguments = arguments(frame, n);
    call.workspace = workspace(frame, n, kernel);
    const Cost cost = moved_and_computed(kernel);
    call.bytes_read = cost.bytes_read;
    call.bytes_written = cost.bytes_written;
    call.flops = cost.flops;
    return call;
  }

  static void add_copy(Steps& steps, const Address& from, const Address& to, const Type& type, std::string reason,
                       const std::string& origin) {
    if (!(from == to)) steps.push_back({Copy{from, to, type.bytes(), std::move(reason)}, origin});
  }

  // The carries lie in the scan's results; their start values are copied there before the loop if necessary. Rows that
  // cannot be read or written in the outer arrays are copied in before a turn, or out after it. Carries are copied
  // first, because all updates of a graph come before its outputs.
  void add_loop(Steps& steps, const Frame& around, const Node& n) {
    const Graph& body = *m_.find_body(n.callee);
    const std::string origin = own_place(to_string(n.loc));
    const std::vector<ValueId> inputs = operand_inputs(body), carries = inputs_with(body, Role::carry);
    const Frame frame = body_frame(body, around, n);
    Loop loop{.count = turns(n), .steps = {}, .title = body.name};
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Value& in = body[inputs[i]];
      const Address given = address(around, n.operands[i]);
      if (in.role == Role::carry)
        add_copy(steps, given, frame.outside.at(inputs[i]), in.type, "where a carry starts", origin);
      else if (!lies_outside(in))
        add_copy(loop.steps, row(given, in.type, n, around.depth), address(frame, inputs[i]), in.type,
                 fmt::format("rows are no multiple of {} bytes", kViewAlignment), origin);
    }
    for (const NodeId id : body.order) add_steps(loop.steps, frame, body[id]);
    add_updates(loop.steps, frame);
    for (size_t k = 0; k < body.outputs.size(); ++k) {
      const Type& type = body[body.outputs[k]].type;
      const Address all = address(around, n.results[carries.size() + k]);
      add_copy(loop.steps, address(frame, body.outputs[k]), row(all, type, n, around.depth), type, "stacked", origin);
    }
    steps.push_back({std::move(loop), origin});
  }

  // A node outside of kernels only renames bytes. If the plan made it a view, no copy is needed.
  static void add_copies(Steps& steps, const Frame& frame, const Node& n, const std::string& origin) {
    const Graph& g = frame.graph;
    std::vector<Piece> pieces = contiguous_pieces(g, n);
    HEDDLE_CHECK(!pieces.empty(), n.op->name + " is in no kernel");
    const Type& type = g[n.results[0]].type;
    int64_t element = bits(type.dtype) / 8;
    for (const Piece& p : pieces) {
      Address from = address(frame, n.operands[p.operand]), to = address(frame, n.results[0]);
      from.offset += p.from * element;
      to.offset += p.to * element;
      if (from == to) continue;
      steps.push_back({Copy{from, to, p.count * element, n.op->name + " is not a view here"}, origin});
    }
  }

  // Copies the next values of states that were not computed in place. No next value lies in a state that another update
  // overwrites (`alias` copies those), so the order does not matter.
  static void add_updates(Steps& steps, const Frame& frame) {
    for (const Update& u : frame.graph.updates)
      add_copy(steps, address(frame, u.next), address(frame, u.state), frame.graph[u.state].type,
               "not computed in place", {});
  }

  const Module& m_;
  const Target& target_;
  OneKernel one_kernel_;
  const OneKernels& of_entries_;
  Program program_;
  StateTable states_;
  std::set<std::string> symbols_;
  std::string persistent_;                              // text of persistent kernels
  std::map<std::string, std::string> slice_functions_;  // names of functions in it, by kernel, units and threads
  std::map<std::string, Lowered> lowered_;
};

}  // namespace

Program lower(const Module& m, const std::string& name, const Target& target, OneKernel one_kernel,
              const OneKernels& of_entries) {
  return Lowering(m, name, target, one_kernel, of_entries).run();
}

}  // namespace heddle::codegen
