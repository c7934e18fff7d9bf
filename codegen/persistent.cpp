#include "codegen/persistent.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>

#include "codegen/c_text.h"
#include "codegen/predict.h"
#include "ir/check.h"

namespace heddle::codegen {

using namespace ir;  // NOLINT: this file speaks of little else

namespace {

// All texts are one function, for which compilers take more than linear time: 20 of a dense network take 4 s.
constexpr size_t kMostLaunches = 24;
constexpr int64_t kBlocksOfSm = 2;  // at least, whatever registers the texts want: 2 * 128 threads of 255 each

const Kernel* kernel_of(const Program& p, const Step& step) {
  const auto* launch = std::get_if<Launch>(&step.what);
  return launch == nullptr ? nullptr : &p.kernels[static_cast<size_t>(launch->kernel)];
}

// What is moved by few threads is moved slowly: each has about two packets under way until they are there.
double fewest_threads_seconds(const Kernel& k, const PersistentPlan& plan, const Target& target) {
  const auto threads = static_cast<double>(target.sm_count * kBlocksOfSm * plan.threads);
  const double under_way = 2 * threads * static_cast<double>(target.vector_bytes);
  return static_cast<double>(k.bytes_read + k.bytes_written) / under_way * target.latency;
}

// Of one run of the steps, without barriers.
double seconds_inside(const Program& p, const std::vector<Step>& steps, const PersistentPlan& plan,
                      const Target& target) {
  double seconds = 0;
  for_each_step(steps, [&](const Step& step, int64_t times) {
    const Kernel* k = kernel_of(p, step);
    const double inside = predicted_seconds(p, step) - target.launch;
    seconds += static_cast<double>(times) *
               (k == nullptr ? inside : std::max(inside, fewest_threads_seconds(*k, plan, target)));
  });
  return seconds;
}

void predict(const Program& p, const Entry& entry, PersistentPlan& plan, const Target& target) {
  for (const Step& step : entry.steps) plan.seconds_launched += predicted_seconds(p, step);
  plan.seconds =
      seconds_inside(p, entry.steps, plan, target) + static_cast<double>(plan.barriers) * target.grid_barrier;
}

// A loop's turns are one text.
size_t texts_of(const Entry& entry) {
  size_t texts = 0;
  for_each_step(entry.steps, [&](const Step&, int64_t) { ++texts; });
  return texts;
}

int64_t launches_of(const Entry& entry) {
  int64_t launches = 0;
  for_each_step(entry.steps, [&](const Step&, int64_t times) { launches += times; });
  return launches;
}

std::string refusal(const Program& p, const Entry& entry, PersistentPlan& plan) {
  if (const size_t texts = texts_of(entry); texts > kMostLaunches)
    return fmt::format("of {} launches; compilers take too long for more than {} in one", texts, kMostLaunches);
  const Kernel* first = nullptr;
  std::string reason;
  for_each_step(entry.steps, [&](const Step& step, int64_t) {
    if (!reason.empty()) return;
    if (std::holds_alternative<Library>(step.what)) reason = "a library is called";
    const Kernel* k = kernel_of(p, step);
    if (k == nullptr) return;
    if (first == nullptr) first = k, plan.threads = k->block;
    if (k->block != first->block)
      reason = fmt::format("blocks of {} have {} threads, of {} {}", first->name, first->block, k->name, k->block);
  });
  return reason;
}

// --- text ---

const char* pointer_of(Segment s) {
  constexpr std::array<const char*, kSegments> names = {"state", "arena", "ring"};
  return names.at(static_cast<size_t>(s));
}

// Loops are counted by t0, t1, ..., the outermost first.
std::string place(const Address& a) {
  std::string turns;
  for (size_t loop = 0; loop < a.strides.size(); ++loop)
    if (a.strides[loop] != 0)
      turns += fmt::format(" {} {}ll * t{}", a.strides[loop] < 0 ? '-' : '+', std::abs(a.strides[loop]), loop);
  return fmt::format("hd::At{{{} + {}{}}}", pointer_of(a.segment), a.offset, turns);
}

std::string call(const Kernel& k, const Launch& launch) {
  std::vector<std::string> arguments;
  for (const Argument& a : launch.arguments) arguments.push_back(place(a.at));
  for (const ScalarArgument& s : launch.scalars) arguments.push_back(fmt::format("hd::Number{{{:#x}ull}}", s.bits));
  const std::string blocks = k.blocks > 0 ? std::to_string(k.blocks) : fmt::format("grid.at_most({})", k.max_blocks);
  return fmt::format("HD_BLOCKS(grid, {}) {}({});", blocks, k.name, joined(arguments, ", "));
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
  Text(const Program& program, Kernel& facts) : program_(program), facts_(facts) {}

  // `times` that a step of training executes the list; `depth` loops are around it.
  std::vector<std::string> list(const std::vector<Step>& steps, const GridPhases& phases, int64_t times, size_t depth) {
    std::vector<std::string> lines = {"hd::forget(state), hd::forget(arena), hd::forget(ring);"};
    for (const GridPhase& phase : phases.phases) {
      int64_t blocks = 0;
      for (const size_t i : phase.steps) {
        const auto* loop = std::get_if<Loop>(&steps[i].what);
        std::vector<std::string> text =
            loop != nullptr ? turns(*loop, phases.loops[i], times, depth) : std::vector{step(steps[i], times, blocks)};
        std::ranges::move(text, std::back_inserter(lines));
      }
      facts_.max_blocks = std::max(facts_.max_blocks, blocks);
      if (phase.meets) lines.emplace_back("grid.meet();");
    }
    return lines;
  }

 private:
  std::vector<std::string> turns(const Loop& loop, const GridPhases& phases, int64_t times, size_t depth) {
    return block(fmt::format("HD_TURNS(t{}, {})", depth, loop.count),
                 list(loop.steps, phases, times * loop.count, depth + 1));
  }

  std::string step(const Step& step, int64_t times, int64_t& blocks) {
    const Kernel* part = kernel_of(program_, step);
    if (part == nullptr) return call(std::get<Copy>(step.what), facts_.block);
    blocks += std::max(part->blocks, part->max_blocks);
    facts_.shared_bytes = std::max(facts_.shared_bytes, part->shared_bytes);
    facts_.bytes_read += times * part->bytes_read, facts_.bytes_written += times * part->bytes_written;
    facts_.flops += static_cast<double>(times) * part->flops;
    return call(*part, std::get<Launch>(step.what));
  }

  const Program& program_;
  Kernel& facts_;
};

}  // namespace

PersistentPlan plan_persistent(const Program& program, const Entry& entry, const Target& target) {
  PersistentPlan plan;
  plan.reason = refusal(program, entry, plan);
  if (!plan.reason.empty()) {
    plan.threads = 0;
    return plan;
  }
  plan.phases = grid_phases(entry.steps);
  plan.barriers = barriers(entry.steps, plan.phases);
  predict(program, entry, plan, target);
  if (plan.seconds >= plan.seconds_launched)
    plan.reason = fmt::format("predicted {:.1f} us in one kernel, {:.1f} us in {} launches", plan.seconds * 1e6,
                              plan.seconds_launched * 1e6, launches_of(entry));
  return plan;
}

EmittedKernel emit_persistent(const Program& program, const Entry& entry, const PersistentPlan& plan,
                              const Address& meeting, const std::string& symbol) {
  EmittedKernel out;
  Kernel& k = out.facts;
  k.name = symbol, k.title = entry.name, k.schedule = "persistent";
  k.arguments = kSegments;
  k.scalars = {"i32"};
  k.block = plan.threads;
  k.predicted_seconds = plan.seconds;
  const std::vector<std::string> step = Text(program, k).list(entry.steps, plan.phases, /*times=*/1, /*depth=*/0);
  HEDDLE_CHECK(meeting.segment == Segment::state, "launches' counters lie in the states");
  std::vector<std::string> body = {fmt::format("hd::Grid grid({});", place(meeting))};
  for (std::string& line : block("for (int step = 0; step < steps; ++step)", step)) body.push_back(std::move(line));
  out.text = fmt::format("// persistent kernel of @{}: {} steps, {} barriers of the grid\n", comment_text(entry.name),
                         launches_of(entry), plan.barriers);
  const std::string head =
      fmt::format("HD_PERSISTENT_KERNEL({}, {}, {})(char* state, char* arena, char* ring, int steps)", symbol, k.block,
                  kBlocksOfSm);
  for (const std::string& line : block(head, body)) out.text += line + "\n";
  return out;
}

}  // namespace heddle::codegen
