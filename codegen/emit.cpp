#include "codegen/emit.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/emit_parts.h"
#include "codegen/scalar_argument.h"
#include "ir/check.h"

namespace heddle::codegen {

using namespace ir;  // NOLINT: this file speaks of little else

namespace {

KernelText prepare(const Graph& kernel) {
  const KernelSchedule& schedule = *kernel.schedule;
  KernelText text{.kernel = kernel, .plan = {}, .index_type = "", .inputs = {}, .outputs = {}, .names = {}};
  const bool product = std::holds_alternative<schedules::Product>(schedule.how);
  if (product) text.contract = plan_contract(kernel);
  text.plan = product ? plan_kernel(kernel, text.contract) : plan_kernel(kernel);
  const std::string reason = text.plan.ok() ? schedule_conflict(schedule, text.plan) : text.plan.reason;
  if (!reason.empty())
    throw UserError(ExitCode::failed, "@" + kernel.name + " cannot be executed in its schedule: " + reason);
  const ThreadWork work = thread_work(schedule);
  text.vector_width = work.vector_width;
  text.team = work.team;
  text.prefetch_distance = work.prefetch_distance;
  text.groups = text.plan.draws && work.vector_width == kDrawnAtOnce;
  text.index_type = generated(schedule).index == 64 ? "hd::i64" : "int";
  for (const ValueId v : kernel.inputs) text.inputs[v] = text.names.fresh(kernel[v].name + "_in");
  for (const ValueId v : kernel.outputs) text.outputs[v].push_back(text.names.fresh(kernel[v].name + "_out"));
  for (const Scalar& s : kernel.scalars) text.scalars[s.name] = text.names.fresh(s.name);
  return text;
}

loop::Statements loops(const KernelText& text) {
  const Graph& k = text.kernel;
  const bool product = std::holds_alternative<schedules::Product>(k.schedule->how);
  return product ? product_loops(k, text.contract) : loop::loops_of(k, text.plan);
}

bool has_scratch(const KernelPlan& plan) { return plan.partial_bytes > 0; }
bool has_counter(const KernelPlan& plan) { return plan.counters > 0; }

// "__restrict__ ", unless a call writes over this operand, or this result over an operand (pass alias): both are
// written in the kernel as `%y: f32[8] at %x`.
std::string restricted(const Graph& k, ValueId v) {
  return is_overwritten(k, v) || k[v].place.base.valid() ? "" : "__restrict__ ";
}

std::string arrays(const KernelText& text) {
  const Graph& k = text.kernel;
  std::vector<std::string> all;
  for (const ValueId v : k.inputs)
    all.push_back(fmt::format("const {}* {}{}", storage_type(k[v].type.dtype), restricted(k, v), text.inputs.at(v)));
  std::map<ValueId, size_t> used;
  for (const ValueId v : k.outputs)
    all.push_back(
        fmt::format("{}* {}{}", storage_type(k[v].type.dtype), restricted(k, v), text.outputs.at(v)[used[v]++]));
  return joined(all, ",\n    ");
}

void add_scalars(const KernelText& text, std::vector<std::string>& to) {
  for (const Scalar& s : text.kernel.scalars)
    to.push_back(fmt::format("const {} {}", compute_type(s.dtype), text.scalars.at(s.name)));
}

std::string parameters(const KernelText& text) {
  std::vector<std::string> all = {arrays(text)};
  if (has_scratch(text.plan)) all.emplace_back("void* __restrict__ scratch");
  if (has_counter(text.plan)) all.emplace_back("hd::u32* __restrict__ counter");
  add_scalars(text, all);
  return joined(all, ",\n    ");
}

Kernel facts_of(const KernelText& text, const std::string& symbol) {
  const Graph& k = text.kernel;
  Kernel facts;
  facts.name = symbol;
  facts.title = k.name;
  facts.schedule = to_string(*k.schedule);
  facts.arguments = static_cast<int64_t>(k.inputs.size() + k.outputs.size()) + (has_scratch(text.plan) ? 1 : 0) +
                    (has_counter(text.plan) ? 1 : 0);
  for (const Scalar& s : k.scalars) facts.scalars.push_back(scalar_type(s.dtype));
  facts.block = generated(*k.schedule).threads;
  facts.max_blocks = text.plan.most_blocks;
  if (facts.block > 1) facts.shared_bytes = text.plan.shared_bytes;
  if (!text.plan.partials.empty()) facts.blocks = text.plan.most_blocks;
  return facts;
}

}  // namespace

EmittedKernel emit_kernel(const Graph& kernel, const std::string& wish) {
  // A kernel with one operator has the operator's name, which must not collide with a C function.
  const std::string symbol = identifier(wish.starts_with("k_") ? wish : "k_" + wish);
  KernelText text = prepare(kernel);
  text.symbol = symbol;
  const std::vector<std::string> body = emit_loops(text, loops(text));
  EmittedKernel out{
      .text = "", .facts = facts_of(text, symbol), .scratch = has_scratch(text.plan), .counters = text.plan.counters};
  for (const std::string& table : text.tables) out.text += table + "\n";
  out.text += fmt::format("// kernel @{}: {}\n", comment_text(kernel.name), out.facts.schedule);
  const std::string head = fmt::format("HD_KERNEL({}, {})(\n    {})", symbol, out.facts.block, parameters(text));
  for (const std::string& line : block(head, body)) out.text += line + "\n";
  out.text += fmt::format("HD_HOST_ENTRY({}, {})\n", symbol, out.facts.arguments + std::ssize(out.facts.scalars));
  return out;
}

std::string emit_slice(const Graph& kernel, const std::string& symbol, const UnitSlice& slice) {
  KernelText text = prepare(kernel);
  text.symbol = symbol;
  text.slice = slice;
  const std::vector<std::string> body = emit_loops(text, loops(text));
  HEDDLE_CHECK(text.tables.empty(), "a slice reads no tables");
  std::vector<std::string> all = {arrays(text)};
  add_scalars(text, all);
  const bool holds = text.contract.contraction.valid();
  all.emplace_back(holds ? "const int hd_unit, const hd::i64 hd_weights, int& hd_held" : "const int hd_unit");
  std::string out = fmt::format("// units of @{}\n", comment_text(kernel.name));
  const std::string head = fmt::format("HD_DEVICE void {}(\n    {})", symbol, joined(all, ",\n    "));
  for (const std::string& line : block(head, body)) out += line + "\n";
  return out;
}

const std::string& preamble() {
  static const std::string text =
#include "preamble.inc"
      ;
  return text;
}

}  // namespace heddle::codegen
