#include "codegen/persistent.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>

#include "codegen/c_text.h"
#include "codegen/predict.h"
#include "ir/check.h"
#include "ir/index/interval.h"
#include "ir/storage/storage.h"

namespace heddle::codegen {

using namespace ir;  // NOLINT: this file speaks of little else

namespace {

// All texts become one function, for which compilers take more than linear time: 20 launches of a dense network take 4
// s.
constexpr size_t kMostLaunches = 24;
constexpr int64_t kThreadsOfCells = 128;  // if no other kernel determines the number

const Kernel* kernel_of(const Program& p, const Step& step) {
  const auto* launch = std::get_if<Launch>(&step.what);
  return launch == nullptr ? nullptr : &p.kernels[static_cast<size_t>(launch->kernel)];
}

// A lower bound of a kernel's seconds with the threads of a persistent kernel: a thread has about two packets in flight
// during a latency.
double fewest_threads_seconds(const Kernel& k, const PersistentPlan& plan, const Target& target) {
  const auto threads = static_cast<double>(target.sm_count * kBlocksOfSm * plan.threads);
  const double under_way = 2 * threads * static_cast<double>(target.vector_bytes);
  return static_cast<double>(k.bytes_read + k.bytes_written) / under_way * target.latency;
}

using Cells = std::map<size_t, ResidentCell>;

// Calls f(step, times) for each step whose own text a run executes. That excludes the parts of cells.
template <class F>
void for_each_text(const std::vector<Step>& steps, const Cells& cells, F f) {
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto* loop = std::get_if<Loop>(&steps[i].what);
    const auto cell = cells.find(i);
    if (loop == nullptr)
      f(steps[i], int64_t{1});
    else if (cell == cells.end())
      for_each_step(loop->steps, f, loop->count);
    else
      for (const size_t beside : cell->second.beside) f(loop->steps[beside], loop->count);
  }
}

int64_t turns_of(const Step& loop) { return std::get<Loop>(loop.what).count; }

void predict(const Program& p, const std::vector<Step>& steps, PersistentPlan& plan, const Target& target) {
  for (const Step& step : steps) plan.seconds_launched += predicted_seconds(p, step);
  for_each_step(steps, [&](const Step&, int64_t times) { plan.launches += times; });
  plan.seconds = static_cast<double>(plan.barriers) * target.grid_barrier;
  for_each_text(steps, plan.cells, [&](const Step& step, int64_t times) {
    const Kernel* k = kernel_of(p, step);
    const double inside = predicted_seconds(p, step) - target.launch;
    plan.seconds += static_cast<double>(times) *
                    (k == nullptr ? inside : std::max(inside, fewest_threads_seconds(*k, plan, target)));
  });
  for (const auto& [loop, cell] : plan.cells)
    plan.seconds += static_cast<double>(turns_of(steps[loop])) * cell.seconds +
                    static_cast<double>(cell.read_once) / target.bandwidth;
}

std::string refusal(const Program& p, const std::vector<Step>& steps, PersistentPlan& plan, const Target& target) {
  size_t texts = 2 * plan.cells.size();
  const Kernel* first = nullptr;
  std::string reason;
  for_each_text(steps, plan.cells, [&](const Step& step, int64_t) {
    ++texts;
    if (!reason.empty()) return;
    if (std::holds_alternative<Library>(step.what)) reason = "a library is called";
    const Kernel* k = kernel_of(p, step);
    if (k == nullptr) return;
    if (first == nullptr) first = k, plan.threads = k->block;
    plan.tiles_bytes = std::max(plan.tiles_bytes, k->shared_bytes);
    if (k->block != first->block)
      reason = fmt::format("blocks of {} have {} threads, of {} {}", first->name, first->block, k->name, k->block);
  });
  // The turns of a loop share one text.
  if (texts > kMostLaunches)
    return fmt::format("of {} launches; compilers take too long for more than {} in one", texts, kMostLaunches);
  // The text of a cell works with any number of threads.
  if (first == nullptr) plan.threads = kThreadsOfCells;
  for (auto& [loop, cell] : plan.cells) {
    cell.slice.threads = plan.threads;
    plan.tiles_bytes = std::max(plan.tiles_bytes, cell.sums_bytes);
  }
  plan.tiles_bytes = align_up(plan.tiles_bytes, kArenaAlignment);
  for (const auto& [loop, cell] : plan.cells)
    if (reason.empty() && !fits(cell, plan.tiles_bytes, target))
      reason = "weights do not fit beside the tiles of other kernels";
  return reason;
}

PersistentPlan plan_with(const Program& p, const std::vector<Step>& steps, const Target& target, Cells cells) {
  PersistentPlan plan;
  plan.cells = std::move(cells);
  plan.impossible = refusal(p, steps, plan, target);
  if (!plan.impossible.empty()) return plan;
  plan.phases = grid_phases(steps);
  // The parts of a cell and the steps beside it are one phase. After an odd number of turns, the carried value is
  // copied to its place.
  int64_t copies = 0;
  for (const auto& [loop, cell] : plan.cells) {
    plan.phases.loops[loop] = {.phases = {{.steps = {cell.product}, .meets = true}}, .loops = {}};
    plan.phases.loops[loop].loops.resize(std::get<Loop>(steps[loop].what).steps.size());
    copies += turns_of(steps[loop]) % 2;
  }
  plan.barriers = barriers(steps, plan.phases) + copies;
  predict(p, steps, plan, target);
  return plan;
}

// --- text ---

const char* pointer_of(Segment s) {
  constexpr std::array<const char*, kSegments> names = {"state", "arena", "ring"};
  return names.at(static_cast<size_t>(s));
}

// The text of an address. The counters of loops are t0, t1, ..., the outermost first.
std::string place(const Address& a) {
  std::string turns;
  for (size_t loop = 0; loop < a.strides.size(); ++loop)
    if (a.strides[loop] != 0)
      turns += fmt::format(" {} {}ll * t{}", a.strides[loop] < 0 ? '-' : '+', std::abs(a.strides[loop]), loop);
  return fmt::format("hd::At{{{} + {}{}}}", pointer_of(a.segment), a.offset, turns);
}

// The same inside a cell's loop, where the carried value is read at one place and written at another.
std::string place(const Argument& a, const ResidentCell* cell, size_t depth) {
  if (cell == nullptr) return place(a.at);
  const bool reads = a.at == cell->value.at, leaves = a.access == Access::write && (reads || a.at == *cell->other);
  if (!reads && !leaves) return place(a.at);
  const Address &from = leaves ? *cell->other : cell->value.at, &to = leaves ? cell->value.at : *cell->other;
  return fmt::format("hd::At{{hd::in_turn(t{}, {} + {}, {} + {})}}", depth, pointer_of(from.segment), from.offset,
                     pointer_of(to.segment), to.offset);
}

// The first `count` arrays of the launch, then its scalars.
std::string arguments(const Launch& launch, size_t count, const ResidentCell* cell, size_t depth) {
  std::vector<std::string> all;
  for (size_t i = 0; i < count; ++i) all.push_back(place(launch.arguments[i], cell, depth));
  for (const ScalarArgument& s : launch.scalars) all.push_back(fmt::format("hd::Number{{{:#x}ull}}", s.bits));
  return joined(all, ", ");
}

std::string call(const Kernel& k, const Launch& launch, const ResidentCell* cell = nullptr, size_t depth = 0) {
  const std::string blocks = k.blocks > 0 ? std::to_string(k.blocks) : fmt::format("grid.at_most({})", k.max_blocks);
  return fmt::format("HD_BLOCKS(grid, {}) {}({});", blocks, k.name,
                     arguments(launch, launch.arguments.size(), cell, depth));
}

std::string call(const Copy& copy, int64_t threads) {
  int64_t word = 16;
  const auto divides = [&](const Address& a) {
    return a.offset % word == 0 && std::ranges::all_of(a.strides, [&](int64_t stride) { return stride % word == 0; });
  };
  while (!divides(copy.from) || !divides(copy.to) || copy.bytes % word != 0) word /= 2;
  const int64_t words = copy.bytes / word;
  return fmt::format("HD_BLOCKS(grid, grid.at_most({})) hd::copy_words<{}>({}, {}, {});",
                     (words + threads - 1) / threads, word, place(copy.to), place(copy.from), words);
}

class Text {
 public:
  Text(const Program& program, const PersistentPlan& plan, Kernel& facts)
      : program_(program), plan_(plan), facts_(facts) {}

