#include "frontend/training/accumulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "frontend/instantiate/model_outputs.h"
#include "frontend/instantiate/take_rows.h"
#include "frontend/keys/fields.h"
#include "frontend/name_pattern.h"
#include "frontend/training/loss_scale.h"
#include "frontend/training/parameter_patterns.h"
#include "frontend/training/row_draws.h"
#include "frontend/training/sparse_update.h"
#include "ir/check.h"
#include "ir/dependencies.h"
#include "ir/scan.h"

namespace heddle::frontend {

using ir::NodeId;
using ir::ValueId;

namespace {

// A running sum of up to this many numbers is as accurate as the rule for sums requires (docs/design.md, Sums): n - 1
// <= 4 log2(n).
constexpr int64_t kMostInOneSum = 16;

const std::string kLoss(ir::output_name(ir::OutputRole::loss));
const std::string kCount(ir::output_name(ir::OutputRole::count));

std::string gradient_of(const std::string& path) { return path + ".grad"; }
std::string indices_of(const std::string& path) { return path + ".looked_up"; }
std::string row_gradients_of(const std::string& path) { return path + ".looked_up.grad"; }
std::string whole_count_of(const std::string& loss) { return loss + ".count.whole"; }

bool is_unused(const ir::Graph& g, const ir::Node& n) {
  return std::ranges::all_of(n.results, [&](ValueId v) { return g.unused(v); });
}

// A body, with names for its operands and stacked results. The names are the same for all micro-batches of a step.
struct Loop {
  ir::Graph body;
  std::vector<std::string> operands;  // one per input of ir::operand_inputs
  std::vector<std::string> stacked;
};

// Removes unused nodes and operands.
void prune(Loop& loop) {
  ir::Graph& body = loop.body;
  const std::vector<NodeId> order = body.order;
  for (auto it = order.rbegin(); it != order.rend(); ++it)
    if (is_unused(body, body[*it])) body.erase(*it);
  std::vector<ValueId> gone;
  std::vector<std::string> operands;
  const std::vector<ValueId> inputs = ir::operand_inputs(body);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (body.unused(inputs[i]) && !body.updates.has_state(inputs[i]))
      gone.push_back(inputs[i]);
    else
      operands.push_back(loop.operands[i]);
  for (const ValueId v : ir::inputs_with(body, ir::Role::index))
    if (body.unused(v)) gone.push_back(v);
  body.remove_inputs(gone);
  loop.operands = std::move(operands);
}

// The loops over micro-batches of one size.
struct Piece {
  Instance e;  // its nodes have moved into the bodies
  MicroBatches of;
  Loop counts, step;
  std::vector<std::string> counted;     // losses with a count that depends on the data
  std::map<std::string, double> known;  // other losses: the count of one row
  std::vector<MeasureStates> measures;
  std::vector<Parameter> trained;   // parameters that the losses train
  std::vector<std::string> losses;  // in their order
  std::vector<IndexCheck> indices;
  std::vector<ir::Graph> measure_bodies, bodies;
  std::vector<std::string> buffers;
};

// Moves the training of an instance with few rows into bodies.
class Piecing {
 public:
  Piecing(ModelInstances& instances, const AccumulateOptions& options, const Instance& whole, MicroBatches of,
          int64_t first_row, int64_t turns, SameNetwork& same, Diagnostics& errors)
      : model_(instances.model()),
        options_(options),
        whole_(whole),
        part_(instances.at({.batch = of.rows, .training = true}, errors)),
        same_(same),
        errors_(errors),
        first_row_(first_row),
        wide_(turns > kMostInOneSum) {
    piece_.of = of;
    piece_.e = part_;
  }

  // The piece is valid only if `errors` stays empty.
  Piece run() {
    Instance& e = piece_.e;
    e.most_logit_bytes = options_.most_logit_bytes;
    same_.require(e);
    piece_.indices = index_checks(e, errors_);
    const Losses losses =
        add_losses(e, model_, errors_, Terms::of_rows,
                   [&](ir::Builder& b, const std::string& loss, ValueId count) { return share(b, loss, count); });
    if (!losses.total.valid()) return std::move(piece_);
    piece_.measures = add_totals(e, model_, losses, errors_, Terms::of_rows).measures;
    if (!errors_.empty()) return std::move(piece_);
    require_counts_known();
    sum_up(kLoss, losses.total, ir::DType::f64);
    sum_gradients(losses.total);
    note_states();
    stack_indices();
    take_bodies();
    return std::move(piece_);
  }

