#include "tools/driver/plan_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "ir/check.h"
#include "runtime/process/process_memory.h"

namespace heddle::driver {
namespace {

// Compiles for so many rows. `told` collects the notes until this program is chosen.
Compiled compile_for(Planned& planned, int64_t rows, CompileOptions options, std::vector<std::string>& told) {
  constexpr int64_t kAnySteps = 1'000'000;  // nothing is trained: schedules may believe what they like
  options.prepare = true;
  options.entries = {.predict = rows, .total_steps = planned.model().train.steps.value_or(kAnySteps)};
  told.clear();
  if (options.tell) options.tell = [&](const std::string& line) { told.push_back(line); };
  return compile(planned, options);
}

// Beside the parameters: the arena, and inputs and results as the predictor holds them, twice while
// it looks whether rows are computed apart.
int64_t bytes_of_batch(const codegen::Program& program) {
  const codegen::Entry* entry = program.find_entry(ir::Phase::predict);
  HEDDLE_CHECK(entry != nullptr, "a program with outputs has an entry 'predict'");
  int64_t bytes = program.bytes_of(codegen::Segment::arena);
  for (const auto* buffers : {&entry->inputs, &entry->outputs})
    for (const codegen::Buffer& b : *buffers) bytes += 2 * b.bytes;
  return bytes;
}

// Where the parameters and a batch are more than the machine has, the system would end the process.
PlannedBatch within_machine(PlannedBatch planned, const CompileOptions& options) {
  const codegen::Program& program = planned.compiled.program;
  const int64_t batch = bytes_of_batch(program) - (options.target.gpu ? program.bytes_of(codegen::Segment::arena) : 0);
  const int64_t bytes = batch + (options.target.gpu ? 0 : program.state_bytes);
  if (const int64_t most = runtime::machine_memory_bytes(); bytes > most)
    throw UserError(
        ExitCode::limit,
        fmt::format("{} rows at once take {} bytes of memory, and this machine has {}", planned.rows, bytes, most),
        planned.rows > PlannedBatch::kFewest ? "a smaller --batch takes less"
                                             : "fewer rows are never taken: a smaller model takes less");
  return planned;
}

PlannedBatch plan(Planned& planned, const BatchRequest& request, const CompileOptions& options,
                  std::vector<std::string>& told) {
  if (request.rows > 0)
    return within_machine({request.rows, compile_for(planned, request.rows, options, told)}, options);
  constexpr int64_t kFewest = PlannedBatch::kFewest, kBudget = PlannedBatch::kBudget;
  int64_t rows = PlannedBatch::kMostRows;
  while (true) {
    std::optional<Compiled> compiled;  // none: so many rows do not fit at all
    try {
      compiled = compile_for(planned, rows, options, told);
    } catch (const UserError& error) {
      if (error.code() != ExitCode::limit || rows == kFewest) throw;
    }
    if (!compiled) {
      rows = std::max(rows / 8, kFewest);
      continue;
    }
    const int64_t bytes = bytes_of_batch(compiled->program);
    if (bytes <= kBudget || rows == kFewest) return within_machine({rows, std::move(*compiled)}, options);
    int64_t fit = std::min(rows - 1, kBudget / std::max<int64_t>(bytes / rows, 1));
    if (request.known > 0) fit = std::min(fit, request.known);
    rows = std::max(fit, kFewest);
  }
}

}  // namespace

PlannedBatch plan_batch(Planned& planned, const BatchRequest& request, const CompileOptions& options) {
  std::vector<std::string> told;
  PlannedBatch made = plan(planned, request, options, told);
  for (const std::string& line : told) options.tell(line);
  return made;
}

}  // namespace heddle::driver