  std::vector<std::string> run(const std::vector<Step>& steps) { return list(steps, plan_.phases, /*times=*/1, 0); }

 private:
  // The text of a list of steps. A run executes it `times` times; `depth` loops are around it.
  std::vector<std::string> list(const std::vector<Step>& steps, const GridPhases& phases, int64_t times, size_t depth) {
    std::vector<std::string> lines = {kForget};
    for (const GridPhase& phase : phases.phases) {
      int64_t blocks = 0;
      for (const size_t i : phase.steps) {
        const auto* loop = std::get_if<Loop>(&steps[i].what);
        const auto cell = depth == 0 ? plan_.cells.find(i) : plan_.cells.end();
        std::vector<std::string> text = loop == nullptr             ? std::vector{step(steps[i], times, blocks)}
                                        : cell == plan_.cells.end() ? turns(*loop, phases.loops[i], times, depth)
                                                                    : turns(*loop, cell->second);
        std::ranges::move(text, std::back_inserter(lines));
      }
      facts_.max_blocks = std::max(facts_.max_blocks, blocks);
      if (phase.meets) lines.emplace_back("grid.meet();");
    }
    return lines;
  }

  std::vector<std::string> turns(const Loop& loop, const GridPhases& phases, int64_t times, size_t depth) {
    return block(fmt::format("HD_TURNS(t{}, {})", depth, loop.count),
                 list(loop.steps, phases, times * loop.count, depth + 1));
  }

