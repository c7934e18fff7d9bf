// count_products: counts what a tiled product executes (codegen/device/9_contract.cuh).
#include <algorithm>
#include <cmath>
#include <utility>

#include "ir/ceil_div.h"
#include "ir/kernel/contract_cost.h"
#include "ir/kernel/count/count_body.h"
#include "ir/kernel/count/count_parts.h"
#include "ir/kernel/count/product_layout.h"
#include "ir/kernel/long_sums.h"

namespace heddle::ir {
namespace {

constexpr size_t kCoordinates = kDepth + 1;

class ProductsCount {
 public:
  ProductsCount(const Graph& k, const ContractPlan& plan, KernelCounts& to)
      : k_(k),
        schedule_(std::get<schedules::Product>(k.schedule->how)),
        plan_(plan),
        layout_(schedule_, plan_),
        to_(to),
        body_(k, kCoordinates, to) {
    warps_ = static_cast<double>(schedule_.threads) / kLanes;
    items_ = static_cast<double>(plan_.tiles * schedule_.split_k);
    fills_ = static_cast<double>(plan_.tiles * ceil_div(plan_.space[kDepth], schedule_.tile[2]));
  }

  void run(const loop::Nest& products) {
    const double launch = static_cast<double>(to_.blocks) * warps_, items = items_ * warps_;
    count_entry(static_cast<int64_t>(k_.inputs.size() + k_.outputs.size()) + (schedule_.split_k > 1 ? 2 : 0), launch,
                launch, to_);
    constexpr double kThread = 35, kSlot = 5, kItem = 20;
    to_.instructions.indices +=
        launch * (kThread + kSlot * static_cast<double>(slots(plan_.left) + slots(plan_.right)));
    to_.instructions.indices += items * kItem;
    to_.instructions.values += items * sums();
    const double turns = (fills_ + items_ * static_cast<double>(schedule_.stages - 1)) * warps_;
    constexpr double kTurn = 9, kTurnInLine = 4;
    to_.instructions.indices += (in_line() ? kTurnInLine : kTurn) * turns;
    write(products.body);
    const double of_block = std::ceil(items_ / static_cast<double>(to_.blocks));
    to_.dependent_loads +=
        of_block *
            (static_cast<double>(plan_.steps) / static_cast<double>(std::max<int64_t>(schedule_.stages - 1, 1)) + 1) +
        to_.dependent_after_last;
  }

 private:
  void write(const loop::Statements& all) {
    for (const loop::Statement& s : all) {
      if (const auto* nest = std::get_if<loop::Nest>(&s.what)) write(*nest);
      if (const auto* f = std::get_if<loop::Fill>(&s.what)) fill(f->left ? plan_.left : plan_.right);
      if (std::holds_alternative<loop::Multiply>(s.what)) multiply(), end_runs();
      if (const auto* store = std::get_if<loop::Store>(&s.what)) body_.store(store->value, store->at);
    }
  }
  void write(const loop::Nest& nest) {
    if (nest.axis == loop::Axis::last_part) meet();
    if (nest.axis == loop::Axis::sums) enter_results();
    write(nest.body);
  }

  double sums() const {
    const ProductLayout::Sums mine = layout_.used();
    return static_cast<double>(mine.rows * mine.columns);
  }
  bool in_line() const { return plan_.steps == 1; }  // what is filled first is all that there is
  bool is_left(const ProductSide& s) const { return &s == &plan_.left; }
  // Whether the last tile along the axis reaches beyond the product.
  bool cut_off(int axis, int64_t length) const { return plan_.space[static_cast<size_t>(axis)] % length != 0; }
  int64_t slots(const ProductSide& s) const {
    const int64_t length = schedule_.tile[is_left(s) ? 0 : 1];
    return ceil_div(length * schedule_.tile[2], std::max<int64_t>(s.packet, 1) * schedule_.threads);
  }

  // --- the sides ---

