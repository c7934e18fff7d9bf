#include "codegen/resident.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/grid_barriers.h"
#include "codegen/predict.h"
#include "ir/ceil_div.h"
#include "ir/kernel/access.h"
#include "ir/kernel/plan_contract.h"
#include "ir/loop/loops.h"

namespace heddle::codegen {

using namespace ir;  // NOLINT: this file speaks of little else

namespace {

constexpr int64_t kReserved = 1024,
                  kDeclared = 4096;  // shared memory of a block for the driver, and for arrays that the text declares
constexpr int64_t kAcross = 4;       // columns of a thread, as in hd::Resident
constexpr double kFmaCycles = 4;     // cycles until a sum can be added to again

struct No {
  std::string reason;
};

bool same_place(const Argument& a, const Argument& b) { return a.at == b.at && a.bytes == b.bytes; }
bool stays(const Argument& a) {
  return std::ranges::all_of(a.at.strides, [](int64_t stride) { return stride == 0; });
}

// The arguments of a launch, without the scratch of partial sums.
struct Given {
  const Graph* kernel = nullptr;
  std::vector<Argument> inputs, outputs;
  Step step() const {
    Launch launch;
    launch.arguments = inputs;
    launch.arguments.insert(launch.arguments.end(), outputs.begin(), outputs.end());
    return {std::move(launch), {}};
  }
};

// Whether a point (row, unit) reads only those elements of `v` that belong to the same row and unit, so none of another
// block.
class ReadsItsUnits {
 public:
  ReadsItsUnits(const Graph& kernel, ValueId v, const Dims& space) : k_(kernel), v_(v), space_(space) {}
  bool operator()() {
    for (const ValueId out : k_.outputs) read(out, access_of(Extent::full, space_, k_[out].type.dims));
    return good_;
  }

 private:
  void read(ValueId v, const IndexMap& at) {
    if (!good_ || std::ranges::find(seen_, std::pair{v, at}) != seen_.end()) return;
    seen_.emplace_back(v, at);
    if (v == v_) good_ = own(linear_offset(at, k_[v].type.dims));
    if (const Node* n = k_.def(v); n != nullptr)
      for (const Read& r : reads_at(k_, *n, at)) read(r.value, r.at);
  }
  bool own(const IndexExpr& e) const {
    const int64_t columns = k_[v_].type.elements() / space_[kRow];
    return e == IndexExpr::dim(kRow) * columns + IndexExpr::dim(kColumn) + IndexExpr(e.constant) &&
           e.constant % space_[kColumn] == 0;
  }

  const Graph& k_;
  ValueId v_;
  const Dims& space_;
  std::vector<std::pair<ValueId, IndexMap>> seen_;
  bool good_ = true;
};

class Finder {
 public:
  Finder(const Module& m, const Program& p, const Loop& loop, const Target& target)
      : m_(m), p_(p), loop_(loop), target_(target) {}

  ResidentCell run() {
    find_product();
    found_.value = product_.inputs[left_];
    found_.product_arrays = product_.inputs.size() + product_.outputs.size();
    find_copy();
    find_cell();
    check_rest();
    cut();
    predict();
    return found_;
  }

 private:
  const Kernel* kernel_of(size_t i) const {
    const auto* launch = std::get_if<Launch>(&loop_.steps[i].what);
    return launch == nullptr ? nullptr : &p_.kernels[static_cast<size_t>(launch->kernel)];
  }

  Given given(size_t i) const {
    const auto& launch = std::get<Launch>(loop_.steps[i].what);
    Given g{.kernel = m_.find_kernel(kernel_of(i)->title), .inputs = {}, .outputs = {}};
    const auto inputs = static_cast<std::ptrdiff_t>(g.kernel->inputs.size());
    const auto all = inputs + static_cast<std::ptrdiff_t>(g.kernel->outputs.size());
    g.inputs.assign(launch.arguments.begin(), launch.arguments.begin() + inputs);
    g.outputs.assign(launch.arguments.begin() + inputs, launch.arguments.begin() + all);
    return g;
  }

  size_t input_of(const Given& g, ValueId v) const {
    return static_cast<size_t>(std::ranges::find(g.kernel->inputs, v) - g.kernel->inputs.begin());
  }

  // Whether step i is a product that can stay resident: f32 with fma, both sides copied unchanged, with rows of the
  // value and of the weights that are contiguous along k.
  bool is_product(size_t i) {
    const Kernel* facts = kernel_of(i);
    const Graph* k = facts == nullptr ? nullptr : m_.find_kernel(facts->title);
    if (k == nullptr || !k->schedule || !std::holds_alternative<schedules::Product>(k->schedule->how)) return false;
    plan_ = plan_contract(*k);
    const int64_t depth = plan_.space[kDepth];
    const auto copied = [&](const ProductSide& s, int line) {
      return s.packet > 0 && s.memory_at.guards.empty() &&
             linear_offset(s.memory_at, (*k)[s.memory].type.dims) ==
                 IndexExpr::dim(line) * depth + IndexExpr::dim(kDepth);
    };
    if (!plan_.ok() || plan_.tensor_cores || plan_.multiplied != DType::f32 || plan_.space[kProductMatrix] != 1)
      return false;
    if (!copied(plan_.left, kRow) || !copied(plan_.right, kColumn) || depth % 4 != 0) return false;
    product_ = given(i);
    left_ = input_of(product_, plan_.left.memory);
    const Argument& weights = product_.inputs[input_of(product_, plan_.right.memory)];
    return stays(weights) && stays(product_.inputs[left_]);
  }

