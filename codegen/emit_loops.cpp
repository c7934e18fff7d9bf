#include <fmt/format.h>

#include "codegen/emit_parts.h"
#include "codegen/scalar_functions.h"
#include "ir/check.h"
#include "ir/kernel/columns_meet.h"
#include "ir/kernel/long_sums.h"
#include "ir/visit.h"

namespace heddle::codegen {

using namespace ir;        // NOLINT: this file speaks of little else
using namespace ir::loop;  // NOLINT

namespace {

class LoopText {
 public:
  explicit LoopText(KernelText& text) : text_(text), k_(text.kernel) {}

  void write(Body& body, const Statements& all) {
    for (const Statement& s : all) std::visit([&](const auto& what) { write(body, what); }, s.what);
  }

 private:
  // --- nests ---

  void write(Body& body, const Nest& nest) {
    switch (nest.axis) {
      case Axis::points: return points(body, nest);
      case Axis::rows: return rows(body, nest);
      case Axis::span:
      case Axis::columns: return columns(body, nest);
      case Axis::tiles: return tiles(body, nest);
      case Axis::down: return points_of_tile(body, nest, "HD_DOWN");
      case Axis::along: return points_of_tile(body, nest, "HD_ALONG");
      case Axis::one_of_team: return one_of_team(body, nest);
      case Axis::one_of_block: return apart(body, nest, "HD_ONE_OF_BLOCK");
      case Axis::one_of_all: return apart(body, nest, "HD_ONE_OF_ALL");
      case Axis::last_block: return last_block(body, nest);
      case Axis::last_columns: return last_columns(body, nest);
      case Axis::products: return emit_products(text_, body, nest);
      case Axis::steps:
      case Axis::last_part:
      case Axis::sums: break;
    }
    HEDDLE_CHECK(false, "a part of a product stands alone");
  }

  // The values that are computed before the loop, and the loop. Parts of the columns after the first have a Body of
  // their own.
  void points(Body& body, const Nest& nest) {
    if (nest.first > 0) {
      Body other(text_);
      other.share(body);
      points_of(other, nest);
      return body.lines(other.close());
    }
    points_of(body, nest);
  }

  void points_of(Body& body, const Nest& nest) {
    body.open(/*covers=*/1);
    body.open_columns(/*behind_row=*/nest.extents[kRow] > 1 && nest.extents[kColumn] == text_.plan.columns);
    write(body, nest.body);
    const std::vector<std::string> columns = body.close_columns();
    if (body.take_reduced_columns()) {
      body.lines(block(head_of_columns("HD_COLUMNS"), columns));
      const std::vector<std::string> row = body.close();
      return body.lines(
          block(fmt::format("HD_ROWS({}, row, {}, {})", text_.index_type, nest.extents[kRow], text_.team), row));
    }
    body.lines(columns);
    const std::vector<std::string> inside = body.close();
    if (text_.slice)
      return body.lines(block(fmt::format("HD_POINTS_OF_SLICE({}, row, column, {}, {}, {})", text_.index_type,
                                          nest.extents[kRow], text_.slice->count, text_.vector_width),
                              inside));
    body.lines(block(fmt::format("{}({}, row, column, {}, {}, {})", text_.groups ? "HD_GROUPS" : "HD_POINTS",
                                 text_.index_type, nest.extents[kRow], nest.extents[kColumn], text_.vector_width),
                     inside));
  }

  void rows(Body& body, const Nest& nest) {
    body.open(/*covers=*/1);
    write(body, nest.body);
    const std::vector<std::string> row = body.close();
    if (row.empty()) return;
    const std::string each = fmt::format("{}, {}", text_.plan.rows, text_.team), index = text_.index_type;
    const std::string of_long = end_of_runs(nest), in_runs = of_long.empty() ? "HD_" : "HD_LONG_";
    if (text_.prefetch_distance == 1)
      return body.lines(block(fmt::format("{}ROWS({}, row, {}{})", in_runs, index, each, of_long), row));
    const std::string of_batch = fmt::format("BATCH({}, row, {}, {})", index, each, text_.prefetch_distance);
    Body::Ahead ahead = body.take_ahead();
    std::vector<std::string> all = std::move(ahead.arrays);
    for (const auto& lines : {block("HD_LOAD_" + of_batch, block(head_of_columns("HD_COLUMNS"), ahead.loads)),
                              block("HD_OF_" + of_batch, row)})
      all.insert(all.end(), lines.begin(), lines.end());
    body.lines(
        block(fmt::format("{}BATCHES({}, {}, {}{})", in_runs, index, each, text_.prefetch_distance, of_long), all));
  }

