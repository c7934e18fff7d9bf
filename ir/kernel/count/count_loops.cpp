// count_loops: counts the nests and statements of a kernel.
#include <algorithm>
#include <cmath>

#include "ir/ceil_div.h"
#include "ir/check.h"
#include "ir/kernel/count/count_collectives.h"
#include "ir/kernel/count/count_parts.h"
#include "ir/kernel/count/scalar_instructions.h"
#include "ir/kernel/count/warp_points.h"
#include "ir/kernel/long_sums.h"
#include "ir/visit.h"

namespace heddle::ir {
namespace {

using namespace loop;  // NOLINT: this file speaks of little else

constexpr double kLoop = 4;

class LoopCount {
 public:
  LoopCount(const Graph& k, const KernelPlan& plan, const Statements& loops, KernelCounts& to)
      : k_(k),
        plan_(plan),
        work_(thread_work(*k.schedule)),
        to_(to),
        body_(k, std::max<size_t>(main_nest(loops).extents.size(), 2), to) {
    warps_ = static_cast<double>(to.blocks * to.threads) / kLanes;
    turns_ = turns_of(main_nest(loops));
    const auto pointers = static_cast<int64_t>(k.inputs.size() + k.outputs.size()) + (plan.partials.empty() ? 0 : 2);
    count_entry(pointers, warps_, turns_.times.launch, to);
    body_.enter(turns_.times, turns_.points, kOnRow | kOnColumn);
  }

  void run(const Statements& loops) {
    write(body_, loops);
    to_.dependent_inside = body_.turns() + single_turns_;
    to_.dependent_loads = loads_of_thread_ + to_.dependent_inside + to_.dependent_after_last;
  }

 private:
  // The nest that holds the kernel's points.
  static const Nest& main_nest(const Statements& loops) {
    const auto found = std::find_if(loops.begin(), loops.end(),
                                    [](const Statement& s) { return std::holds_alternative<Nest>(s.what); });
    HEDDLE_CHECK(found != loops.end(), "a kernel without a loop is not counted by its loops");
    return std::get<Nest>(found->what);
  }

  Turns turns_of(const Nest& nest) const {
    if (nest.axis == Axis::rows) return row_turns(rows_schedule(), plan_.space(), to_.blocks);
    if (nest.axis == Axis::tiles)
      return {.times = {.launch = static_cast<double>(to_.blocks) * warps_of_block()}, .points = {}};
    if (nest.axis == Axis::span) return point_turns(to_.threads, work_.vector_width, plan_.space(), to_.blocks);
    Turns turns = point_turns(to_.threads, work_.vector_width, nest.extents, to_.blocks);
    turns.times.rest = nest.extents[kColumn] % work_.vector_width;
    turns.times.whole = nest.extents[kColumn] - turns.times.rest;
    turns.times.idle = warps_ - turns.times.launch;
    return turns;
  }
  const schedules::Rows& rows_schedule() const { return std::get<schedules::Rows>(k_.schedule->how); }
  double warps_of_block() const { return static_cast<double>(ceil_div(to_.threads, kLanes)); }

  void write(CountBody& body, const Statements& all) {
    for (const Statement& s : all) std::visit([&](const auto& what) { write(body, what); }, s.what);
  }

  // --- nests ---

  void write(CountBody&, const Nest& nest) {
    switch (nest.axis) {
      case Axis::points: return points(nest);
      case Axis::rows:
      case Axis::span: return rows(nest);
      case Axis::columns: return columns(nest);
      case Axis::tiles: return tiles(nest);
      case Axis::down: return points_of_tile(nest, /*down=*/true);
      case Axis::along: return points_of_tile(nest, /*down=*/false);
      case Axis::one_of_team: return one_of_team(nest);
      case Axis::one_of_all: return one_of_all(nest);
      case Axis::last_block: return last_block(nest);
      case Axis::one_of_block: return at(one_thread(), 0, nest);
      case Axis::last_columns: return at(column_turns(plan_.columns), kOnRow | kOnColumn, nest);
      case Axis::products:
      case Axis::steps:
      case Axis::last_part:
      case Axis::sums: HEDDLE_CHECK(false, "a part of a product stands alone");
    }
  }