  void find_product() {
    for (size_t i = 0; i < loop_.steps.size(); ++i) {
      if (std::holds_alternative<Loop>(loop_.steps[i].what)) throw No{"a loop is inside"};
      if (std::holds_alternative<Library>(loop_.steps[i].what)) throw No{"a library is called"};
      if (!is_product(i)) continue;
      found_.product = i;
      return;
    }
    throw No{"no product of f32 with weights that stay"};
  }

  // "copy value <- other": the last step.
  void find_copy() {
    const auto* copy = std::get_if<Copy>(&loop_.steps.back().what);
    const Argument& value = found_.value;
    if (copy == nullptr || !(copy->to == value.at) || copy->bytes != value.bytes) return;
    found_.copy = loop_.steps.size() - 1;
    found_.other = copy->from;
  }

  // The memory to which the phase writes the next carried value. The product writes it, or the pointwise kernel after
  // it.
  Argument left_behind() const {
    return found_.other ? Argument{*found_.other, found_.value.bytes, Access::write} : found_.value;
  }
  bool leaves_value(const Given& g) const {
    return std::ranges::count_if(g.outputs, [&](const Argument& a) { return same_place(a, left_behind()); }) == 1;
  }

  void find_cell() {
    found_.slice.units = plan_.space[kColumn];
    if (leaves_value(product_)) return;
    const size_t i = found_.product + 1;
    const Kernel* facts = i < loop_.steps.size() ? kernel_of(i) : nullptr;
    if (facts == nullptr || facts->schedule != "pointwise") throw No{"no pointwise kernel follows the product"};
    cell_ = given(i);
    if (!leaves_value(cell_)) throw No{fmt::format("{} does not leave what the next turn multiplies", facts->name)};
    found_.cell = i;
    const Graph& k = *cell_.kernel;
    const KernelPlan plan = plan_kernel(k);
    const Dims space = plan.space();
    const loop::Statements loops = loop::loops_of(k, plan);
    const auto* nest = loops.size() == 1 ? std::get_if<loop::Nest>(&loops[0].what) : nullptr;
    if (nest == nullptr || nest->axis != loop::Axis::points || space[kRow] != plan_.space[kRow] ||
        plan_.space[kColumn] % space[kColumn] != 0 || plan.draws || generated(*k.schedule).index != 32)
      throw No{fmt::format("the points of {} are not the product's rows and units of its gates", facts->name)};
    found_.slice.units = space[kColumn];
    for (size_t in = 0; in < cell_.inputs.size(); ++in)
      if (same_place(cell_.inputs[in], product_.outputs[0]) && !ReadsItsUnits(k, k.inputs[in], space)())
        throw No{fmt::format("{} reads gates of other units", facts->name)};
  }

  // A step without its arguments at these places. Within a phase, kernels may share only the carried value, which has
  // two places, and the gates, which stay in a block. Without these arguments, the kernels must not conflict.
  Step without(Given g, const std::vector<Argument>& places) const {
    const auto drop = [&](std::vector<Argument>& all) {
      std::erase_if(all, [&](const Argument& a) {
        return std::ranges::any_of(places, [&](const Argument& p) { return same_place(a, p); });
      });
    };
    drop(g.inputs), drop(g.outputs);
    return g.step();
  }

  void check_rest() {
    if (product_.outputs.size() != 1) throw No{"the product leaves more than its sums"};
    const std::vector<int64_t> turns = {loop_.count};
    std::vector<Argument> places = {found_.value};
    if (found_.other) places.push_back(left_behind());
    std::vector<Step> rest = {without(product_, places)};
    std::vector<Argument> inside = places;
    inside.push_back(product_.outputs[0]);
    const Step sums = rest[0];
    if (found_.cell) {
      // The cell may read the gates, which its own block has written. It must not write what the product reads.
      Given reading = product_;
      reading.outputs.clear();
      if (conflict(without(reading, places), without(cell_, places), turns) ||
          conflict(sums, without(cell_, inside), turns))
        throw No{"its kernels share more than the gates"};
      rest.push_back(without(cell_, places));
    }
    if (found_.other && reads(left_behind())) throw No{"the next value is read before the next turn"};
    for (size_t i = 0; i < loop_.steps.size(); ++i) {
      if (i == found_.product || i == found_.cell || i == found_.copy) continue;
      if (kernel_of(i) == nullptr) throw No{"more than the value is copied"};
      const Given other = given(i);
      const auto writes = [&](const Argument& a) {
        return std::ranges::any_of(places, [&](const Argument& p) { return same_place(a, p); });
      };
      if (std::ranges::any_of(other.outputs, writes)) throw No{"another kernel leaves the value, too"};
      const Step step = without(other, places);
      for (const Step& before : rest)
        if (conflict(before, step, turns)) throw No{fmt::format("{} waits for others", kernel_of(i)->name)};
      rest.push_back(step);
      found_.beside.push_back(i);
    }
    overlaps_places(rest, places, turns);
  }