 private:
  ir::Graph& g() { return piece_.e.graph; }

  ValueId stand_in(const std::string& name, const ir::Type& type) {
    const ValueId v = g().add_input(name, type, ir::Role::input);
    stand_ins_.push_back(v);
    return v;
  }

  // --- the share of a micro-batch in the step: its count divided by the count of the step

  Share share(ir::Builder& b, const std::string& loss, ValueId count) {
    piece_.losses.push_back(loss);
    b.prefix = loss + ".share";
    const ir::Node* made_by = g().def(count);
    if (made_by != nullptr && made_by->op->traits.splat) {
      piece_.known[loss] = made_by->op->traits.splat(*made_by) / static_cast<double>(piece_.of.rows);
      return {b.like(static_cast<double>(piece_.of.rows) / static_cast<double>(options_.batch), count), {}};
    }
    piece_.counted.push_back(loss);
    counts_.push_back(count);
    const ValueId whole = stand_in(whole_count_of(loss), g()[count].type);
    whole_counts_[whole] = whole_count_of(loss);
    const ValueId nothing = b("eq", {whole, b.like(0, whole)}, {}, loss + ".is_nothing");
    const ValueId divisor = b("select", {nothing, b.like(1, whole), whole});
    return {b("div", {count, divisor}, {}, loss + ".share"), b("div", {count, whole}, {}, loss + ".of_nothing")};
  }

  // Counts are summed up before gradients are computed, so they may depend only on the data.
  void require_counts_known() {
    for (size_t i = 0; i < counts_.size(); ++i) {
      const std::vector<char> needed = ir::dependencies(g(), {counts_[i]});
      for (const ValueId v : g().inputs) {
        const ir::Value& in = g()[v];
        const bool own = in.role == ir::Role::input || in.name == "seed" || in.name == "step";
        if (needed[ir::index_of(v)] == 0 || own) continue;
        throw UserError(
            g().def(counts_[i])->loc,
            fmt::format("train: 'accumulate': what counts in {} depends on '{}', and is to be known before a "
                        "micro-batch is trained",
                        piece_.counted[i], in.name),
            "weigh rows by inputs, or leave \"accumulate\" out");
      }
    }
  }

  // --- sums over the micro-batches

  void sum_up(const std::string& name, ValueId term, ir::DType dtype) {
    ir::Builder b(g());
    b.loc = g().def(term) != nullptr ? g().def(term)->loc : Location{};
    b.prefix = name + ".term";
    const ir::Type type{dtype, g()[term].type.dims};
    const ValueId so_far = stand_in(name + ".so_far", type);
    carry(turn_, so_far, b("add", {so_far, b.cast(term, dtype)}, {}, name + ".sum"), name, false);
  }

  void carry(Turn& turn, ValueId input, ValueId next, const std::string& name, bool of_graph) {
    turn.carries.push_back({input, next, of_graph});
    names_[input] = name;
  }

  void sum_gradients(ValueId loss) {
    const std::vector<bool> reached = ancestors(g(), loss);
    for (const Parameter& p : piece_.e.parameters) {
      if (p.role != ir::Role::param || is_frozen(model_.train, p) || !reached[ir::index_of(p.value)]) continue;
      piece_.trained.push_back(p);
    }
    const ValueId scaled = scaled_loss(piece_.e, model_.train, loss);
    ir::Builder b(g());
    for (const Parameter& p : piece_.trained) {
      b.loc = p.where;
      if (p.sparse) {
        stack_rows(p, looked_up(b, p, lookups_of(piece_.e, p, reached), scaled));
        continue;
      }
      const ir::DType dtype = wide_ && p.type.dtype == ir::DType::f32 ? ir::DType::f64 : p.type.dtype;
      sum_up(gradient_of(p.path), b("gradient", {scaled, p.value}, {}, gradient_of(p.path)), dtype);
    }
  }

  // Gradients of looked-up rows are stacked and added up once per step: there are as many as indices, not as many as
  // rows of the table.
  void stack_rows(const Parameter& p, const LookedUp& found) {
    turn_.stacked.insert(turn_.stacked.end(), {found.indices, found.gradients});
    piece_.step.stacked.insert(piece_.step.stacked.end(), {indices_of(p.path), row_gradients_of(p.path)});
  }