  void points(const Nest& nest) {
    const int64_t rows = nest.extents[kRow], columns = nest.extents[kColumn];
    if (nest.first > 0) {
      turns_ = turns_of(nest);
      body_.enter(turns_.times, turns_.points, kOnRow | kOnColumn);
    }
    body_.draw_at_once(plan_.draws && work_.vector_width == kDrawnAtOnce);
    // A kernel with a single point that writes in place reads its operand inside the loop. The compiler makes two loops
    // of it, and computes before them what both need.
    const bool in_place =
        std::any_of(k_.outputs.begin(), k_.outputs.end(), [&](ValueId v) { return k_[v].place.base.valid(); });
    body_.compute_before(rows * columns == 1 && in_place);
    // Instructions for the loop, for row and column of a point, and for branches around the elements of an incomplete
    // packet.
    constexpr double kRowAndColumn = 4, kRestIn = 8, kRestOut = 1;
    const bool several = rows > 1 && columns > work_.vector_width;  // packets of a row
    double each = (rows * columns > work_.vector_width ? kLoop : 0) + (several ? kRowAndColumn : 1);
    if (columns % work_.vector_width != 0)
      each += kRestIn * static_cast<double>(k_.inputs.size()) + kRestOut * static_cast<double>(k_.outputs.size()) +
              static_cast<double>(work_.vector_width);
    to_.instructions.indices += each * turns_.times.packets;
    write(body_, nest.body);
    loads_of_thread_ += std::ceil(turns_.times.packets / warps_);
  }

  void rows(const Nest& nest) {
    // Instructions that find the team's row and the thread's columns. A team of one thread has all columns.
    const double team = work_.team == 1 ? 1 : 16, rows = turns_.times.rows;
    to_.instructions.indices += team * warps_ + kLoop * rows;
    loads_of_thread_ =
        std::ceil(std::ceil(rows / std::max(turns_.times.launch, 1.0)) / static_cast<double>(work_.prefetch_distance));
    if (work_.prefetch_distance > 1) batches();
    if (nest.axis == Axis::span)
      columns(nest);
    else
      write(body_, nest.body), end_runs_of_rows(nest.runs);
    // Warps without rows have not computed these values.
    if (turns_.times.launch < warps_) body_.forget();
    to_.instructions.indices += 3 * turns_.times.launch;
  }

  // Batches: one loop loads the rows and another computes them. Each has conditions and most indices of its own. After
  // the last row, the first loop still loads.
  void batches() {
    constexpr double kOfRow = 12, kGuards = 8, kLoaded = 25;
    const double behind =
        loads_of_thread_ * static_cast<double>(work_.prefetch_distance) * turns_.times.launch - turns_.times.rows;
    to_.instructions.indices += (kOfRow + (plan_.guarded ? kGuards : 0)) * turns_.times.rows + kLoaded * behind;
    load_last_row(behind);
  }
  // Teams beyond the last row load the last row; the teams of a warp load it together.
  void load_last_row(double turns) {
    constexpr double kSector = 32;
    const int64_t warps_of_row = std::max<int64_t>(1, work_.team / kLanes);
    for (const ValueId v : k_.inputs) {
      if (k_[v].type.elements() != product(plan_.space())) continue;
      const double row = static_cast<double>(k_[v].type.bytes()) / static_cast<double>(plan_.rows);
      const double sectors = turns * std::ceil(row / static_cast<double>(warps_of_row) / kSector);
      to_.sectors_read += sectors, to_.sectors_fetched += sectors;
    }
  }

  int64_t slots() const { return ceil_div(plan_.columns, work_.team * work_.vector_width); }