  std::vector<std::string> turns(const Loop& loop, const ResidentCell& cell) {
    std::vector<std::string> turn = {kForget};
    int64_t blocks = cell.slices;
    for (const size_t i : cell.beside) turn.push_back(step(loop.steps[i], loop.count, blocks, &cell));
    const std::string held = fmt::format("held{}", holding_++);
    const std::string unit = fmt::format("slice * {}", cell.slice.count);
    std::vector<std::string> slice = {part(loop, cell.product, cell.product_function, cell,
                                           fmt::format("{}, {}, {}", unit, plan_.tiles_bytes, held))};
    facts_.bytes_read -= (loop.count - 1) * cell.read_once;
    if (cell.cell) {
      slice.emplace_back("hd::barrier();");
      slice.push_back(part(loop, *cell.cell, cell.cell_function, cell, unit));
    }
    for (std::string& line : block(fmt::format("HD_SLICES(slice, {})", cell.slices), slice))
      turn.push_back(std::move(line));
    turn.emplace_back("grid.meet();");
    facts_.max_blocks = std::max(facts_.max_blocks, blocks);
    std::vector<std::string> lines = {fmt::format("int {} = -1;", held)};
    for (std::string& line : block(fmt::format("HD_TURNS(t0, {})", loop.count), turn)) lines.push_back(std::move(line));
    if (loop.count % 2 == 0) return lines;
    lines.push_back(call(Copy{*cell.other, cell.value.at, cell.value.bytes, {}}, facts_.block));
    lines.emplace_back("grid.meet();");
    return lines;
  }

  // The call for a block's share of a kernel in each turn. It passes no scratch, because the sums stay in the block.
  std::string part(const Loop& loop, size_t i, const std::string& function, const ResidentCell& cell,
                   const std::string& more) {
    const auto& launch = std::get<Launch>(loop.steps[i].what);
    add(*kernel_of(program_, loop.steps[i]), loop.count);
    const size_t arrays = i == cell.product ? cell.product_arrays : launch.arguments.size();
    return fmt::format("{}({}, {});", function, arguments(launch, arrays, &cell, 0), more);
  }