  void columns(Body& body, const Nest& nest) {
    if (nest.body.empty()) return;
    body.set_phase(nest.pass);
    body.open_columns(/*behind_row=*/nest.axis != Axis::span);
    write(body, nest.body);
    const std::vector<std::string> inside = body.close_columns();
    body.set_phase(std::nullopt);
    bool lanes = false, slots = !text_.kept.empty();
    for (const Statement& s : nest.body)
      if (const auto* add = std::get_if<Accumulate>(&s.what))
        (add->plan == ReductionPlan::column ? slots : lanes) = true;
    const std::string of_long = end_of_runs(nest);
    if (nest.axis == Axis::span)
      return body.lines(block(fmt::format("{}({}, column, {}, {}{})", of_long.empty() ? "HD_SPAN" : "HD_LONG_SPAN",
                                          text_.index_type, text_.plan.columns, text_.vector_width, of_long),
                              inside));
    if (slots) body.line("HD_IN_REGISTERS");
    const char* loop = !of_long.empty() ? "HD_LONG_REDUCE" : lanes ? "HD_REDUCE" : "HD_COLUMNS";
    body.lines(block(head_of_columns(loop, of_long), inside));
  }

  std::string head_of_columns(const char* loop, const std::string& of_long = {}) const {
    return fmt::format("{}({}, column, slot, {}, {}, {}{})", loop, text_.index_type, text_.plan.columns, text_.team,
                       text_.vector_width, of_long);
  }

  // Further macro arguments of a loop with long sums: the turns of a run, and the calls that end a run.
  std::string end_of_runs(const Nest& nest) const {
    if (nest.runs.turns == 0) return {};
    std::vector<std::string> calls;
    for (const NodeId sum : nest.runs.sums) calls.push_back(accumulators_.at(sum) + ".flush()");
    return fmt::format(", {}, ({})", nest.runs.turns, joined(calls, ", "));
  }

  void one_of_team(Body& body, const Nest& nest) {
    condition_ = fmt::format("HD_ONE_OF_TEAM({}) ", text_.team);
    write(body, nest.body);
    condition_.clear();
  }

  // Code for one thread. It has a Body of its own, because other threads do not have the values that it computes.
  void apart(Body& body, const Nest& nest, const std::string& head) {
    Body one(text_);
    one.share(body);
    write(one, nest.body);
    body.lines(block(head, one.close()));
  }

  // All blocks meet at once, or first in groups, and then the groups meet.
  void last_block(Body& body, const Nest& nest) {
    const int64_t gather = text_.plan.gather;
    meeting_ = nest.extents;
    const char* of_groups = meeting_[2] > 1 ? "last_of_group" : "last_group";
    apart(body, nest,
          gather == 0 ? "if (hd::last_block(counter))" : fmt::format("if (hd::{}<{}>(counter))", of_groups, gather));
  }

  void last_columns(Body& body, const Nest& nest) {
    body.open(/*covers=*/2);
    write(body, nest.body);
    const std::vector<std::string> columns = body.close();
    body.lines(block(fmt::format("HD_FINISH({}, column, {})", text_.index_type, text_.plan.columns), columns));
  }

  // --- sums ---

  std::string type_of_sum(NodeId id, const char* type) const {
    const Node& n = k_[id];
    return fmt::format("hd::{}{}<{}, {}", is_long_sum(k_, text_.plan, n) ? "Long" : "", type, monoid(signature(k_, n)),
                       text_.plan.columns);
  }