  void fill(const ProductSide& s) {
    const int64_t packet = std::max<int64_t>(s.packet, 1), length = schedule_.tile[is_left(s) ? 0 : 1];
    // Packets of a tile by whole warps: some of the last slot may have nothing to do.
    const double requests = fills_ * static_cast<double>(ceil_div(length * schedule_.tile[2] / packet, kLanes));
    std::vector<WarpPoint> points = layout_.fill_points(s);
    const double sectors = s.packet > 0 ? copied_sectors(s, points) : 0;
    const WarpTimes times = fill_times(s, s.packet > 0 ? requests : requests * reached(points));
    body_.forget();
    body_.enter(times, std::move(points), kOnRow | kOnColumn);
    conditions(s, requests, length);
    if (s.packet > 0)
      copy(s, requests, sectors);
    else
      compute(s, requests);
    const Wavefronts w = layout_.fill_wavefronts(s);
    to_.shared_wavefronts += requests * w.all;
    to_.ideal_wavefronts += requests * w.ideal;
  }

  // What is computed behind a condition is computed, and loaded, in each turn that some lane of the warp takes.
  WarpTimes fill_times(const ProductSide& s, double requests) const {
    const bool each_turn = s.packet == 0 && (cut_off(is_left(s) ? kRow : kColumn, schedule_.tile[is_left(s) ? 0 : 1]) ||
                                             cut_off(kDepth, schedule_.tile[2]));
    const double of_rows = requests / static_cast<double>(each_turn ? 1 : layout_.sharing_row(s));
    return {.launch = requests,
            .rows = of_rows,
            .packets = requests,
            .columns = of_rows,
            .depth = requests / static_cast<double>(layout_.sharing_k(s)),
            .packet = 1};
  }
  static double reached(const std::vector<WarpPoint>& points) {
    double some = 0, all = 0;
    for (const WarpPoint& p : points) some += p.active != 0 ? p.weight : 0, all += p.weight;
    return all > 0 ? some / all : 1;
  }

  void conditions(const ProductSide& s, double requests, int64_t length) {
    if (cut_off(is_left(s) ? kRow : kColumn, length)) to_.instructions.indices += 2 * requests;
    if (cut_off(kDepth, schedule_.tile[2]))
      to_.instructions.indices += 2 * requests / static_cast<double>(layout_.sharing_k(s));
  }

  // Where it goes and where it comes from: the row, k, the address in the tile and that in memory; the copy.
  void copy(const ProductSide& s, double requests, double sectors) {
    constexpr double kPlace = 9, kTo = 6, kKept = 4;
    to_.instructions.memory += requests;
    if (!s.memory_at.guards.empty()) to_.instructions.indices += 4 * requests;
    // Those whose addresses are kept are all unrolled, others by four.
    constexpr double kTogether = 4;
    const auto sharing = static_cast<double>(layout_.sharing_k(s));
    const double shared = requests / (s.kept ? sharing : std::min(sharing, kTogether));
    if (!s.kept) {
      body_.conditions(s.memory_at.guards, plan_.space);
      body_.address(s.memory, s.from_row);
    }
    to_.instructions.indices += (s.kept ? kKept + 2 : kPlace + kTo) * requests;
    body_.enter({.launch = shared, .rows = shared, .packets = shared, .columns = shared, .packet = 1}, {}, 0);
    if (s.kept) body_.conditions(s.memory_at.guards, plan_.space);  // what depends on the row is kept, too
    body_.address(s.memory, s.from_k, /*wide=*/false);
    to_.sectors_read += requests * sectors;
    to_.sectors_fetched += requests * sectors;
  }

  double copied_sectors(const ProductSide& s, const std::vector<WarpPoint>& points) const {
    const IndexExpr linear = linear_offset(s.memory_at, k_[s.memory].type.dims);
    return ProductLayout::fill_sectors(points, s, linear, bytes_of(s.memory));
  }

  void compute(const ProductSide& s, double requests) {
    constexpr double kRowAndTo = 8, kDepth = 5;
    to_.instructions.indices += kRowAndTo * requests + kDepth * requests / static_cast<double>(layout_.sharing_k(s));
    to_.instructions.memory += requests;
    body_.value(s.value, s.at);
    if (s.at.guards.empty()) return;
    body_.conditions(s.at.guards, plan_.space);
    to_.instructions.values += requests;
  }

  int64_t bytes_of(ValueId v) const { return std::max<int64_t>(1, bits(k_[v].type.dtype) / 8); }

  // --- what is multiplied ---