  // Totals and buffers become carries, from one micro-batch to the next. States of stateful layers belong to rows, so
  // they become slices and stacked results.
  void note_states() {
    for (const ir::Update& u : g().updates) carry(turn_, u.state, u.next, g()[u.state].name, true);
    g().updates = {};
    for (const ir::Update& u : piece_.e.updates) {
      if (g()[u.state].role == ir::Role::buffer) {
        piece_.buffers.push_back(g()[u.state].name);
        carry(turn_, u.state, u.next, g()[u.state].name, true);
        continue;
      }
      turn_.slices.push_back(u.state);
      names_[u.state] = g()[u.state].name;
      turn_.stacked.push_back(u.next);
      piece_.step.stacked.push_back(g()[u.state].name);
    }
    for (const ValueId v : g().inputs)
      if (g()[v].role == ir::Role::input && std::ranges::count(stand_ins_, v) == 0) {
        turn_.slices.push_back(v);
        names_[v] = g()[v].name;
      }
  }

  // Stacks computed indices, which are checked for all rows at once behind the loop.
  void stack_indices() {
    ir::Values results;
    for (const Turn::Carry& c : turn_.carries) results.push_back(c.next);
    results.insert(results.end(), turn_.stacked.begin(), turn_.stacked.end());
    const std::vector<char> needed = ir::dependencies(g(), results);
    for (size_t i = 0; i < piece_.indices.size(); ++i) {
      IndexCheck& check = piece_.indices[i];
      const ir::Node& reader = g()[check.reader];
      check.known |= std::ranges::none_of(reader.results, [&](ValueId v) { return needed[ir::index_of(v)] != 0; });
      if (check.known) continue;
      turn_.stacked.push_back(check.indices);
      piece_.step.stacked.push_back(fmt::format("{}.indices.{}", g()[reader.results[0]].name, i));
    }
  }

  // --- the bodies

  void take_bodies() {
    turn_.index = stand_in(kLoss + ".turn", {ir::DType::i64, {}});
    const auto of_network = static_cast<std::ptrdiff_t>(part_.bodies.size());
    std::move(piece_.e.bodies.begin() + of_network, piece_.e.bodies.end(), std::back_inserter(piece_.measure_bodies));
    piece_.e.bodies.resize(part_.bodies.size());
    if (!counts_.empty()) {
      Turn counting{.carries = {}, .slices = turn_.slices, .index = turn_.index, .stacked = {}};
      ir::Builder b(g());
      for (size_t i = 0; i < counts_.size(); ++i) {
        b.loc = g().def(counts_[i])->loc;
        b.prefix = piece_.counted[i] + ".count";
        const std::string name = whole_count_of(piece_.counted[i]);
        const ValueId so_far = stand_in(name + ".so_far", {ir::DType::f64, g()[counts_[i]].type.dims});
        carry(counting, so_far, b("add", {so_far, b.cast(counts_[i], ir::DType::f64)}, {}, name + ".sum"), name, false);
      }
      ir::Graph copy = g();
      piece_.counts = take(copy, counting, "loss.count");
    }
    std::vector<std::string> stacked = std::move(piece_.step.stacked);
    piece_.step = take(g(), turn_, kLoss);
    piece_.step.stacked = std::move(stacked);
    std::vector<ValueId> gone;
    for (const ValueId v : stand_ins_)
      if (std::ranges::count(g().inputs, v) != 0) gone.push_back(v);
    g().remove_inputs(gone);
  }

  Loop take(ir::Graph& graph, const Turn& turn, const std::string& what) {
    Loop loop;
    for (const Turn::Carry& c : turn.carries) loop.operands.push_back(names_.at(c.input));
    for (const ValueId v : turn.slices) loop.operands.push_back(names_.at(v));
    std::map<ValueId, std::string> names;
    for (const ValueId v : graph.inputs) names[v] = whole_counts_.contains(v) ? whole_counts_.at(v) : graph[v].name;
    TakenBody taken =
        take_rows(graph, turn, piece_.of.turns, piece_.e.body_name(fmt::format("{}.{}", what, options_.entry)));
    for (const ValueId v : taken.fixed) loop.operands.push_back(names.at(v));
    loop.body = std::move(taken.body);
    prune(loop);
    if (!draws(loop.body)) return loop;
    draw(loop.body);
    prune(loop);
    return loop;
  }