  void columns(const Nest& nest) {
    // Passes without a loop share what they load and compute: passes with one slot, or with slots that are unrolled
    // because elements are kept.
    const bool whole = plan_.columns % (work_.team * work_.vector_width) == 0;
    if (nest.pass > 0 && (!whole || (slots() > 1 && plan_.kept.empty()))) body_.next_pass(plan_.kept);
    write(body_, nest.body);
    body_.end_pass();
    to_.instructions.indices += (slots() > 1 ? kLoop : 2) * turns_.times.packets;
    if (nest.runs.turns == 0) return;
    const double runs = std::ceil(turns_.times.packets / static_cast<double>(nest.runs.turns));
    for (const NodeId sum : nest.runs.sums) to_.instructions.values += runs * flush(sum);
    to_.instructions.indices += runs * kLoop;
  }

  double flush(NodeId sum) const { return flush_instructions(k_[k_[sum].operands[0]].type.dtype); }
  // A thread has several sums of a column reduction.
  void end_runs_of_rows(const EndOfRuns& ends) {
    if (ends.turns == 0) return;
    double work = 0;
    for (const NodeId sum : ends.sums)
      work += flush(sum) * (is_column(k_, plan_, sum) ? static_cast<double>(slots() * work_.vector_width) : 1);
    const double turns = turns_.times.rows / static_cast<double>(work_.prefetch_distance), launch = turns_.times.launch;
    const double runs = std::ceil(turns / launch / static_cast<double>(ends.turns)) * launch;
    to_.instructions.indices += kLoop * runs;
    to_.instructions.values += work * runs;
  }

  // One thread of each team stores. If a whole block is the team, one warp of the block does.
  void one_of_team(const Nest& nest) {
    Turns one = turns_;
    one.times.rows /= static_cast<double>(std::max<int64_t>(1, work_.team / kLanes));
    for (const Statement& s : nest.body) {
      const bool add = std::holds_alternative<Accumulate>(s.what);
      if (add) to_.instructions.indices += 2 * turns_.times.rows;
      at(add ? turns_ : one, kOnRow, {s});
    }
  }

  void at(const Turns& turns, Depends here, const Nest& nest) { at(turns, here, nest.body); }
  void at(const Turns& turns, Depends here, const Statements& all) {
    body_.enter(turns.times, turns.points, here);
    write(body_, all);
  }

  // Later code does not have the values that this one thread computes.
  void one_of_all(const Nest& nest) {
    const Turns one = one_thread();
    CountBody single = body_;
    single.enter(one.times, one.points, 0);
    write(single, nest.body);
    single_turns_ = single.turns() - body_.turns();
  }

  // --- sums ---

  AccumulatorWork work_of(const Partials& p) const {
    AccumulatorWork work = accumulator_work(k_, k_[p.reduction]);
    work.offset = p.offset;
    return work;
  }

  void write(CountBody& body, const Single& s) { body.make_single(s, warps_); }
  void write(CountBody& body, const Accumulate& s) { body.accumulate(k_[s.reduction], s.element, body.here()); }
  void write(CountBody& body, const Store& s) {
    for (const ValueId v : k_.outputs)
      if (v == s.value) body.store(v, s.at);
  }

  void write(CountBody& body, const Combine& s) {
    count_combine(accumulator_work(k_, k_[s.reduction]), rows_schedule(), turns_.times.rows, to_);
    finish(body, s.reduction, body.executions(kOnRow), kOnRow);
  }
  void finish(CountBody& body, NodeId sum, double times, Depends on) {
    body.finish(k_[sum], times);
    for (const ValueId r : k_[sum].results) body.define(r, on);
  }

  void write(CountBody&, const Put& s) {
    const Partials& p = plan_.partials[s.partials];
    if (is_column(k_, plan_, p.reduction))
      count_put_columns(work_of(p), rows_schedule(), plan_.columns, to_);
    else
      count_put_total(work_of(p), rows_schedule(), to_);
  }

