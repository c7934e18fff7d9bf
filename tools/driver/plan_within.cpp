#include "tools/driver/plan_within.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace heddle::driver {
namespace {

class Attempts {
 public:
  Attempts(ir::Module m, const frontend::PlannedMemory& memory, const CompileOptions& options,
           const std::vector<ir::FedColumn>& fed)
      : module_(std::move(m)), memory_(memory), options_(options), fed_(fed) {
    options_.memory_bytes = limit_of(memory, options);
  }

  // Plans with the first `others` optional blocks computed again, without callbacks. Returns nothing where this takes
  // too much memory; refusal() is then the error.
  std::optional<ir::Module> with(size_t others) {
    CompileOptions silent = options_;
    silent.remark = {}, silent.after = {}, silent.decided = {};
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
  ir::Module planned(size_t others, const CompileOptions& options) const {
    return planned_with(module_, memory_, others, options, fed_);
  }

  ir::Module module_;
  const frontend::PlannedMemory& memory_;
  CompileOptions options_;
  const std::vector<ir::FedColumn>& fed_;
  std::optional<UserError> refusal_;
};

// Throws the refusal with more notes. Where the model's own limit is exceeded, the option in the refusal's help would
// not raise it, so the help is replaced.
[[noreturn]] void refuse(const UserError& refusal, const frontend::PlannedMemory& memory, int64_t limit, bool trains) {
  std::vector<Diagnostic> all = refusal.diagnostics();
  const size_t blocks = memory.blocks.size() + memory.others.size();
  if (blocks > 0)
    all.front().notes.push_back(
        {Severity::note, {}, fmt::format("also with all {} blocks computed again", blocks), {}, {}});
  if (trains)
    all.front().notes.push_back(
        {Severity::note, {}, "heddle inspect MODEL --memory tells the least limit and the largest batch", {}, {}});
  if (memory.limit == limit) all.front().help = "a smaller batch takes less; a larger train.memory.limit allows more";
  throw UserError(std::move(all), ExitCode::limit);
}

}  // namespace

int64_t limit_of(const frontend::PlannedMemory& memory, const CompileOptions& options) {
  if (memory.limit == 0) return options.memory_bytes;
  return options.memory_bytes == 0 ? memory.limit : std::min(memory.limit, options.memory_bytes);
}

std::optional<size_t> fewest_that_fit(size_t all, const std::function<bool(size_t)>& fits) {
  if (fits(0)) return 0;
  if (all == 0) return std::nullopt;
  size_t too_few = 0, enough = all;
  if (!fits(enough) && (--enough == 0 || !fits(enough))) return std::nullopt;
  while (enough - too_few > 1) {
    const size_t middle = too_few + (enough - too_few) / 2;
    (fits(middle) ? enough : too_few) = middle;
  }
  return enough;
}

ir::Module planned_with(ir::Module m, const frontend::PlannedMemory& memory, size_t others, CompileOptions options,
                        const std::vector<ir::FedColumn>& fed) {
  options.recompute = memory.blocks;
  options.recompute.insert(options.recompute.end(), memory.others.begin(),
                           memory.others.begin() + static_cast<std::ptrdiff_t>(others));
  run_passes(m, options, fed);
  return m;
}

ir::Module plan_within(ir::Module m, const frontend::PlannedMemory& memory, const CompileOptions& options,
                       const std::vector<ir::FedColumn>& fed) {
  const size_t all = memory.others.size(), chosen = memory.blocks.size();
  const int64_t limit = limit_of(memory, options);
  const bool speaks = options.remark || options.after || options.decided;
  if (limit == 0) return planned_with(std::move(m), memory, 0, options, fed);
  const bool trains = std::ranges::any_of(m.graphs, [](const ir::Graph& g) { return g.name == "train"; });
  Attempts attempts(std::move(m), memory, options, fed);
  std::optional<ir::Module> best;
  const std::optional<size_t> enough = fewest_that_fit(all, [&](size_t others) {
    std::optional<ir::Module> planned = attempts.with(others);
    const bool fits = planned.has_value();
    if (fits) best = std::move(planned);
    return fits;
  });
  if (!enough) refuse(*attempts.refusal(), memory, limit, trains);
  if (options.tell && *enough > 0)
    options.tell(fmt::format("{} of {} blocks are computed again in the backward sweep, to stay within {} bytes",
                             *enough + chosen, all + chosen, limit));
  return speaks ? attempts.planned(*enough) : std::move(*best);
}

}  // namespace heddle::driver
