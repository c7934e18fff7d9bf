#include "passes/pipeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <time.h>

#include "ir/check.h"
#include "ir/verify/verify.h"
#include "passes/decompose.h"
#include "passes/differentiate.h"
#include "passes/feed.h"
#include "passes/flatten/flatten.h"
#include "passes/fold_norms.h"
#include "passes/fuse/fuse.h"
#include "passes/layout.h"
#include "passes/memory/alias.h"
#include "passes/memory/buffer_assignment.h"
#include "passes/memory/instruction_scheduling.h"
#include "passes/memory/room.h"
#include "passes/mixed_precision.h"
#include "passes/prepare.h"
#include "passes/recompute.h"
#include "passes/scan/hoist.h"
#include "passes/select/select.h"
#include "passes/share.h"
#include "passes/simplify/simplify.h"
#include "passes/sink.h"
#include "passes/widen_products.h"

namespace heddle::passes {

const std::vector<Pass>& all_passes() {
  static const std::vector<Pass> kPasses = {
      // Before differentiate, which casts the gradients of its casts, and before every pass that makes nodes, so that
      // nodes get the types of their operands.
      {"mixed_precision", "give what mixed products make and reach 16-bit types", mixed_precision},
      // Before differentiate: gradients are then taken of smaller values, and pooling's index has no reader yet.
      {"sink", "move relu behind max pooling, and lookups behind products of their rows", sink},
      // Before every pass that takes composites apart, so that their own gradients are used.
      {"differentiate", "replace gradient nodes by reverse accumulation", differentiate},
      // After differentiate, which makes the gradients; before decompose, while the clipping norm is one operator.
      {"flatten", "place parameters with one update rule end to end", flatten},
      // After every pass that looks for composites. It first asks libraries for each composite: this is the last place
      // where composites are whole, and a decomposition may contain further ones.
      {"decompose", "give composites to a library, or replace them by the operators that define them", decompose},
      // After decompose, whose output it simplifies.
      {"simplify", "remove, merge, fold and cancel what changes nothing", simplify},
      // After simplify, which leaves products and norms side by side; before prepare, which computes its weights once.
      {"fold_norms", "fold scales and shifts of channels into the weights before them", fold_norms},
      // After simplify, after which more values depend on parameters alone; before the passes that lay out and outline.
      {"prepare", "make once what predictions make of parameters alone", prepare},
      // After simplify, which would merge the copies with the originals; before the passes that lay out and outline.
      {"recompute", "compute again for the backward sweep what blocks do not keep", recompute},
      // After simplify, which may replace a product; before the passes that lay out and outline products.
      {"widen_products", "make products of 16 bits f32 ones where a library executes those", widen_products},
      // After simplify, which finds the values that are fixed in all turns; before the passes that lay out and outline
      // products.
      {"hoist", "move products that no turn of a scan waits for out of the scan", hoist},
      // After simplify, which composes transposes; before select, which takes operands as they lie.
      {"layout", "move transposes toward each other and into matrix products", layout},
      // After layout, which decides how operands lie; before fuse, which would outline contractions as generated text.
      // Not earlier, together with the composites: epilogues are found only in simplified graphs.
      {"select", "give contractions with their epilogues to a library", select},
      // After select, so that the results of simplify and select do not depend on where inputs come from. Before fuse,
      // which makes kernels of the new nodes.
      {"feed", "make entries that read rows fill their inputs and record their steps", feed},
      // After select: the nodes that libraries execute are calls by then.
      {"fuse", "group the rest into kernels and choose their schedules", fuse},
      // After fuse, which outlines each kernel with its own numbers; before alias, which marks a kernel for all its
      // calls.
      {"share", "make one kernel of kernels that differ in scalars only", share},
      // After fuse: only values that remain between kernels take memory.
      {"schedule_instructions", "order nodes so that less memory is live at once", schedule_instructions},
      // After schedule_instructions: whether values may share storage depends on which node reads a value last.
      {"alias", "let views, concatenations and in-place results share storage", alias},
      // Last: the offsets are valid only for this order and this sharing.
      {"assign_buffers", "give values offsets in one arena", assign_buffers},
  };
  return kPasses;
}

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const Pass& p : all_passes()) names.emplace_back(p.name);
  return names;
}

const Pass* find_pass(std::string_view name) {
  for (const Pass& p : all_passes())
    if (p.name == name) return &p;
  return nullptr;
}

namespace {

void check_verified(const ir::Module& m, std::string_view when, std::string_view pass) {
  const std::vector<std::string> violations = ir::verify(m);
  HEDDLE_CHECK(violations.empty(), fmt::format("{} {}:\n  {}", when, pass, fmt::join(violations, "\n  ")));
}

PassTime timed(const Pass& pass, ir::Module& m, const Options& options) {
  const double begin = processor_seconds();
  const bool changed = pass.run(m, options);
  return {std::string(pass.name), processor_seconds() - begin, changed};
}

}  // namespace

double processor_seconds() {
  struct timespec now {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

bool run_pass(const Pass& pass, ir::Module& m, const Options& options) {
  check_verified(m, "before", pass.name);
  const bool changed = pass.run(m, options);
  check_verified(m, "after", pass.name);
  return changed;
}

std::vector<PassTime> run_pipeline(ir::Module& m, const Options& options, const RunOptions& run) {
  if (!run.to.empty() && find_pass(run.to) == nullptr) {
    std::vector<std::string> names;
    for (const Pass& p : all_passes()) names.emplace_back(p.name);
    throw UserError(ExitCode::usage, fmt::format("unknown pass '{}'", run.to), did_you_mean(run.to, names));
  }
  std::vector<PassTime> times;
  PassTime verifier{"verify"};
  const auto verify = [&](std::string_view when, std::string_view pass) {
    const double begin = processor_seconds();
    check_verified(m, when, pass);
    verifier.seconds += processor_seconds() - begin;
  };
  verify("before", all_passes().front().name);
  require_room_for_tensors(m, options);
  for (const Pass& pass : all_passes()) {
    times.push_back(timed(pass, m, options));
    verify("after", pass.name);
    if (pass.run == assign_buffers) require_room_for_plan(m, options);
    if (run.after) run.after(pass, m, times.back().changed);
    if (pass.name == run.to) break;
  }
  times.push_back(verifier);
  return times;
}

}  // namespace heddle::passes
