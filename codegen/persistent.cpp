#include "codegen/persistent.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "codegen/c_text.h"
#include "codegen/predict.h"
#include "ir/check.h"

namespace heddle::codegen {

using namespace ir;  // NOLINT: this file speaks of little else

namespace {

// All texts are one function, for which compilers take more than linear time: 20 of a dense network take 4 s.
constexpr size_t kMostLaunches = 24;
constexpr int64_t kBlocksOfSm = 2;  // at least, whatever registers the texts want: 2 * 128 threads of 255 each

bool overlaps(const Argument& a, const Argument& b) {
  return a.at.segment == b.at.segment && a.at.offset < b.at.offset + b.bytes && b.at.offset < a.at.offset + a.bytes;
}

// One writes what the other one reads or writes.
bool conflict(const Step& a, const Step& b) {
  const std::vector<Argument> of_b = touched_by(b);
  for (const Argument& x : touched_by(a))
    for (const Argument& y : of_b)
      if ((x.access != Access::read || y.access != Access::read) && overlaps(x, y)) return true;
  return false;
}

std::vector<std::vector<size_t>> phases_of(const Entry& entry) {
  std::vector<std::vector<size_t>> phases(1);
  for (size_t i = 0; i < entry.steps.size(); ++i) {
    const auto meets = [&](size_t before) { return conflict(entry.steps[before], entry.steps[i]); };
    if (std::ranges::any_of(phases.back(), meets)) phases.emplace_back();
    phases.back().push_back(i);
  }
  return phases;
}

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

void predict(const Program& p, const Entry& entry, PersistentPlan& plan, const Target& target) {
  for (const Step& step : entry.steps) {
    const Kernel* k = kernel_of(p, step);
    const double launched = predicted_seconds(p, step), inside = launched - target.launch;
    plan.seconds_launched += launched;
    plan.seconds += k == nullptr ? inside : std::max(inside, fewest_threads_seconds(*k, plan, target));
  }
  plan.seconds += static_cast<double>(plan.phases.size()) * target.grid_barrier;
}

std::string refusal(const Program& p, const Entry& entry, PersistentPlan& plan) {
  for (const Step& step : entry.steps)
    if (const auto* loop = std::get_if<Loop>(&step.what))
      return fmt::format("{} is a loop, whose turns are launched one by one", loop->title);
  if (entry.steps.size() > kMostLaunches)
    return fmt::format("of {} launches; compilers take too long for more than {} in one", entry.steps.size(),
                       kMostLaunches);
  const Kernel* first = nullptr;
  for (const Step& step : entry.steps) {
    if (std::holds_alternative<Library>(step.what)) return "a library is called";
    const Kernel* k = kernel_of(p, step);
    if (k == nullptr) continue;
    if (first == nullptr) first = k, plan.threads = k->block;
    if (k->block != first->block)
      return fmt::format("blocks of {} have {} threads, of {} {}", first->name, first->block, k->name, k->block);
  }
  return {};
}

// --- text ---

const char* pointer_of(Segment s) {
  constexpr std::array<const char*, kSegments> names = {"state", "arena", "ring"};
  return names.at(static_cast<size_t>(s));
}

std::string place(const Address& a) { return fmt::format("hd::At{{{} + {}}}", pointer_of(a.segment), a.offset); }

std::string call(const Kernel& k, const Launch& launch) {
  std::vector<std::string> arguments;
  for (const Argument& a : launch.arguments) arguments.push_back(place(a.at));
  for (const ScalarArgument& s : launch.scalars) arguments.push_back(fmt::format("hd::Number{{{:#x}ull}}", s.bits));
  const std::string blocks = k.blocks > 0 ? std::to_string(k.blocks) : fmt::format("grid.at_most({})", k.max_blocks);
  return fmt::format("HD_BLOCKS(grid, {}) {}({});", blocks, k.name, joined(arguments, ", "));
}

std::string call(const Copy& copy, int64_t threads) {
  int64_t word = 16;
  while (copy.from.offset % word != 0 || copy.to.offset % word != 0 || copy.bytes % word != 0) word /= 2;
  const int64_t words = copy.bytes / word;
  return fmt::format("HD_BLOCKS(grid, grid.at_most({})) hd::copy_words<{}>({}, {}, {});",
                     (words + threads - 1) / threads, word, place(copy.to), place(copy.from), words);
}

}  // namespace

PersistentPlan plan_persistent(const Program& program, const Entry& entry, const Target& target) {
  PersistentPlan plan;
  plan.reason = refusal(program, entry, plan);
  if (!plan.reason.empty()) return plan;
  plan.phases = phases_of(entry);
  predict(program, entry, plan, target);
  if (plan.seconds >= plan.seconds_launched)
    plan.reason = fmt::format("predicted {:.1f} us in one kernel, {:.1f} us in {} launches", plan.seconds * 1e6,
                              plan.seconds_launched * 1e6, entry.steps.size());
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
  std::vector<std::string> step = {"hd::forget(state), hd::forget(arena), hd::forget(ring);"};
  for (const std::vector<size_t>& phase : plan.phases) {
    int64_t blocks = 0;
    for (const size_t i : phase) {
      const Kernel* part = kernel_of(program, entry.steps[i]);
      if (part == nullptr) {
        step.push_back(call(std::get<Copy>(entry.steps[i].what), plan.threads));
        continue;
      }
      step.push_back(call(*part, std::get<Launch>(entry.steps[i].what)));
      blocks += std::max(part->blocks, part->max_blocks);
      k.shared_bytes = std::max(k.shared_bytes, part->shared_bytes);
      k.bytes_read += part->bytes_read, k.bytes_written += part->bytes_written;
      k.flops += part->flops;
    }
    k.max_blocks = std::max(k.max_blocks, blocks);
    step.emplace_back("grid.meet();");
  }
  HEDDLE_CHECK(meeting.segment == Segment::state, "launches' counters lie in the states");
  std::vector<std::string> body = {fmt::format("hd::Grid grid({});", place(meeting))};
  for (std::string& line : block("for (int step = 0; step < steps; ++step)", step)) body.push_back(std::move(line));
  out.text = fmt::format("// persistent kernel of @{}: {} steps, {} barriers of the grid\n", comment_text(entry.name),
                         entry.steps.size(), plan.phases.size());
  const std::string head =
      fmt::format("HD_PERSISTENT_KERNEL({}, {}, {})(char* state, char* arena, char* ring, int steps)", symbol, k.block,
                  kBlocksOfSm);
  for (const std::string& line : block(head, body)) out.text += line + "\n";
  return out;
}

}  // namespace heddle::codegen
