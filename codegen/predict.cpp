#include "codegen/predict.h"

#include "ir/kernel/cost.h"

namespace heddle::codegen {
namespace {

KernelCounts counts_of(const ir::KernelCounts& c) {
  return {.blocks = c.blocks,
          .sectors_read = c.sectors_read,
          .sectors_written = c.sectors_written,
          .shared_wavefronts = c.shared_wavefronts,
          .ideal_wavefronts = c.ideal_wavefronts,
          .instructions = c.instructions.total(),
          .dependent_loads = c.dependent_loads,
          .dependent_after_last = c.dependent_after_last};
}

void predict_kernel(Kernel& k, const ir::Module& m, const ir::Target& target) {
  if (k.predicted_seconds > 0) return;  // of a persistent kernel, by plan_persistent
  const ir::Cost cost = ir::kernel_cost(*m.find_kernel(k.title), target);
  k.predicted_seconds = cost.seconds;
  k.least_seconds = cost.least_seconds;
  if (cost.counts) k.counts = counts_of(*cost.counts);
}

void predict_call(Library& call, const ir::Module& m, const ir::Target& target) {
  if (call.predicted_seconds > 0) return;
  const ir::Cost cost = ir::kernel_cost(*m.find_kernel(call.title), target);
  call.predicted_seconds = cost.seconds;
  call.least_seconds = cost.least_seconds;
}

// On a GPU a copy is a separate launch.
double copy_seconds(const Copy& copy, const ir::Target& target) {
  return 2 * static_cast<double>(copy.bytes) / target.bandwidth + (target.gpu ? target.launch : 0);
}

}  // namespace

void predict(Program& program, const ir::Module& m, const ir::Target& target) {
  for (Kernel& k : program.kernels) predict_kernel(k, m, target);
  for (Entry& e : program.entries)
    for_each_step(e.steps, [&](Step& step, int64_t) {
      if (auto* call = std::get_if<Library>(&step.what))
        predict_call(*call, m, target);
      else if (auto* copy = std::get_if<Copy>(&step.what))
        copy->predicted_seconds = copy_seconds(*copy, target);
    });
}

double predicted_seconds(const Program& program, const Step& step) {
  if (const auto* launch = std::get_if<Launch>(&step.what))
    return program.kernels[static_cast<size_t>(launch->kernel)].predicted_seconds;
  if (const auto* copy = std::get_if<Copy>(&step.what)) return copy->predicted_seconds;
  if (const auto* loop = std::get_if<Loop>(&step.what)) {
    double seconds = 0;
    for (const Step& inner : loop->steps) seconds += predicted_seconds(program, inner);
    return seconds * static_cast<double>(loop->count);
  }
  return std::get<Library>(step.what).predicted_seconds;
}

}  // namespace heddle::codegen
