#include "tools/driver/plan_within.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace heddle::driver {
namespace {

int64_t limit_of(const frontend::PlannedMemory& memory, const CompileOptions& options) {
  if (memory.limit == 0) return options.memory_bytes;
  return options.memory_bytes == 0 ? memory.limit : std::min(memory.limit, options.memory_bytes);
}

class Attempts {
 public:
  Attempts(ir::Module m, const frontend::PlannedMemory& memory, const CompileOptions& options,
           const std::vector<ir::FedColumn>& fed)
      : module_(std::move(m)), memory_(memory), options_(options), fed_(fed) {
    options_.memory_bytes = limit_of(memory, options);
  }

  // With so many of the other blocks, and without a word: nothing where that takes too much memory, of which refusal()
  // then tells.
  std::optional<ir::Module> with(size_t others) {
    CompileOptions silent = options_;
    silent.remark = {}, silent.after = {};
    try {
      return planned(others, silent);
    } catch (const UserError& error) {
      if (error.code() != ExitCode::limit) throw;
      refusal_ = error;
      return std::nullopt;
    }
  }
  const std::optional<UserError>& refusal() const { return refusal_; }

  ir::Module planned(size_t others) const { return planned(others, options_); }

 private:
  ir::Module planned(size_t others, CompileOptions options) const {
    options.recompute = memory_.blocks;
    options.recompute.insert(options.recompute.end(), memory_.others.begin(),
                             memory_.others.begin() + static_cast<std::ptrdiff_t>(others));
    ir::Module m = module_;
    run_passes(m, options, fed_);
    return m;
  }

  ir::Module module_;
  const frontend::PlannedMemory& memory_;
  CompileOptions options_;
  const std::vector<ir::FedColumn>& fed_;
  std::optional<UserError> refusal_;
};

// A limit of the model's own is not raised by the option that the refusal names.
[[noreturn]] void refuse(const UserError& refusal, const frontend::PlannedMemory& memory, int64_t limit) {
  std::vector<Diagnostic> all = refusal.diagnostics();
  const size_t blocks = memory.blocks.size() + memory.others.size();
  if (blocks > 0)
    all.front().notes.push_back(
        {Severity::note, {}, fmt::format("also with all {} blocks computed again", blocks), {}, {}});
  if (memory.limit == limit) all.front().help = "a smaller batch takes less; a larger train.memory.limit allows more";
  throw UserError(std::move(all), ExitCode::limit);
}

}  // namespace

ir::Module plan_within(ir::Module m, const frontend::PlannedMemory& memory, const CompileOptions& options,
                       const std::vector<ir::FedColumn>& fed) {
  const size_t all = memory.others.size(), chosen = memory.blocks.size();
  const int64_t limit = limit_of(memory, options);
  const bool speaks = options.remark || options.after;
  if (limit == 0) {
    CompileOptions own = options;
    own.recompute = memory.blocks;
    run_passes(m, own, fed);
    return m;
  }
  Attempts attempts(std::move(m), memory, options, fed);
  if (std::optional<ir::Module> best = attempts.with(0)) return speaks ? attempts.planned(0) : std::move(*best);
  if (all == 0) refuse(*attempts.refusal(), memory, limit);
  std::optional<ir::Module> best = attempts.with(all);
  if (!best) refuse(*attempts.refusal(), memory, limit);
  // More blocks take less memory: the least number that is enough is found by halving.
  size_t too_few = 0, enough = all;
  while (enough - too_few > 1) {
    const size_t middle = too_few + (enough - too_few) / 2;
    std::optional<ir::Module> planned = attempts.with(middle);
    (planned ? enough : too_few) = middle;
    if (planned) best = std::move(planned);
  }
  if (options.tell)
    options.tell(fmt::format("{} of {} blocks are computed again in the backward sweep, to stay within {} bytes",
                             enough + chosen, all + chosen, limit));
  return speaks ? attempts.planned(enough) : std::move(*best);
}

}  // namespace heddle::driver
