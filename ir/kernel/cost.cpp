#include "ir/kernel/cost.h"

#include <algorithm>
#include <limits>

#include "ir/kernel/access.h"
#include "ir/kernel/contract_cost.h"
#include "ir/kernel/count/counted_seconds.h"
#include "ir/kernel/plan_primitive.h"
#include "ir/kernel/plan_tile.h"
#include "ir/kernel/schedule_def.h"
#include "ir/kernel/winograd.h"
#include "ir/op_def.h"
#include "ir/visit.h"

namespace heddle::ir {
namespace {

// The number of points that are reduced to one result element; 1 if the node is no reduction.
double domain_points(const Graph& k, const Node& n) {
  if (!is_reduction(*n.op)) return 1;
  ReductionDomain domain;
  reduction_domain(signature(k, n), domain);
  return static_cast<double>(product(domain.extents));
}

// Whether a broadcast repeats numbers that differ from column to column: along the last axis that is longer than one.
bool varies_by_column(const Graph& k, const Node& n) {
  if (n.op->traits.spread == nullptr || k[n.operands[0]].type.elements() == 1) return false;
  const std::vector<int64_t> kept = n.op->traits.spread(n);
  const Dims& dims = k[n.results[0]].type.dims;
  size_t last = dims.size();
  while (last > 0 && dims[last - 1] == 1) --last;
  return last > 0 && std::find(kept.begin(), kept.end(), static_cast<int64_t>(last) - 1) != kept.end();
}

// The number of elements of each value that a kernel computes, with repetitions. If a window reads a value at many
// points, the kernel computes the value again at each of them. Readers at the same points share one computation.
//
// A kernel that goes through rows keeps values that a whole row shares, and computes values that differ from column to
// column again in each row. For elementwise operators this costs almost nothing and is not counted. A reduction inside
// a point costs all of its terms each time: softmax along the rows of 300,000 x 3, as one kernel, would compute the
// maximum 300,000 times.
class Evaluations {
 public:
  explicit Evaluations(const Graph& k) : k_(k), count_(k.value_count(), 0), by_row_(k.value_count(), 0) {
    for (ValueId v : k.outputs) raise(v, elements(v), elements(v));
    for (auto it = k.order.rbegin(); it != k.order.rend(); ++it) visit(k[*it]);
  }
  double of(const Node& n) const { return most_of(n, domain_points(k_, n) > 1 ? by_row_ : count_); }

 private:
  double elements(ValueId v) const { return static_cast<double>(k_[v].type.elements()); }
  double most_of(const Node& n, const std::vector<double>& counts) const {
    double most = 0;
    for (ValueId r : n.results) most = std::max(most, counts[static_cast<size_t>(r.index)]);
    return most;
  }
  void raise(ValueId v, double count, double by_row) {
    const auto i = static_cast<size_t>(v.index);
    count_[i] = std::max(count_[i], count);
    by_row_[i] = std::max(by_row_[i], by_row);
  }

  void visit(const Node& n) {
    const double points = domain_points(k_, n), count = of(n);
    const double by_row = most_of(n, by_row_);
    const bool again = varies_by_column(k_, n);
    for (ValueId v : n.operands) {
      // A movement that repeats an element, such as a broadcast, computes it once. A movement of several operands, such
      // as a concatenation, computes all of them at every element and takes one.
      bool moves = std::holds_alternative<Movement>(n.op->kind) || std::holds_alternative<Lookup>(n.op->kind);
      double repeats = n.operands.size() > 1 ? 1 : std::min(1.0, elements(v) / elements(n.results[0]));
      raise(v, moves ? count * repeats : count * points, moves ? by_row * (again ? 1 : repeats) : by_row * points);
    }
  }