  void draw(ir::Graph& body) {
    const std::vector<ValueId> index = ir::inputs_with(body, ir::Role::index);
    const ir::Type type{ir::DType::i64, {}};
    const ValueId turn = index.empty() ? body.add_input(kLoss + ".turn", type, ir::Role::index) : index[0];
    ir::Builder b(body);
    b.insert_at = 0;
    b.prefix = "rows.before";
    const ValueId of_loop = b("mul", {turn, b.constant(static_cast<double>(piece_.of.rows), type)});
    const ValueId rows = b("add", {of_loop, b.constant(static_cast<double>(first_row_), type)}, {}, "rows.before");
    draw_by_row(body, rows, {whole_, part_}, piece_.bodies);
  }

  const Model& model_;
  const AccumulateOptions& options_;
  const Instance& whole_;
  const Instance& part_;
  SameNetwork& same_;
  Diagnostics& errors_;
  int64_t first_row_;
  bool wide_;  // sums of gradients
  Piece piece_;
  Turn turn_;
  ir::Values counts_;
  std::vector<ValueId> stand_ins_;
  std::map<ValueId, std::string> whole_counts_;  // stand-ins
  std::map<ValueId, std::string> names_;
};

// Builds the loops over the step's rows that run the bodies.
class Stepping {
 public:
  Stepping(const Model& model, const AccumulateOptions& options, const Instance& whole, std::vector<Piece> pieces,
           Diagnostics& errors)
      : model_(model),
        options_(options),
        whole_(whole),
        pieces_(std::move(pieces)),
        errors_(errors),
        e_(pieces_[0].e),
        b_(e_.graph) {}

  Accumulated run() {
    begin();
    for (const Piece& piece : pieces_)
      if (!piece.counted.empty()) add_loop(piece, piece.counts, false);
    for (const std::string& loss : pieces_[0].counted) {
      b_.prefix = loss + ".count";
      now_[whole_count_of(loss)] = b_.cast(now_.at(whole_count_of(loss)), ir::DType::f32);
    }
    Accumulated made;
    made.counted = counted();
    for (const Piece& piece : pieces_) add_loop(piece, piece.step, true);
    made.losses = losses(made.measures);
    made.gradients = gradients(made.losses);
    renew(made);
    made.indices = indices();
    std::set<std::string> names;
    for (Piece& piece : pieces_) {
      for (ir::Graph& body : piece.measure_bodies)
        if (names.insert(body.name).second) made.measure_bodies.push_back(std::move(body));
      for (ir::Graph& body : piece.bodies)
        if (names.insert(body.name).second) made.bodies.push_back(std::move(body));
      if (!piece.counted.empty()) made.bodies.push_back(std::move(piece.counts.body));
      made.bodies.push_back(std::move(piece.step.body));
    }
    made.instance = std::move(e_);
    return made;
  }

 private:
  ir::Graph& g() { return e_.graph; }

  // The step's own inputs, and what is known of the instance that it makes.
  void begin() {
    for (size_t i = 1; i < pieces_.size(); ++i)
      e_.refusals.insert(e_.refusals.end(), pieces_[i].e.refusals.begin(), pieces_[i].e.refusals.end());
    e_.batch = options_.batch;
    e_.kept = whole_.kept;
    e_.updates = {};
    e_.uses.clear();
    e_.nodes.clear();
    e_.values.clear();
    for (const ValueId v : whole_.graph.inputs) {
      const ir::Value& in = whole_.graph[v];
      const bool is_kept = std::ranges::count(e_.kept, in.name, &KeptState::path) != 0;
      if (in.role != ir::Role::input && !is_kept) continue;
      now_[in.name] = g().add_input(in.name, in.type, in.role);
      if (in.role == ir::Role::input) e_.values[in.name] = now_[in.name];
    }
  }

  // --- loops

  int64_t first_row(const Piece& of) const {
    int64_t row = 0;
    for (const Piece& piece : pieces_) {
      if (&piece == &of) break;
      row += piece.of.rows * piece.of.turns;
    }
    return row;
  }

  // The rows over which the loop runs: [batch, ...] -> [turns, ...].
  ValueId rows_of(const Piece& piece, ValueId all, const ir::Type& row) {
    ir::Dims dims = b_.type(all).dims;
    b_.prefix = g()[all].name + ".rows";
    if (pieces_.size() > 1) {
      ir::Dims starts(dims.size(), 0), limits = dims;
      const int64_t of_row = dims[0] / options_.batch;
      starts[0] = first_row(piece) * of_row;
      limits[0] = starts[0] + piece.of.rows * piece.of.turns * of_row;
      all = b_("slice", {all}, {{"starts", starts}, {"limits", limits}});
    }
    dims = row.dims;
    dims.insert(dims.begin(), piece.of.turns);
    return b_.reshape(all, dims);
  }