  void multiply() {
    const double kStep = in_line() ? 0 : 14;
    const double steps = fills_ * warps_;
    const ProductLayout::Step step = layout_.step();
    to_.instructions.indices += kStep * steps;
    to_.instructions.values += step.products * steps;
    to_.instructions.memory += step.loads * steps;
    to_.shared_wavefronts += step.wavefronts.all * fills_;
    to_.ideal_wavefronts += step.wavefronts.ideal * fills_;
  }

  // At the end of a run, the sums are added to the second sums and cleared. At the end of all, they become the second
  // sums.
  void end_runs() {
    const ProductRuns runs = product_runs(schedule_, plan_);
    if (runs.steps == 0) return;
    const double each = runs.wide ? 3 : 2, steps = fills_ * warps_;
    const double turns = steps / static_cast<double>(runs.steps) + items_ * warps_;
    to_.instructions.values += (each * turns + (runs.wide ? 1 : 0) * items_ * warps_) * sums();
    to_.instructions.indices += (runs.steps > 1 ? 3 : 0) * steps;
  }

  // --- the parts ---

  // Each part writes its sums and increments a counter. The last block of a group adds the group, the last of all adds
  // the groups.
  void meet() {
    const auto tiles = static_cast<double>(plan_.tiles), parts = static_cast<double>(schedule_.split_k);
    const auto groups = static_cast<double>(ceil_div(schedule_.split_k, plan_.gather));
    to_.dependent_after_last += static_cast<double>(meeting_waits(schedule_, plan_));
    leave(tiles * parts);
    add(tiles * groups, parts / groups);
    if (groups > 1) {
      leave(tiles * groups);
      add(tiles, groups);
    }
  }

  void leave(double items) {
    constexpr double kAddress = 14, kCount = 14, kOfBlock = 9, kSectors = 4;
    const double requests = items * warps_ * sums();
    to_.instructions.memory += requests + items * (warps_ + 3);
    to_.instructions.indices += items * (warps_ * (kAddress + kCount) + kOfBlock);
    to_.sectors_written += requests * kSectors;
    to_.sectors_read += items;
    to_.sectors_fetched += items;
    to_.shared_wavefronts += items * (warps_ + 1), to_.ideal_wavefronts += items * (warps_ + 1);
  }

  void add(double items, double count) {
    constexpr double kSectors = 4;
    const double requests = items * warps_ * sums() * count;
    to_.instructions.memory += requests;
    to_.instructions.values += 2 * requests;
    to_.instructions.indices += items * warps_ * (count * 8 + 10);
    to_.sectors_read += requests * kSectors;
    to_.sectors_fetched += requests * kSectors;
  }

  // --- the results ---

  void enter_results() {
    const double warps = static_cast<double>(plan_.tiles) * warps_;
    const ProductLayout::Sums mine = layout_.sums();
    const double packets = static_cast<double>(mine.columns) / static_cast<double>(schedule_.vector_width);
    const double rows = static_cast<double>(mine.rows) * layout_.inside(kRow);
    const WarpTimes times{.launch = warps,
                          .rows = warps * rows,
                          .packets = warps * rows * packets * layout_.inside(kColumn),
                          .columns = warps * std::min(rows, 1.0) * packets * layout_.inside(kColumn),
                          .packet = schedule_.vector_width};
    body_.forget();
    body_.enter(times, layout_.result_points(), kOnRow | kOnColumn);
    const ProductLayout::Sums used = layout_.used();
    const double all =
        warps * static_cast<double>(used.rows * used.columns) / static_cast<double>(schedule_.vector_width);
    for (const int axis : {kRow, kColumn})
      if (cut_off(axis, schedule_.tile[axis == kRow ? 0U : 1U])) to_.instructions.indices += 2 * all;
    to_.instructions.indices += times.rows;
    for (const ValueId v : k_[plan_.contraction].results) body_.define(v, kOnRow | kOnColumn);
  }

  const Graph& k_;
  const schedules::Product& schedule_;
  const ContractPlan& plan_;
  const ProductLayout layout_;
  KernelCounts& to_;
  CountBody body_;
  double warps_ = 1, items_ = 1, fills_ = 1;  // of a block; tiles times parts; steps of all of them
};

}  // namespace

void count_products(const Graph& k, const ContractPlan& plan, const loop::Nest& products, KernelCounts& to) {
  ProductsCount(k, plan, to).run(products);
}

}  // namespace heddle::ir
