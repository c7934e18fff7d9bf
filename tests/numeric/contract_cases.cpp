#include "tests/numeric/contract_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "ir/kernel/plan_contract.h"
#include "ir/op_def.h"
#include "passes/fuse/product_schedule.h"
#include "passes/outline.h"
#include "passes/pipeline.h"

namespace heddle::testing {

using namespace ir;

namespace {

// Tiles of fma: 16, 32 and 64 sums a thread.
const std::vector<TileChoice>& fma_tiles() {
  static const std::vector<TileChoice> tiles = {{.tile = {32, 16, 16}, .threads = 32},
                                                {.tile = {64, 64, 16}, .threads = 256, .stages = 3},
                                                {.tile = {64, 64, 32}, .threads = 128},
                                                {.tile = {128, 128, 16}, .threads = 256},
                                                {.tile = {16, 64, 16}, .threads = 64},
                                                {.tile = {64, 96, 16}, .threads = 96},
                                                // More shared memory than a text may declare.
                                                {.tile = {64, 64, 64}, .threads = 128, .stages = 4}};
  return tiles;
}
const std::vector<TileChoice>& tensor_tiles() {
  static const std::vector<TileChoice> tiles = {{.tile = {32, 8, 16}, .threads = 32},
                                                {.tile = {64, 64, 32}, .threads = 128, .stages = 3},
                                                {.tile = {128, 64, 32}, .threads = 256}};
  return tiles;
}
TileChoice in_parts(TileChoice t, int64_t parts) {
  t.split_k = parts;
  return t;
}

ValueId input(Builder& b, DType dtype, const Dims& dims) {
  return b.graph.add_input(fmt::format("x{}", b.graph.inputs.size()), {dtype, dims}, Role::input);
}

struct Product {
  Dims batch;
  int64_t m, n, k;
  bool ta = false, tb = false;
};
ValueId product(Builder& b, const Product& p, DType dtype) {
  Dims left = p.batch, right = p.batch;
  left.insert(left.end(), {p.ta ? p.k : p.m, p.ta ? p.m : p.k});
  right.insert(right.end(), {p.tb ? p.n : p.k, p.tb ? p.k : p.n});
  return b("matmul", {input(b, dtype, left), input(b, dtype, right)}, {{"transpose_a", p.ta}, {"transpose_b", p.tb}});
}
ContractCase product_case(const Product& p, const TileChoice& t, DType dtype = DType::f32, double rounding = 0) {
  const std::string name = fmt::format("{}_{}{}x{}x{}{}{}", to_string(dtype), p.batch.empty() ? "" : "batched_", p.m,
                                       p.n, p.k, p.ta ? "_ta" : "", p.tb ? "_tb" : "");
  return {name, [=](Builder& b) { return std::vector<ValueId>{product(b, p, dtype)}; }, t, rounding};
}

void add_products(std::vector<ContractCase>& all) {
  for (const TileChoice& t : fma_tiles())
    for (const bool ta : {false, true})
      for (const bool tb : {false, true}) {
        all.push_back(product_case({{}, 70, 50, 33, ta, tb}, t));
        all.push_back(product_case({{}, 64, 68, 96, ta, tb}, in_parts(t, 2)));
      }
  const TileChoice &small = fma_tiles()[0], &large = fma_tiles()[2];
  for (const TileChoice& t : {small, large}) {
    all.push_back(product_case({{3}, 37, 45, 20}, t));
    all.push_back(product_case({{2, 2}, 16, 24, 40, false, true}, t));
    all.push_back(product_case({{}, 5, 10, 1}, t));
    all.push_back(product_case({{}, 1, 3, 200}, t));
    all.push_back(product_case({{}, 20, 24, 1000}, in_parts(t, 7)));
    all.push_back(product_case({{}, 20, 24, 1000}, in_parts(t, 16)));
  }
}

void add_lower_precisions(std::vector<ContractCase>& all) {
  constexpr double kHalf = 0x1p-9, kTf32 = 0x1p-11;
  for (const TileChoice& t : tensor_tiles())
    for (const bool ta : {false, true})
      for (const bool tb : {false, true}) {
        all.push_back(product_case({{}, 70, 56, 72, ta, tb}, t, DType::bf16));
        all.push_back(product_case({{2}, 33, 25, 47, ta, tb}, in_parts(t, 2), DType::f16));
        TileChoice low = t;
        low.precision = ProductPrecision::bf16;
        all.push_back(product_case({{}, 40, 36, 100, ta, tb}, low, DType::f32, kHalf));
        low = t;
        low.precision = ProductPrecision::tf32;
        if (t.tile[0] == 64) low.stages = 2;
        if (t.tile[0] < 128 || t.stages > 2)
          all.push_back(product_case({{}, 70, 36, 100, ta, tb}, low, DType::f32, kTf32));
      }
}

// Every sample of the three convolutions, and one of whole tiles.
void add_convolutions(std::vector<ContractCase>& all) {
  for (const char* name : {"conv2d", "conv2d_data_grad", "conv2d_filter_grad"}) {
    const OpDef& op = op_def(name);
    std::vector<Sample> samples = op.samples;
    const Dims image = {2, 9, 9, 32}, filter = {64, 3, 3, 32}, result = {2, 7, 7, 64};
    samples.push_back({.shapes = {image, filter}});
    if (op.name == "conv2d_data_grad") samples.back() = {.shapes = {result, filter}, .attrs = {{"input", image}}};
    if (op.name == "conv2d_filter_grad") samples.back() = {.shapes = {image, result}, .attrs = {{"filter", filter}}};
    for (size_t i = 0; i < samples.size(); ++i)
      for (const TileChoice& t : {fma_tiles()[0], in_parts(fma_tiles()[0], 2), fma_tiles()[1], fma_tiles()[5]}) {
        const Sample s = samples[i];
        if (t.split_k > 1 && i + 1 < samples.size()) continue;  // the others take one step
        const auto build = [s, name](Builder& b) {
          const ValueId x = input(b, DType::f32, s.shapes[0]);
          return std::vector<ValueId>{b(name, {x, input(b, DType::f32, s.shapes[1])}, s.attrs)};
        };
        all.push_back({fmt::format("{}_{}", name, i), build, t});
      }
  }
}

// relu(2 x) w + bias, a residual added, relu: and what comes before it, too.
std::vector<ValueId> surrounded(Builder& b, bool transposed) {
  const ValueId x = input(b, DType::f32, {40, 36}), w = input(b, DType::f32, {36, 52});
  const ValueId left = b("relu", {b("add", {x, x})});
  const ValueId y = transposed ? b("matmul", {b("neg", {w}), left}, {{"transpose_a", true}, {"transpose_b", true}})
                               : b("matmul", {left, b("neg", {w})});
  const Dims dims = transposed ? Dims{52, 40} : Dims{40, 52};
  const ValueId bias = b("broadcast", {input(b, DType::f32, {dims[1]})}, {{"dims", Dims{1}}, {"shape", dims}});
  const ValueId sum = b("add", {b("add", {y, bias}), input(b, DType::f32, dims)});
  return {b("relu", {sum}), sum};
}
// What is padded and turned on its way, and cast behind it.
std::vector<ValueId> moved(Builder& b) {
  const ValueId x = b("transpose", {input(b, DType::f32, {30, 2, 20})}, {{"perm", Dims{1, 2, 0}}});
  const ValueId w =
      b("pad", {input(b, DType::f32, {2, 28, 20})}, {{"low", Dims{0, 1, 0}}, {"high", Dims{0, 1, 4}}, {"fill", 0.0}});
  const ValueId y = b("matmul", {x, w});
  return {b("cast", {b("exp", {y})}, {{"dtype", std::string("f16")}}), b("reshape", {y}, {{"shape", Dims{40, 24}}})};
}

void add_fused(std::vector<ContractCase>& all) {
  for (const TileChoice& t : {fma_tiles()[0], in_parts(fma_tiles()[1], 2), in_parts(fma_tiles()[0], 3)}) {
    all.push_back({"fused", [](Builder& b) { return surrounded(b, false); }, t});
    all.push_back({"fused_transposed", [](Builder& b) { return surrounded(b, true); }, t});
    if (t.split_k < 3) all.push_back({"moved", moved, t});
  }
}

// The kernel that holds the contraction, in the case's schedule.
void set_schedule(Graph& k, const TileChoice& t) {
  std::string reason = passes::choose_product_schedule(k, h200()).reason;
  if (!reason.empty()) throw std::runtime_error(k.name + ": " + reason);
  auto& schedule = std::get<schedules::Product>(k.schedule->how);
  schedule.tile = t.tile, schedule.threads = t.threads, schedule.stages = t.stages, schedule.split_k = t.split_k;
  schedule.precision = t.precision;
  for (schedule.vector_width = 4; schedule.vector_width > 1; schedule.vector_width /= 2)
    if (contract_conflict(schedule, plan_contract(k)).empty()) break;
  const KernelPlan plan = plan_kernel(k);
  if (!plan.ok()) throw std::runtime_error(k.name + ": " + plan.reason);
  k.schedule->workspace = plan.partial_bytes;
}

// All of the graph as one kernel, whatever that takes.
void outline(passes::KernelTable& kernels, Graph& g, const TileChoice& t) {
  const std::vector<NodeId> nodes = g.order;
  const std::vector<ValueId> results = g.outputs;
  passes::Extract e = passes::extract(g, nodes, results);
  set_schedule(e.kernel, t);
  passes::replace_by_call(g, {nodes}, e.operands, results, kernels.add(std::move(e.kernel)));
  passes::sort_topologically(g);
}

}  // namespace

std::string to_string(const TileChoice& t) {
  return fmt::format("tile{}x{}x{}_{}threads_{}parts{}", t.tile[0], t.tile[1], t.tile[2], t.threads, t.split_k,
                     t.precision == ProductPrecision::f32 ? "" : "_" + ir::to_string(t.precision));
}

std::vector<std::vector<ContractCase>> contract_groups() {
  std::vector<ContractCase> all;
  add_products(all);
  add_lower_precisions(all);
  add_convolutions(all);
  add_fused(all);
  std::map<std::string, std::vector<ContractCase>> by_choice;
  for (const ContractCase& c : all) by_choice[to_string(c.choice)].push_back(c);
  std::vector<std::vector<ContractCase>> groups;
  for (auto& [choice, cases] : by_choice) groups.push_back(std::move(cases));
  return groups;
}

Module module_of(const std::vector<ContractCase>& group) {
  Module m;
  for (const ContractCase& c : group) {
    Graph& g = m.graphs.emplace_back();
    g.name = fmt::format("f{}", m.graphs.size() - 1);
    Builder b(g);
    g.outputs = c.build(b);
  }
  return m;
}

Module planned(const std::vector<ContractCase>& group) {
  Module m = module_of(group);
  const passes::Options options{.target = h200(), .libraries = {}, .remark = {}};
  passes::KernelTable kernels(m);
  for (Graph& g : m.graphs) outline(kernels, g, group[0].choice);
  bool behind = false;
  for (const passes::Pass& pass : passes::all_passes()) {
    if (behind) passes::run_pass(pass, m, options);
    behind = behind || pass.name == std::string("fuse");
  }
  return m;
}

}  // namespace heddle::testing