  ValueId operand(const Piece& piece, const Loop& loop, size_t i) {
    const ir::Value& input = loop.body[ir::operand_inputs(loop.body)[i]];
    const std::string& name = loop.operands[i];
    const auto known = now_.find(name);
    if (input.role == ir::Role::slice) return rows_of(piece, kept_start(name), input.type);
    if (known != now_.end()) return known->second;
    const ValueId own = g().find(name);
    if (own.valid()) return own;
    HEDDLE_CHECK(input.role == ir::Role::carry, "what a loop of micro-batches needs is there: " + name);
    b_.prefix = name + ".start";
    return b_.constant(0, input.type);
  }

  // An input of rows, or a state of rows before the step.
  ValueId kept_start(const std::string& name) const { return now_.at(name); }

  void add_loop(const Piece& piece, const Loop& loop, bool trains) {
    ir::Values operands;
    b_.loc = model_.train.where;
    for (size_t i = 0; i < loop.operands.size(); ++i) operands.push_back(operand(piece, loop, i));
    const std::vector<ValueId> inputs = ir::operand_inputs(loop.body);
    std::vector<std::string> carried, names;
    for (const ValueId v : ir::inputs_with(loop.body, ir::Role::carry))
      carried.push_back(loop.operands[ir::number_in(inputs, v)]);
    for (const std::string& name : carried) names.push_back(name + ".of_rows");
    for (const std::string& name : loop.stacked) names.push_back(name + ".of_rows");
    ir::Attrs attrs = ir::scan_attrs(piece.of.turns, false);
    attrs["apart"] = true;
    const NodeId n = ir::add_scan(g(), loop.body, operands, attrs, names, b_.loc);
    const ir::Values results = g()[n].results;
    for (size_t i = 0; i < carried.size(); ++i) now_[carried[i]] = results[i];
    if (!trains) return;
    for (size_t i = 0; i < loop.stacked.size(); ++i) stacked_[loop.stacked[i]].push_back(results[carried.size() + i]);
  }

  // [turns, rows, ...] of each loop -> all rows.
  ValueId all_rows(const std::string& name) {
    ir::Values parts;
    for (const ValueId v : stacked_.at(name)) {
      ir::Dims dims = b_.type(v).dims;
      if (dims.size() > 1) dims[1] *= dims[0], dims.erase(dims.begin());
      b_.prefix = name + ".all";
      parts.push_back(b_.reshape(v, dims));
    }
    return parts.size() == 1 ? parts[0] : b_("concat", parts, {{"axis", int64_t{0}}}, name + ".all");
  }

  // --- what they come to

  ValueId counted() {
    const Piece& piece = pieces_[0];
    if (piece.losses.size() == 1 && piece.counted.empty()) return {};
    ValueId sum;
    for (const std::string& loss : piece.losses) {
      const auto known = piece.known.find(loss);
      b_.prefix = loss + ".count.known";
      const ValueId count =
          known == piece.known.end()
              ? now_.at(whole_count_of(loss))
              : b_.constant(known->second * static_cast<double>(options_.batch), {ir::DType::f32, {}});
      sum = sum.valid() ? b_("add", {sum, count}, {}, kCount + "_so_far") : count;
    }
    g().rename(sum, kCount);
    return sum;
  }

  Losses losses(std::vector<MeasureStates>& measures) {
    Losses made;
    b_.prefix = kLoss + ".of_data";
    const ValueId of_data = b_.cast(now_.at(kLoss), ir::DType::f32);
    made = add_losses(e_, model_, errors_, Terms::of_weights);
    made.penalties = made.total;
    measures = pieces_[0].measures;
    if (made.total.valid()) {
      const std::vector<MeasureStates> penalties = add_totals(e_, model_, made, errors_, Terms::of_weights).measures;
      measures.insert(measures.begin() + std::ssize(pieces_[0].losses), penalties.begin(), penalties.end());
      g().rename(made.penalties, "penalties");
      made.total = b_("add", {of_data, made.penalties});
    } else {
      made.total = of_data;
    }
    g().rename(made.total, kLoss);
    return made;
  }

