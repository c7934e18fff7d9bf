#include "codegen/emit.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/emit_forms.h"

namespace heddle::codegen {

using namespace ir;  // NOLINT: this file speaks of little else

namespace {

constexpr int64_t kPointwiseThreads = 256, kRowThreads = 128;
constexpr int64_t kGroup = 4;  // random numbers that come at once

// The largest packet up to the form's that rows allow: a row starts on a whole packet.
int64_t packet_of(const KernelForm& form, const KernelPlan& plan) {
  int64_t packet = std::max<int64_t>(form.packet, 1);
  while (packet > 1 && plan.rows > 1 && plan.columns % packet != 0) packet /= 2;
  return plan.columns < packet ? 1 : packet;
}

// Some source makes its elements from (seed, step, element), and no window is read at each: that would be read in
// strides.
bool draws_in_groups(const Graph& k, const KernelPlan& plan) {
  const auto windows = [](const ValuePlan& p) { return p.reduction == ReductionPlan::inner; };
  if (std::any_of(plan.values.begin(), plan.values.end(), windows)) return false;
  return std::any_of(k.order.begin(), k.order.end(), [&](NodeId n) {
    const auto* source = std::get_if<Source>(&k[n].op->kind);
    return source != nullptr && mentions(source->expr, "i");
  });
}

KernelText prepare(const Graph& kernel) {
  KernelText text{
      .kernel = kernel, .plan = plan_kernel(kernel), .index_type = "int", .inputs = {}, .outputs = {}, .names = {}};
  if (!text.plan.ok())
    throw UserError(ExitCode::failed, "@" + kernel.name + " cannot be executed in its form: " + text.plan.reason);
  if (kernel.form->kind == KernelForm::Kind::tile)
    text.tile = plan_tile(kernel);
  else
    text.packet = packet_of(*kernel.form, text.plan);
  text.team = kernel.form->team;
  text.groups = kernel.form->kind == KernelForm::Kind::pointwise && draws_in_groups(kernel, text.plan) &&
                text.plan.columns % kGroup == 0;
  if (text.groups) text.packet = kGroup;
  const auto add = [&](ValueId v) {
    if (kernel[v].type.elements() >= int64_t{1} << 31) text.index_type = "hd::i64";
  };
  for (const ValueId v : kernel.inputs) {
    add(v);
    text.inputs[v] = text.names.fresh(kernel[v].name + "_in");
  }
  for (const ValueId v : kernel.outputs) {
    add(v);
    text.outputs[v].push_back(text.names.fresh(kernel[v].name + "_out"));
  }
  return text;
}

std::vector<std::string> emit_body(KernelText& text) {
  switch (text.kernel.form->kind) {
    case KernelForm::Kind::rows: return emit_rows(text);
    case KernelForm::Kind::tile: return emit_tile(text);
    default: return emit_pointwise(text);
  }
}

// What there is to do at once: more blocks would be idle.
int64_t most_blocks(const KernelText& text, int64_t threads) {
  const auto parts = [](int64_t n, int64_t part) { return (n + part - 1) / part; };
  const int64_t rows = text.plan.rows;
  switch (text.kernel.form->kind) {
    case KernelForm::Kind::rows:
      if (!is_span(text)) return parts(rows, std::max<int64_t>(threads / text.team, 1));
      break;
    case KernelForm::Kind::tile: {
      const Dims& space = text.tile.space;
      return space[kMatrix] * parts(space[kRow], kTileSide) * parts(space[kColumn], kTileSide);
    }
    default: break;
  }
  return parts(rows * parts(text.plan.columns, text.packet), threads);
}

bool has_partials(const KernelPlan& plan) { return plan.partial_bytes > 0; }

// "__restrict__ ", unless a call writes over this operand, or this result over an operand (pass alias): both are
// written in the kernel as `%y: f32[8] at %x`.
std::string restricted(const Graph& k, ValueId v) {
  const bool overwritten =
      std::any_of(k.outputs.begin(), k.outputs.end(), [&](ValueId out) { return k[out].place.base == v; });
  return overwritten || k[v].place.base.valid() ? "" : "__restrict__ ";
}

std::string parameters(const KernelText& text) {
  const Graph& k = text.kernel;
  std::vector<std::string> all;
  for (const ValueId v : k.inputs)
    all.push_back(fmt::format("const {}* {}{}", storage_type(k[v].type.dtype), restricted(k, v), text.inputs.at(v)));
  std::map<ValueId, size_t> used;
  for (const ValueId v : k.outputs)
    all.push_back(
        fmt::format("{}* {}{}", storage_type(k[v].type.dtype), restricted(k, v), text.outputs.at(v)[used[v]++]));
  if (has_partials(text.plan)) {
    all.emplace_back("void* __restrict__ scratch");
    all.emplace_back("hd::u32* __restrict__ counter");
  }
  return joined(all, ",\n    ");
}

Kernel facts_of(const KernelText& text, const std::string& symbol) {
  const Graph& k = text.kernel;
  Kernel facts;
  facts.name = symbol;
  facts.title = k.name;
  facts.form = to_string(k.form->kind);
  facts.arguments = static_cast<int64_t>(k.inputs.size() + k.outputs.size()) + (has_partials(text.plan) ? 2 : 0);
  const bool rows = k.form->kind == KernelForm::Kind::rows;
  facts.block = rows ? std::max(kRowThreads, text.team) : kPointwiseThreads;
  facts.max_blocks = std::max<int64_t>(most_blocks(text, facts.block), 1);
  if (has_partials(text.plan)) {
    facts.blocks = std::max<int64_t>(k.form->blocks, 1);
    facts.max_blocks = facts.blocks;
  }
  return facts;
}

}  // namespace

EmittedKernel emit_kernel(const Graph& kernel, const std::string& wish) {
  // A kernel named after its one operator must not meet the C function of that name.
  const std::string symbol = identifier(wish.starts_with("k_") ? wish : "k_" + wish);
  KernelText text = prepare(kernel);
  const std::vector<std::string> body = emit_body(text);
  EmittedKernel out{.text = "", .facts = facts_of(text, symbol)};
  out.text = fmt::format("// kernel @{}: {}\n", comment_text(kernel.name), out.facts.form);
  const std::string head = fmt::format("HD_KERNEL({}, {})(\n    {})", symbol, out.facts.block, parameters(text));
  for (const std::string& line : block(head, body)) out.text += line + "\n";
  out.text += fmt::format("HD_HOST_ENTRY({}, {})\n", symbol, out.facts.arguments);
  return out;
}

const std::string& preamble() {
  static const std::string text =
#include "preamble.inc"
      ;
  return text;
}

}  // namespace heddle::codegen
