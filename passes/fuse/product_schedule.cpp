#include "passes/fuse/product_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "ir/kernel/contract_cost.h"
#include "ir/kernel/cost.h"
#include "ir/ops/precision.h"
#include "passes/fuse/choose_schedule.h"

namespace heddle::passes {

using namespace ir;

namespace {

struct Shape {
  int64_t rows, columns, threads;
};
// Tile shapes and thread counts. With fma, a thread holds 16, 32 or 64 sums. With tensor cores, a warp holds 32 x 16 to
// 32 x 64 sums.
constexpr Shape kFmaShapes[] = {{128, 128, 256}, {128, 64, 128}, {128, 64, 256}, {64, 128, 128}, {64, 128, 256},
                                {64, 64, 64},    {64, 64, 128},  {64, 64, 256},  {128, 32, 64},  {128, 32, 128},
                                {32, 128, 64},   {32, 128, 128}, {64, 32, 32},   {64, 32, 64},   {64, 32, 128},
                                {32, 64, 32},    {32, 64, 64},   {32, 64, 128},  {128, 16, 64},  {128, 16, 128},
                                {64, 16, 32},    {64, 16, 64},   {32, 32, 32},   {32, 32, 64},   {16, 64, 32},
                                {16, 64, 64},    {32, 16, 32},   {16, 32, 32},   {64, 96, 96},   {128, 96, 192}};
constexpr Shape kTensorShapes[] = {{128, 128, 256}, {128, 64, 256}, {128, 64, 128}, {64, 128, 128},
                                   {64, 64, 128},   {64, 32, 128},  {32, 64, 64},   {64, 32, 64},
                                   {32, 32, 64},    {32, 16, 32},   {64, 16, 64},   {32, 8, 32}};
constexpr int64_t kDepths[] = {16, 32, 64};
constexpr int64_t kParts[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024};
constexpr int64_t kMostStages = 4;
constexpr int64_t kStepThreads = 128;  // threads per block of most kernels
constexpr int64_t kMostWaits = 8;      // most dependent loads in the sum of the parts' results
constexpr double kLonger = 1.3;        // an acceptable factor above the least time

// The shared memory of a block. 2048 bytes of a multiprocessor's are reserved: by the system for each block, and for
// other declarations in the kernel text.
int64_t most_shared(const Target& target) { return std::max(target.shared_bytes, target.sm_shared_bytes - 2048); }

class Search {
 public:
  Search(Graph& k, ContractPlan plan, const Target& target)
      : k_(k),
        plan_(std::move(plan)),
        target_(target),
        work_(product_work(k, plan_)),
        schedule_(std::get<schedules::Product>(k.schedule->how)) {
    least_items_ = moves_much(k) ? target.sm_count : 1;
  }

  // Sets the best schedule and returns its plan; nullopt if no tile fits.
  std::optional<ContractPlan> run() {
    if (plan_.tensor_cores)
      for (const Shape& s : kTensorShapes) try_shape(s);
    else
      for (const Shape& s : kFmaShapes) try_shape(s);
    if (best_.seconds == std::numeric_limits<double>::infinity()) return std::nullopt;
    return finish();
  }

  // The best schedule of each shape, at most `most`, the fastest first.
  std::vector<KernelSchedule> best_of_shapes(size_t most) {
    std::vector<Candidate> found;
    const auto see = [&](const Shape& s) {
      best_ = {}, meeting_soon_.clear();
      try_shape(s);
      if (best_.seconds != std::numeric_limits<double>::infinity()) found.push_back(best_);
    };
    if (plan_.tensor_cores)
      for (const Shape& s : kTensorShapes) see(s);
    else
      for (const Shape& s : kFmaShapes) see(s);
    std::ranges::stable_sort(found, {}, &Candidate::seconds);
    if (found.size() > most) found.resize(most);
    std::vector<KernelSchedule> schedules;
    for (const Candidate& c : found) {
      complete(schedule_of(c));
      schedules.push_back(*k_.schedule);
    }
    return schedules;
  }

 private:
  struct Candidate {
    Shape shape;
    int64_t depth = 0, stages = 0, parts = 0;
    double seconds = std::numeric_limits<double>::infinity();
  };

  void try_shape(const Shape& s) {
    for (const int64_t depth : kDepths)
      for (int64_t stages = 2; stages <= kMostStages; ++stages) try_tile({s, depth, stages});
  }

  // fuse tries thousands of schedules for each product. So nothing is allocated per schedule, and figures that do not
  // depend on the number of parts are computed once.
  void try_tile(Candidate c) {
    set(schedule_, c, /*parts=*/1);
    set_tiles(plan_, schedule_);
    if (plan_.shared_bytes > most_shared(target_) || !contract_conflict(schedule_, plan_).empty()) return;
    ContractTimes times(schedule_, plan_, work_, target_);
    const int64_t steps = plan_.steps;
    for (const int64_t parts : kParts) {
      if (parts > steps) return;
      const int64_t of_part = (steps + parts - 1) / parts, used = (steps + of_part - 1) / of_part;
      if (used == c.parts) continue;  // each part must have a step; the reduced number of parts has been tried already
      schedule_.split_k = c.parts = used;
      set_parts(plan_, schedule_);
      try_parts(c, times);
    }
  }