  std::string step(const Step& step, int64_t times, int64_t& blocks, const ResidentCell* cell = nullptr) {
    const Kernel* part = kernel_of(program_, step);
    if (part == nullptr) return call(std::get<Copy>(step.what), facts_.block);
    blocks += std::max(part->blocks, part->max_blocks);
    facts_.shared_bytes = std::max(facts_.shared_bytes, part->shared_bytes);
    add(*part, times);
    return call(*part, std::get<Launch>(step.what), cell);
  }

  void add(const Kernel& part, int64_t times) {
    facts_.bytes_read += times * part.bytes_read, facts_.bytes_written += times * part.bytes_written;
    facts_.flops += static_cast<double>(times) * part.flops;
  }

  static constexpr const char* kForget = "hd::forget(state), hd::forget(arena), hd::forget(ring);";
  const Program& program_;
  const PersistentPlan& plan_;
  Kernel& facts_;
  int holding_ = 0;
};

}  // namespace

PersistentPlan plan_persistent(const Module& m, const Program& program, const std::vector<Step>& steps,
                               const Target& target) {
  PersistentPlan apart = plan_with(program, steps, target, {});
  Cells cells;
  std::string no_cells;
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto* loop = std::get_if<Loop>(&steps[i].what);
    if (loop == nullptr) continue;
    std::string reason;
    if (auto cell = resident_cell(m, program, *loop, target, reason))
      cells.emplace(i, std::move(*cell));
    else
      no_cells += fmt::format("{}{}: {}", no_cells.empty() ? "" : "; ", loop->title, reason);
  }
  apart.no_cells = no_cells;
  if (!apart.impossible.empty() && !no_cells.empty())
    apart.impossible += fmt::format("; no weights stay: {}", no_cells);
  if (cells.empty()) return apart;
  PersistentPlan together = plan_with(program, steps, target, std::move(cells));
  together.no_cells = no_cells;
  if (!together.impossible.empty()) return apart;
  if (!apart.impossible.empty() || together.seconds < apart.seconds) return together;
  apart.no_cells = fmt::format("predicted {:.1f} us where weights stay, {:.1f} us where they do not",
                               together.seconds * 1e6, apart.seconds * 1e6);
  return apart;
}

std::string PersistentPlan::facts() const {
  std::string text = fmt::format("{} barriers, predicted {:.1f} us; {:.1f} us as {} launches", barriers, seconds * 1e6,
                                 seconds_launched * 1e6, launches);
  for (const auto& [loop, cell] : cells)
    text += fmt::format("; {} bytes of weights are read once, by {} blocks", cell.read_once, cell.slices);
  if (!no_cells.empty()) text += fmt::format("; no weights stay: {}", no_cells);
  return text;
}

EmittedKernel emit_persistent(const Program& program, const std::vector<Step>& steps, const std::string& title,
                              const PersistentPlan& plan, const Address& meeting, const std::string& symbol) {
  EmittedKernel out;
  Kernel& k = out.facts;
  k.name = symbol, k.title = title, k.schedule = "persistent";
  k.arguments = kSegments;
  k.scalars = {"i32"};
  k.block = plan.threads;
  k.predicted_seconds = plan.seconds;
  const std::vector<std::string> run = Text(program, plan, k).run(steps);
  for (const auto& [loop, cell] : plan.cells)
    k.shared_bytes = std::max(k.shared_bytes, plan.tiles_bytes + cell.weights_bytes);
  HEDDLE_CHECK(meeting.segment == Segment::state, "launches' counters lie in the states");
  std::vector<std::string> body = {fmt::format("hd::Grid grid({});", place(meeting))};
  for (std::string& line : block("for (int step = 0; step < steps; ++step)", run)) body.push_back(std::move(line));
  out.text = fmt::format("// persistent kernel of @{}: {} steps, {} barriers of the grid\n", comment_text(title),
                         plan.launches, plan.barriers);
  const std::string head =
      fmt::format("HD_PERSISTENT_KERNEL({}, {}, {})(char* state, char* arena, char* ring, int steps)", symbol, k.block,
                  kBlocksOfSm);
  for (const std::string& line : block(head, body)) out.text += line + "\n";
  return out;
}

}  // namespace heddle::codegen