  void write(Body& body, const Clear& s) {
    const Value& result = k_[k_[s.reduction].results[0]];
    const std::string& name = accumulators_[s.reduction] = text_.names.fresh(result.name + "_acc");
    if (is_column(k_, text_.plan, s.reduction))
      body.line(fmt::format("{}, {}, {}> {};", type_of_sum(s.reduction, "ColumnResults"), text_.team,
                            text_.vector_width, name));
    else
      body.line(fmt::format("{}> {};", type_of_sum(s.reduction, "Accumulator"), name));
  }

  void write(Body& body, const Keep& s) {
    const Value& v = k_[text_.plan.kept[s.kept].value];
    text_.kept.push_back(text_.names.fresh(v.name + "_row"));
    body.line(fmt::format("hd::Row<{}, {}, {}, {}> {};", array_type(v.type.dtype), text_.plan.columns, text_.team,
                          text_.vector_width, text_.kept.back()));
  }

  void write(Body& body, const Single& s) { body.make_single(s); }

  void write(Body& body, const Accumulate& s) {
    const char* lane = !condition_.empty()               ? "[HD_ROW_LANE(row)]"
                       : s.plan != ReductionPlan::column ? "[HD_LANE]"
                       : text_.vector_width > 1          ? "[slot][k]"
                                                         : "[slot][0]";
    body.accumulate(s, accumulators_.at(s.reduction) + lane, condition_);
  }

  void write(Body& body, const Combine& s) {
    finish(body, s.reduction, "_row", fmt::format("hd::combine<{}>({})", text_.team, accumulators_.at(s.reduction)));
  }

  void write(Body& body, const Put& s) {
    const Partials& p = text_.plan.partials[s.partials];
    const Node& n = k_[p.reduction];
    const std::string& name = partials_[s.partials] = text_.names.fresh(k_[n.results[0]].name + "_partials");
    body.line(fmt::format("auto* {} = hd::partials_at<{}>(scratch, {});", name, monoid(signature(k_, n)), p.offset));
    const std::string put =
        is_column(k_, text_.plan, p.reduction) ? "put_columns" : fmt::format("put_total<{}>", text_.team);
    body.line(fmt::format("hd::{}({}, {});", put, name, accumulators_.at(p.reduction)));
  }

  void write(Body& body, const AddBlocks& s) {
    const Partials& p = text_.plan.partials[s.partials];
    const int64_t bytes = accumulator_bytes(signature(k_, k_[p.reduction])), gather = text_.plan.gather;
    const ColumnsMeet meet = columns_meet(generated(*k_.schedule).threads, meeting_[1], p.width, bytes);
    const char* add = gather == 0 ? "add_blocks" : meeting_[2] > 1 ? "add_group" : "add_groups";
    body.line(fmt::format("hd::{}<{}{}, {}, {}>({}, {});", add, gather > 0 ? fmt::format("{}, ", gather) : "",
                          meet.shares, meet.at_once, meet.abreast, partials_.at(s.partials), p.width));
  }

  void write(Body& body, const Take& s) {
    const Partials& p = text_.plan.partials[s.partials];
    const std::string& name = partials_.at(s.partials);
    finish(body, p.reduction, "_all",
           is_column(k_, text_.plan, p.reduction) ? fmt::format("hd::get_column({}, {}, column)", name, p.width)
                                                  : fmt::format("hd::get_total({})", name));
  }

  // Computes the results of a reduction from its accumulator, the expression `whole`. `suffix` names the variable for
  // it.
  void finish(Body& body, NodeId id, const char* suffix, const std::string& whole) {
    const Node& n = k_[id];
    const Signature s = signature(k_, n);
    ReductionDomain d;
    reduction_domain(s, d);
    const int64_t count = d.counted();
    const std::string all = text_.names.fresh(k_[n.results[0]].name + suffix);
    body.line(fmt::format("const auto {} = {};", all, whole));
    for (size_t r = 0; r < n.results.size(); ++r) {
      const Value& v = k_[n.results[r]];
      const std::string name = text_.names.fresh(v.name);
      body.line(fmt::format("const {} {} = {};{}", compute_type(v.type.dtype), name,
                            finish_call(s, r, all, count, integer_literal(count)), place_comment(n.loc)));
      body.define(n.results[r], name);
    }
  }