  Gradients gradients(const Losses& of) {
    Gradients made;
    std::vector<bool> by_penalties(g().value_count());
    ValueId penalties;  // of the size that the sums of gradients have
    if (of.penalties.valid()) {
      by_penalties = ancestors(g(), of.penalties);
      penalties = scaled_loss(e_, model_.train, of.penalties);
    }
    for (const Parameter& p : e_.parameters) {
      if (p.role != ir::Role::param || is_frozen(model_.train, p)) continue;
      b_.loc = p.where;
      const bool of_data = std::ranges::count(pieces_[0].trained, p.path, &Parameter::path) != 0;
      if (p.sparse && of_data) {
        const SparseRows rows = sparse_rows(b_, p, {all_rows(indices_of(p.path)), all_rows(row_gradients_of(p.path))});
        made.parameters.push_back(p);
        made.values.push_back(rows.gradient);
        made.sparse[p.path] = rows;
        continue;
      }
      const bool penalised = by_penalties[ir::index_of(p.value)];
      ValueId sum;
      if (of_data) {
        b_.prefix = gradient_of(p.path) + ".of_data";
        sum = b_.cast(now_.at(gradient_of(p.path)), p.type.dtype);
      }
      if (penalised) {
        const ValueId more = b_("gradient", {penalties, p.value}, {}, gradient_of(p.path) + ".of_penalties");
        sum = sum.valid() ? b_("add", {sum, more}) : more;
      }
      if (!sum.valid()) continue;
      g().rename(sum, gradient_of(p.path));
      made.parameters.push_back(p);
      made.values.push_back(sum);
    }
    return made;
  }

  // Adds the updates of states to their values after the last micro-batch.
  void renew(const Accumulated& made) {
    for (const MeasureStates& m : made.measures)
      for (const MetricState& state : m.states)
        if (const auto next = now_.find(m.name + "." + state.name); next != now_.end())
          g().updates.push_back({g().find(next->first), next->second});
    for (const std::string& buffer : pieces_[0].buffers) e_.updates.push_back({g().find(buffer), now_.at(buffer)});
    for (const KeptState& kept : e_.kept) e_.updates.push_back({now_.at(kept.path), all_rows(kept.path)});
  }

  std::vector<IndexCheck> indices() {
    std::vector<IndexCheck> list = pieces_[0].indices;
    size_t next =
        pieces_[0].step.stacked.size() - static_cast<size_t>(std::ranges::count(list, false, &IndexCheck::known));
    for (IndexCheck& check : list) {
      if (check.known) continue;
      b_.loc = g()[check.reader].loc;
      check.indices = all_rows(pieces_[0].step.stacked[next++]);
      check.reader = g()[check.indices].def;
    }
    return list;
  }

  const Model& model_;
  const AccumulateOptions& options_;
  const Instance& whole_;
  std::vector<Piece> pieces_;
  Diagnostics& errors_;
  Instance& e_;  // the first piece's
  ir::Builder b_;
  std::map<std::string, ValueId> now_;  // inputs, and what loops have carried so far
  std::map<std::string, ir::Values> stacked_;
};

}  // namespace

std::vector<MicroBatches> micro_batches(int64_t batch, int64_t rows) {
  const int64_t turns = (batch + rows - 1) / rows, least = batch / turns, more = batch % turns;
  std::vector<MicroBatches> list;
  if (more > 0) list.push_back({least + 1, more});
  list.push_back({least, turns - more});
  return list;
}

bool accumulates(const Model& model) { return model.train.accumulate > 1; }

int64_t rows_of_micro_batch(const Model& model) {
  const auto batch = model.train.sizes.find(model.batch_dimension);
  return batch == model.train.sizes.end() ? 1 : batch->second / model.train.accumulate;
}

Accumulated accumulate(ModelInstances& instances, const AccumulateOptions& options, SameNetwork& same,
                       Diagnostics& errors) {
  Accumulated none;
  const Model& model = instances.model();
  const Instance& whole = instances.at({.batch = options.batch, .training = true}, errors);
  guarded(errors, [&] { require_outputs(whole, model); });
  none.instance.parameters = whole.parameters;
  if (!errors.empty()) return none;
  const std::vector<MicroBatches> parts = micro_batches(options.batch, rows_of_micro_batch(model));
  int64_t turns = 0, row = 0;
  for (const MicroBatches& part : parts) turns += part.turns;
  std::vector<Piece> pieces;
  bool complete = true;
  for (const MicroBatches& part : parts) {
    guarded(errors,
            [&] { pieces.push_back(Piecing(instances, options, whole, part, row, turns, same, errors).run()); });
    row += part.rows * part.turns;
    complete &= errors.empty() && !pieces.empty() && pieces.back().step.body.body;
  }
  if (!complete) return none;
  return Stepping(model, options, whole, std::move(pieces), errors).run();
}

}  // namespace heddle::frontend