  const Graph& k_;
  std::vector<double> count_;
  std::vector<double> by_row_;  // with what each row computes anew
};

// The counts that the operator declares, if it does.
std::optional<FlopCounts> own_flop_counts(const Graph& k, const Node& n) {
  const auto* primitive = std::get_if<Primitive>(&n.op->kind);
  if (primitive == nullptr || !primitive->flop_counts) return std::nullopt;
  return primitive->flop_counts(signature(k, n));
}

// For a convolution in a Winograd call: its work. Else nothing.
std::optional<WinogradWork> work_in_tiles(const Graph& k, const Node& n) {
  const auto* call = k.schedule ? std::get_if<schedules::LibraryCall>(&k.schedule->how) : nullptr;
  if (call == nullptr || call->impl != kWinograd || !n.op->traits.convolution) return std::nullopt;
  // One image counts as half of two images, so that a batch of one image gets the same choice as larger batches.
  const int64_t images = k[n.results[0]].type.dims[0];
  if (images != 1) return winograd_work(k, n, images);
  WinogradWork work = winograd_work(k, n, 2);
  for (double* of_two : {&work.flops, &work.as_products, &work.direct}) *of_two /= 2;
  return work;
}

double flops_per_element(const Graph& k, const Node& n) {
  if (const auto work = work_in_tiles(k, n)) return work->flops / static_cast<double>(k[n.results[0]].type.elements());
  if (const auto counts = own_flop_counts(k, n))
    return counts->flops / static_cast<double>(k[n.results[0]].type.elements());
  return flops_per_point(*n.op) * domain_points(k, n);
}

// The time of transforms beyond that of their flops, expressed as flops of products.
double slow_flops(const Graph& k) {
  double slow = 0;
  for (const NodeId n : k.order)
    if (const auto work = work_in_tiles(k, k[n])) slow += work->as_products - work->flops;
  return slow;
}

double flops_of_products(const Graph& k) {
  double products = 0;
  for (const NodeId n : k.order)
    if (const auto counts = own_flop_counts(k, k[n])) products += counts->products;
  return products;
}

// A kernel that reads a transposed operand without a tile uses one element of each cache line (host) or 32-byte sector
// (GPU) that it fetches. This is the factor by which it reads too much. Measured on the host: transposes of 64 x 64 to
// 1024 x 1024 without tiles take 2 to 7 times as long where a side is a power of two, else 1.2 times.
constexpr int64_t kFetchedAcross = 4;

int64_t bytes_read_across(const Graph& k) {
  if (!k.schedule || !traits_of(*k.schedule).points_as_they_lie) return 0;
  std::vector<char> across(k.value_count(), 0);
  for (auto it = k.order.rbegin(); it != k.order.rend(); ++it) {
    const Node& n = k[*it];
    bool below = std::any_of(n.results.begin(), n.results.end(),
                             [&](ValueId r) { return across[static_cast<size_t>(r.index)]; });
    if (const std::optional<Turn> turn = turn_of(k, n)) below = below || turn->large();
    for (ValueId v : n.operands) across[static_cast<size_t>(v.index)] |= below;
  }
  int64_t bytes = 0;
  for (ValueId v : k.inputs) bytes += across[static_cast<size_t>(v.index)] ? k[v].type.bytes() : 0;
  return bytes;
}

// The number of threads that share the points of a schedule.
double threads_of(const KernelSchedule& schedule, const Target& target) {
  const auto up_to_most = [&](int64_t threads) {
    return std::clamp(static_cast<double>(threads), 1.0, static_cast<double>(target.sm_count * target.sm_threads));
  };
  if (const auto* rows = std::get_if<schedules::Rows>(&schedule.how))
    return rows->blocks > 0 ? static_cast<double>(rows->blocks * rows->threads) : up_to_most(rows->rows() * rows->team);
  const schedules::OverDomain* points = over_domain(schedule);
  return points == nullptr ? 1.0 : up_to_most(product(points->domain) / thread_work(schedule).vector_width);
}

// Whether it sums up whole leading axes, as a bias's gradient does: of a matrix, its columns.
bool sums_columns(const Graph& k, const Node& n) {
  const auto* reduction = std::get_if<Reduction>(&n.op->kind);
  if (reduction == nullptr || n.operands.size() != 1) return false;
  const IndexMap map = reduction->domain(signature(k, n)).maps[0];
  const Dims &operand = k[n.operands[0]].type.dims, &result = k[n.results[0]].type.dims;
  const size_t gone = operand.size() - std::min(operand.size(), result.size());
  if (gone == 0 || result.empty() ||
      !std::equal(result.begin(), result.end(), operand.begin() + std::ssize(operand) - std::ssize(result)))
    return false;
  for (size_t d = 0; d < result.size(); ++d) {
    const IndexExpr& e = map.results[gone + d];
    if (e.constant != 0 || e.terms.size() != 1 || e.terms[0].coefficient != 1 || e.terms[0].dim != static_cast<int>(d))
      return false;
  }
  return true;
}

// The host's compiler vectorises neither side of a loop over the columns that goes down each of them: an element of a
// long sum waits for the one before. 2,560 rows of 512 columns took 4 ns an element, by one core.
double column_seconds(const Graph& k) {
  constexpr double kElement = 4e-9, kLong = 32;
  const schedules::OverDomain* over = k.schedule ? over_domain(*k.schedule) : nullptr;
  if (over == nullptr) return 0;
  double seconds = 0;
  for (const NodeId id : k.order) {
    const Node& n = k[id];
    const bool inside = sums_columns(k, n) && k[n.operands[0]].type.elements() != product(over->domain);
    if (inside && domain_points(k, n) >= kLong) seconds += Evaluations(k).of(n) * domain_points(k, n) * kElement;
  }
  return seconds;
}

// Seconds that the arithmetic of a kernel without product tiles takes. On a GPU two things make it slow:
// - A product without tiles is one loop per thread. Each iteration waits for two loads (kTurn).
// - Few threads cannot hide the latency of dependent instructions. Each operation then takes two or three instructions,
//   one every other cycle (kOperation).
double thread_seconds(const Graph& k, double flops, const Target& target, double threads) {
  constexpr double kTurn = 2e-8, kLoadsToProducts = 4, kOperation = 2.5e-9;
  if (!target.gpu) return flops / target.flops + column_seconds(k);
  double seconds = 0, of_products = 0;
  const Evaluations evaluations(k);
  for (const NodeId n : k.order) {
    if (!std::holds_alternative<Contraction>(k[n].op->kind)) continue;
    const double elements = evaluations.of(k[n]), of_product = elements * flops_per_element(k, k[n]);
    const double of_thread = std::max(1.0, elements / threads);
    of_products += of_product;
    seconds += std::max(domain_points(k, k[n]) * of_thread * kTurn, (kLoadsToProducts - 1) * of_product / target.flops);
  }
  return seconds + std::max(flops / target.flops, (flops - of_products) / threads * kOperation);
}

constexpr double kAnyThreads = std::numeric_limits<double>::infinity();

bool through_tiles(const Graph& k) { return k.schedule && std::holds_alternative<schedules::Product>(k.schedule->how); }

// The rate of a library's products: on a GPU that of the units for the type to which operands may be rounded.
double library_rate(const Graph& k, const Target& target) {
  if (!target.gpu) return target.matrix_flops;
  const ProductPrecision precision = std::get<schedules::LibraryCall>(k.schedule->how).precision;
  const bool narrow = k[k.inputs[0]].type.dtype != DType::f32;
  if (narrow || precision == ProductPrecision::bf16 || precision == ProductPrecision::f16) return target.tensor_flops;
  return precision == ProductPrecision::tf32 ? target.tensor_flops / 2 : target.matrix_flops;
}

// `product`: of a kernel through tiles.
double compute_seconds(const Graph& k, const ContractPlan* product, double flops, const Target& target) {
  if (calls_library(k)) return (flops + slow_flops(k)) / library_rate(k, target);
  if (const double products = flops_of_products(k); products > 0 && !target.gpu)
    return products / target.matrix_flops + (flops - products) / target.flops;
  if (product != nullptr)
    return contract_seconds(std::get<schedules::Product>(k.schedule->how), *product, product_work(k, *product), target);
  return thread_seconds(k, flops, target, k.schedule ? threads_of(*k.schedule, target) : kAnyThreads);
}

// The most operations a second that a kernel of this schedule can reach.
double peak_rate(const Graph& k, const ContractPlan* product, const Target& target) {
  if (calls_library(k)) return library_rate(k, target);
  if (!target.gpu) return target.flops;
  if (product == nullptr) return target.fma_flops;
  const bool narrow = product->multiplied != DType::f32;
  return narrow ? target.tensor_flops : product->tensor_cores ? target.tensor_flops / 2 : target.fma_flops;
}

// The bytes of an input that the kernel reads: the whole input, unless only lookups read it. Lookups read at most as
// many bytes as their results have.
int64_t bytes_read_of(const Graph& k, ValueId v) {
  if (is_in_place(k)) return primitive_bytes(k, v);
  int64_t looked_up = 0;
  for (const NodeId use : k[v].uses) {
    const Node& n = k[use];
    const bool whole = !std::holds_alternative<Lookup>(n.op->kind) || n.operands[1] == v;
    if (whole) return k[v].type.bytes();
    looked_up += k[n.results[0]].type.bytes();
  }
  return k[v].uses.empty() ? k[v].type.bytes() : std::min(looked_up, k[v].type.bytes());
}

bool says_its_bytes(const Graph& k) {
  if (!k.schedule || !std::holds_alternative<schedules::Primitive>(k.schedule->how)) return false;
  return static_cast<bool>(std::get<Primitive>(k[k.order[0]].op->kind).bytes);
}

// The share of its results' elements that a kernel writes: all, unless it works in place.
double touched_share(const Graph& k) {
  if (!is_in_place(k)) return 1;
  const ValueId y = k.outputs[0];
  return static_cast<double>(primitive_bytes(k, y)) / static_cast<double>(k[y].type.bytes());
}

double seconds_of(const Cost& cost, const Target& target) {
  const int64_t bytes = cost.bytes();
  const double bandwidth = bytes <= target.cache_bytes ? target.cache_bandwidth : target.bandwidth;
  return std::max(static_cast<double>(bytes) / bandwidth, cost.compute_seconds) + target.launch;
}

Cost estimate(const Graph& kernel, const ContractPlan* product, const Target& target) {
  Cost cost = moved_and_computed(kernel);
  cost.compute_seconds = compute_seconds(kernel, product, cost.flops, target);
  cost.seconds = seconds_of(cost, target);
  return cost;
}

Cost counted(const Graph& kernel, const ContractPlan* product, const Target& target) {
  Cost cost = estimate(kernel, product, target);
  const Work work{.bytes = static_cast<double>(cost.bytes_read + cost.bytes_written),
                  .flops = cost.flops,
                  .rate = peak_rate(kernel, product, target)};
  cost.least_seconds = least_seconds(work, target) + target.launch;
  if (!target.gpu || !kernel.schedule || calls_library(kernel)) return cost;
  const int64_t blocks = resident_blocks(*kernel.schedule, target) * target.sm_count;
  cost.counts = product != nullptr ? count_kernel(kernel, *product, blocks) : count_kernel(kernel, blocks);
  cost.seconds = counted_seconds(*cost.counts, *kernel.schedule, work, target) + target.launch;
  return cost;
}

}  // namespace

double flops_per_point(const OpDef& op) {
  return visit_kind(
      op, [](const OneOf<Movement, Lookup> auto&) { return 0.0; },
      [](const Contraction&) { return 2.0; },  // a product and a sum
      [&](const OneOf<Source, Elementwise, Reduction, Primitive, Composite, Gradient, Call, Scan> auto&) {
        return op.flops;
      });
}

double node_flops(const Graph& g, const Node& n) {
  const double elements = n.results.empty() ? 0 : static_cast<double>(g[n.results[0]].type.elements());
  return elements * flops_per_element(g, n);
}

Cost moved_and_computed(const Graph& kernel) {
  Cost cost;
  if (says_its_bytes(kernel)) {
    const PrimitiveBytes bytes = bytes_of_primitive(kernel);
    cost.bytes_read = bytes.read, cost.bytes_written = bytes.written;
    for (const NodeId n : kernel.order) cost.flops += own_flop_counts(kernel, kernel[n]).value_or(FlopCounts{}).flops;
    return cost;
  }
  for (ValueId v : kernel.inputs) cost.bytes_read += bytes_read_of(kernel, v);
  for (ValueId v : kernel.outputs)
    cost.bytes_written += is_in_place(kernel) ? primitive_bytes(kernel, v) : kernel[v].type.bytes();
  Evaluations evaluations(kernel);
  for (NodeId n : kernel.order)
    cost.flops += evaluations.of(kernel[n]) * flops_per_element(kernel, kernel[n]) * touched_share(kernel);
  cost.bytes_wasted = bytes_read_across(kernel) * (kFetchedAcross - 1);
  return cost;
}

Cost estimated_cost(const Graph& kernel, const ContractPlan& product, const Target& target) {
  return estimate(kernel, &product, target);
}
Cost estimated_cost(const Graph& kernel, const Target& target) {
  return through_tiles(kernel) ? estimated_cost(kernel, plan_contract(kernel), target)
                               : estimate(kernel, nullptr, target);
}

Cost kernel_cost(const Graph& kernel, const ContractPlan& product, const Target& target) {
  return counted(kernel, &product, target);
}
Cost kernel_cost(const Graph& kernel, const Target& target) {
  return through_tiles(kernel) ? kernel_cost(kernel, plan_contract(kernel), target) : counted(kernel, nullptr, target);
}

double least_seconds_of_loops(const Graph& kernel, const Cost& cost, const Target& target) {
  Cost least = cost;
  least.bytes_wasted = 0;
  least.compute_seconds = thread_seconds(kernel, cost.flops, target, kAnyThreads);
  return seconds_of(least, target);
}

}  // namespace heddle::ir