  void write(Body& body, const Store& s) { body.store(s, condition_); }

  // --- tiles ---

  // No value is computed in the loop over tiles itself, outside of the loops over points.
  void tiles(Body& body, const Nest& nest) {
    tile_space_ = nest.extents;
    body.add_coordinates({"matrix"});
    body.open(/*covers=*/0);
    write(body, nest.body);
    const std::vector<std::string> tile = body.close();
    for (const auto& [declaration, name] : tiles_) body.line(declaration);
    body.lines(block(fmt::format("HD_TILES({}, matrix, top, left, {}, {}, {})", text_.index_type, nest.extents[kMatrix],
                                 nest.extents[kRow], nest.extents[kColumn]),
                     tile));
  }

  void points_of_tile(Body& body, const Nest& nest, const char* loop) {
    body.open(/*covers=*/kMatrix + 1);
    next_ = 0;
    write(body, nest.body);
    body.lines(body.take_stores());
    const std::vector<std::string> inside = body.close();
    body.lines(block(fmt::format("{}({}, row, column, top, left, {}, {})", loop, text_.index_type, tile_space_[kRow],
                                 tile_space_[kColumn]),
                     inside));
  }

  void write(Body& body, const Stage& s) {
    const Value& v = k_[s.staged.value];
    const std::string name = text_.names.fresh(v.name + "_tile");
    tiles_.emplace_back(fmt::format("HD_TILE({}, {}, {});", array_type(v.type.dtype), name, s.staged.first_byte), name);
    body.line(fmt::format("{}.put(row - top, column - left, {});", name, body.value(s.staged.value, s.staged.at).text));
  }

  void write(Body& body, const Unstage& s) {
    body.take(s.staged.value, s.staged.at, tiles_[next_++].second + ".get(row - top, column - left)");
  }

  // The rows of the results lie far apart, so hardware prefetchers do not foresee them. If they are prefetched while
  // the tile is transposed, they are there in time. Arrays larger than the second-level cache then take 0.4 to 0.9 of
  // the time.
  void write(Body& body, const Ahead& s) {
    const IndexExpr linear = linear_offset(s.at, k_[s.value].type.dims);
    const Dims& space = s.at.extents;
    const std::vector<std::string> names = {"row", "left", "matrix"};
    for (const std::string& pointer : text_.outputs.at(s.value))
      body.line(fmt::format("HD_AHEAD({}, row, top, {}) hd::ahead({} + ({}), {} - left);", text_.index_type,
                            space[kRow], pointer, index_text(linear, space, names), space[kColumn]));
  }

  void write(Body& body, const TurnTiles&) {
    const std::string turn = fmt::format(".turn({} - top, {} - left);", tile_space_[kRow], tile_space_[kColumn]);
    for (const auto& [declaration, name] : tiles_) body.line(name + turn);
    body.line("hd::barrier();");
  }

  // --- others ---

  void write(Body& body, const CallPrimitive& s) { body.lines(emit_primitive(text_, k_[s.node])); }
  static void write(Body&, const OneOf<Fill, Multiply> auto&) {
    HEDDLE_CHECK(false, "a part of a product stands alone");
  }

  KernelText& text_;
  const Graph& k_;
  std::map<NodeId, std::string> accumulators_;
  std::map<size_t, std::string> partials_;
  Dims meeting_;           // extents of the surrounding last_block
  std::string condition_;  // inside one_of_team: the condition for the thread
  Dims tile_space_;
  std::vector<std::pair<std::string, std::string>> tiles_;  // declaration and name, in the order of their staging
  size_t next_ = 0;                                         // the tile that the next Unstage reads
};

}  // namespace

std::vector<std::string> emit_loops(KernelText& text, const Statements& loops) {
  Body body(text);
  LoopText(text).write(body, loops);
  return body.close();
}

}  // namespace heddle::codegen