  void last_block(const Nest& nest) {
    meeting_ = nest.extents;
    count_arrival(meeting_[0], meeting_[2], to_);
    write(body_, nest.body);
  }
  void write(CountBody&, const AddBlocks& s) {
    const Partials& p = plan_.partials[s.partials];
    count_add_blocks(work_of(p), meeting_[1], meeting_[2], p.width, to_);
  }
  void write(CountBody& body, const Take& s) {
    const Partials& p = plan_.partials[s.partials];
    if (is_column(k_, plan_, p.reduction))
      count_get_column(work_of(p), p.width, to_);
    else
      count_get_total(work_of(p), to_);
    finish(body, p.reduction, turns_.times.launch, is_column(k_, plan_, p.reduction) ? kOnRow | kOnColumn : 0);
  }

  // --- tiles ---

  void tiles(const Nest& nest) {
    constexpr double kTile = 25;
    tile_ = nest.extents;
    const int64_t tiles = tile_[kMatrix] * ceil_div(tile_[kRow], kTileSide) * ceil_div(tile_[kColumn], kTileSide);
    to_.instructions.indices += static_cast<double>(tiles) * kTile * warps_of_block();
    write(body_, nest.body);
    loads_of_thread_ = 1;
  }

  // Each line of a tile with a point inside is a turn of a warp.
  void points_of_tile(const Nest& nest, bool down) {
    constexpr double kLine = 16, kUneven = 3;  // of a dimension that tiles do not divide
    const double uneven = (tile_[kRow] % kTileSide != 0 ? 1 : 0) + (tile_[kColumn] % kTileSide != 0 ? 1 : 0);
    const size_t along = down ? kRow : kColumn, across = down ? kColumn : kRow;
    const auto lines = static_cast<double>(tile_[kMatrix] * ceil_div(tile_[along], kTileSide) * tile_[across]);
    to_.instructions.indices += (kLine + kUneven * uneven) * lines;
    body_.forget();
    const WarpTimes times{
        .launch = turns_.times.launch, .rows = lines, .packets = lines, .columns = lines, .packet = 1};
    at({times, tile_points(tile_, down)}, kOnRow | kOnColumn, nest);
  }

  void through_shared() {
    const double each = body_.executions(kOnRow | kOnColumn);
    to_.instructions.memory += each;
    to_.shared_wavefronts += each, to_.ideal_wavefronts += each;
  }
  void write(CountBody& body, const Stage& s) { through_shared(), body.value(s.staged.value, s.staged.at); }
  void write(CountBody& body, const Unstage& s) {
    through_shared(), body.take(s.staged.value, s.staged.at, kOnRow | kOnColumn);
  }

  // What the compiler makes of these is counted with the loops around them.
  void write(CountBody&, const OneOf<Clear, Keep, Ahead, TurnTiles> auto&) {}
  void write(CountBody&, const OneOf<Fill, Multiply, CallPrimitive> auto&) {
    HEDDLE_CHECK(false, "products and primitives are counted apart");
  }

  const Graph& k_;
  const KernelPlan& plan_;
  const ThreadWork work_;
  KernelCounts& to_;
  CountBody body_;
  Turns turns_;  // of the main nest
  double warps_ = 1, loads_of_thread_ = 0;
  double single_turns_ = 0;  // of the thread that stores single values, of loops inside a point
  Dims meeting_, tile_;      // extents of the nests around
};

}  // namespace

void count_entry(int64_t pointers, double warps, double busy, KernelCounts& to) {
  constexpr double kThread = 7, kBusy = 2;
  const auto each = static_cast<double>(pointers);
  to.instructions.indices += warps * (kThread + each) + busy * (kBusy + each);
}

void count_loops(const Graph& k, const KernelPlan& plan, const Statements& loops, KernelCounts& to) {
  LoopCount(k, plan, loops, to).run(loops);
}

}  // namespace heddle::ir