  // Records the candidate if it is better. Too few blocks cost a large penalty, so that they win only if nothing else
  // fits.
  void try_parts(Candidate& c, ContractTimes& times) {
    constexpr int64_t kMostScratch = int64_t{32} << 20;
    constexpr double kTooFew = 1e3;
    const int64_t items = plan_.tiles * schedule_.split_k;
    if (schedule_.split_k > 1 && items * schedule_.tile[0] * schedule_.tile[1] * 4 > kMostScratch) return;
    if (schedule_.split_k > 1 && product_registers(schedule_, plan_) + registers_of_arrays() > kMostRegisters) return;
    c.seconds = times.seconds() + (items < least_items_ ? kTooFew : 0);
    if (c.seconds < best_.seconds) best_ = c;
    if (c.seconds <= best_.seconds * kLonger && meeting_waits(schedule_, plan_) <= kMostWaits)
      meeting_soon_.push_back(c);
    if (schedule_.threads == kStepThreads && c.seconds < best_of_step_.seconds) best_of_step_ = c;
  }

  static void set(schedules::Product& schedule, const Candidate& c, int64_t parts) {
    schedule.tile[0] = c.shape.rows, schedule.tile[1] = c.shape.columns, schedule.tile[2] = c.depth;
    schedule.threads = c.shape.threads;
    schedule.stages = c.stages;
    schedule.split_k = parts;
  }
  schedules::Product schedule_of(const Candidate& c) const {
    schedules::Product schedule = schedule_;
    set(schedule, c, c.parts);
    return schedule;
  }

  // The registers for addresses if a kernel has many arrays. They would be spilled where the parts are summed.
  int64_t registers_of_arrays() const {
    constexpr int64_t kFew = 8, kAddress = 2;
    return kAddress * std::max<int64_t>(static_cast<int64_t>(k_.inputs.size() + k_.outputs.size()) - kFew, 0);
  }

  // Prefers the thread count of most kernels, because the product may then join a persistent kernel, which saves a
  // launch.
  schedules::Product chosen() const {
    const double saved = target_.launch - target_.grid_barrier;
    return schedule_of(best_of_step_.seconds <= best_.seconds + saved ? best_of_step_ : best_);
  }

  // If the sum of the chosen schedule's parts is slow, takes another one: among the schedules with a fast sum that take
  // hardly longer, the one with the least time by counted operations.
  schedules::Product chosen_to_meet_soon() {
    schedules::Product schedule = chosen();
    set_tiles(plan_, schedule);
    if (meeting_waits(schedule, plan_) <= kMostWaits) return schedule;
    double least = std::numeric_limits<double>::infinity();
    for (const Candidate& c : meeting_soon_) {
      if (c.seconds > best_.seconds * kLonger) continue;
      const schedules::Product tried = schedule_of(c);
      k_.schedule->how = tried;
      set_tiles(plan_, tried);
      const double seconds = kernel_cost(k_, plan_, target_).seconds;
      if (seconds < least) schedule = tried, least = seconds;
    }
    return schedule;
  }

  ContractPlan finish() {
    complete(chosen_to_meet_soon());
    return plan_;
  }

  void complete(schedules::Product schedule) {
    set_tiles(plan_, schedule);
    for (const int64_t packet : {4, 2}) {
      schedule.vector_width = packet;
      if (contract_conflict(schedule, plan_).empty()) break;
      schedule.vector_width = 1;
    }
    k_.schedule->how = schedule;
    const KernelPlan plan = plan_kernel(k_, plan_);
    if (plan.largest_index >= target_.index_limit) schedule.index = 64;
    k_.schedule = KernelSchedule{.how = schedule, .workspace = plan.partial_bytes};
  }

  Graph& k_;
  ContractPlan plan_;
  const Target& target_;
  ProductWork work_;
  schedules::Product schedule_;
  Candidate best_, best_of_step_;
  std::vector<Candidate> meeting_soon_;
  int64_t least_items_ = 1;
};

std::string precision_of_products(const Graph& kernel) {
  for (const NodeId id : kernel.order)
    if (const Node& n = kernel[id]; std::holds_alternative<Contraction>(n.op->kind))
      if (const auto& text = std::get<std::string>(attribute(*n.op, n.attrs, "precision")); !mixed_type(text))
        return text;
  return "f32";
}

// A plan with an arbitrary tile. The sides of the product do not depend on the tile.
ContractPlan plan_of_any_tile(Graph& kernel) {
  schedules::Product schedule;
  schedule.split = 2;
  schedule.tile = {16, 32, 16};
  schedule.precision = parse_precision(precision_of_products(kernel));
  return plan_contract(kernel, schedule);
}

}  // namespace

std::vector<KernelSchedule> product_schedules(const Graph& kernel, const Target& target, size_t most) {
  Graph k = kernel;
  const ContractPlan plan = plan_of_any_tile(k);
  return plan.ok() ? Search(k, plan, target).best_of_shapes(most) : std::vector<KernelSchedule>{};
}

std::string tiles_name(const schedules::Product& s) {
  return fmt::format("tiles {} x {} x {}, {} threads, {} stages, {} part{}", s.tile[0], s.tile[1], s.tile[2], s.threads,
                     s.stages, s.split_k, s.split_k == 1 ? "" : "s");
}

ContractPlan choose_product_schedule(Graph& kernel, const Target& target) {
  const std::optional<KernelSchedule> before = kernel.schedule;
  ContractPlan plan = plan_of_any_tile(kernel);
  if (plan.ok()) {
    if (std::optional<ContractPlan> found = Search(kernel, plan, target).run()) return *std::move(found);
    plan.reason = "no tile fits";
  }
  kernel.schedule = before;
  return plan;
}

}  // namespace heddle::passes