  bool reads(const Argument& place) const {
    const auto there = [&](const Argument& a) { return same_place(a, place); };
    for (size_t i = 0; i < loop_.steps.size(); ++i)
      if (kernel_of(i) != nullptr && std::ranges::any_of(given(i).inputs, there)) return true;
    return false;
  }

  // No other argument may be a part of a place: the place alternates, and the part would not.
  static void overlaps_places(const std::vector<Step>& rest, const std::vector<Argument>& places,
                              const std::vector<int64_t>& turns) {
    Launch all;
    for (Argument a : places) a.access = Access::write, all.arguments.push_back(a);
    const Step whole{std::move(all), {}};
    for (const Step& step : rest)
      if (conflict(whole, step, turns)) throw No{"a part of the value is read alone"};
  }

  // Finds the smallest slice for which a block per slice can run at the same time (132 multiprocessors with two blocks
  // each on an H200).
  void cut() {
    UnitSlice& slice = found_.slice;
    const int64_t gates = plan_.space[kColumn] / slice.units, rows = plan_.space[kRow], depth = plan_.space[kDepth];
    const auto& schedule = std::get<schedules::Product>(product_.kernel->schedule->how);
    const int64_t least = std::max(thread_work(*product_.kernel->schedule).vector_width,
                                   found_.cell ? thread_work(*cell_.kernel->schedule).vector_width : 1);
    for (slice.count = least; slice.count <= slice.units; slice.count *= 2) {
      if (slice.units % slice.count != 0 || gates * slice.count % kAcross != 0) continue;
      found_.slices = slice.units / slice.count;
      const int64_t columns = gates * slice.count;
      if (ceil_div(found_.slices, target_.sm_count) > kBlocksOfSm) continue;
      found_.sums_bytes = schedule.split_k * rows * columns * 4;
      found_.weights_bytes = columns * (depth + 4) * 4;
      if (!fits(found_, std::max(found_.sums_bytes, beside_shared()), target_)) break;
      found_.read_once = plan_.space[kColumn] * depth * 4;
      return;
    }
    throw No{fmt::format("{} bytes of weights do not fit into the shared memory of {} multiprocessors",
                         plan_.space[kColumn] * depth * 4, target_.sm_count)};
  }
  int64_t beside_shared() const {
    int64_t bytes = 0;
    for (const size_t i : found_.beside) bytes = std::max(bytes, kernel_of(i)->shared_bytes);
    return bytes;
  }

  // The maximum of three times: products at the rate of fma, the value's rows from the last-level cache for each slice,
  // and chains of dependent additions.
  void predict() {
    const double rows = static_cast<double>(plan_.space[kRow]), depth = static_cast<double>(plan_.space[kDepth]);
    const double sms = static_cast<double>(target_.sm_count), slices = static_cast<double>(found_.slices);
    const double uneven = static_cast<double>(ceil_div(found_.slices, target_.sm_count)) * sms / slices;
    const double flops = 2 * rows * static_cast<double>(plan_.space[kColumn]) * depth;
    const auto& schedule = std::get<schedules::Product>(product_.kernel->schedule->how);
    const double chain = depth / static_cast<double>(schedule.split_k) * kFmaCycles / (target_.sm_instructions / 4);
    found_.seconds =
        std::max({flops / target_.fma_flops * uneven, slices * rows * depth * 4 / target_.cache_bandwidth, chain}) +
        2 * target_.latency;
    if (found_.cell) found_.seconds += predicted_seconds(p_, loop_.steps[*found_.cell]) - target_.launch;
  }

  const Module& m_;
  const Program& p_;
  const Loop& loop_;
  const Target& target_;
  ResidentCell found_;
  ContractPlan plan_;
  Given product_, cell_;
  size_t left_ = 0;  // the number of the product's input that is the carried value
};

}  // namespace

bool fits(const ResidentCell& cell, int64_t tiles_bytes, const Target& target) {
  const int64_t of_sm = ceil_div(cell.slices, target.sm_count), block = tiles_bytes + cell.weights_bytes + kDeclared;
  return of_sm <= kBlocksOfSm && block <= kMostSharedBytes && of_sm * (block + kReserved) <= target.sm_shared_bytes;
}

std::optional<ResidentCell> resident_cell(const Module& m, const Program& program, const Loop& loop,
                                          const Target& target, std::string& reason) {
  try {
    return Finder(m, program, loop, target).run();
  } catch (const No& no) {
    reason = no.reason;
    return std::nullopt;
  }
}

}  // namespace heddle::codegen
