#include "frontend/training/row_draws.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ir/builder.h"
#include "ir/scan.h"

namespace heddle::frontend {

using ir::NodeId;
using ir::ValueId;

namespace {

// What a body calls the training's seed; invalid where it draws nothing.
ValueId seed_of(const ir::Graph& body) {
  const ValueId seed = body.find("seed");
  return seed.valid() && body[seed].role == ir::Role::fixed ? seed : ValueId{};
}

class RowDraws {
 public:
  RowDraws(ir::Graph& body, const ir::Graph& whole, ValueId rows_before, const WholeBatch& batch,
           std::vector<ir::Graph>& bodies)
      : g_(body), whole_(whole), rows_before_(rows_before), batch_(batch), bodies_(bodies), b_(body) {}

  void run() {
    const ValueId seed = seed_of(g_);
    if (!seed.valid()) return;
    for (const NodeId id : std::vector<NodeId>(g_.order)) {
      if (std::ranges::count(g_[id].operands, seed) == 0) continue;
      if (ir::is_scan(g_[id]))
        scan(id);
      else if (const std::optional<size_t> axis = axis_of_rows(id))
        draw(id, *axis);
    }
  }

 private:
  // The axis of its rows; nothing where the whole batch draws the same numbers.
  std::optional<size_t> axis_of_rows(NodeId id) const {
    const ir::Node& n = g_[id];
    const ir::Value& drawn = g_[n.results[0]];
    const ValueId known = whole_.find(drawn.name);
    const ir::Dims dims = drawn.type.dims, all = known.valid() ? whole_[known].type.dims : ir::Dims{};
    if (known.valid() && dims == all) return std::nullopt;
    std::vector<size_t> others;
    for (size_t d = 0; d < dims.size() && all.size() == dims.size(); ++d)
      if (dims[d] != all[d]) others.push_back(d);
    if (others.size() == 1 && dims[others[0]] * batch_.whole.batch == all[others[0]] * batch_.part.batch)
      return others[0];
    throw UserError(
        n.loc,
        fmt::format("train: 'accumulate': random numbers are drawn for each row of a batch, and {} is not as "
                    "many for each",
                    to_string(drawn.type)),
        "let one axis be that of the rows, or leave \"accumulate\" out");
  }

  void draw(NodeId id, size_t axis) {
    const ir::Node& n = g_[id];
    b_.loc = n.loc;
    b_.insert_at = place(id);
    ir::Values results;
    if (!std::holds_alternative<ir::Composite>(n.op->kind)) {
      results = {axis == 0 ? drawn_from(n) : drawn_along(n, axis)};
    } else {
      b_.prefix = g_[n.results[0]].name + ".drawn";
      const size_t before = g_.node_count();
      results = n.op->decomposition(b_, n);
      const size_t after = g_.node_count();
      for (size_t i = before; i < after; ++i)
        if (const NodeId made{static_cast<int32_t>(i)}; !g_[made].erased && draws_itself(made)) draw(made, axis);
    }
    b_.insert_at = ir::Builder::kEnd;
    replace(id, results);
  }

  // rows_before times so many.
  ValueId times(int64_t of_row, const std::string& name) {
    b_.prefix = name + ".of_row";
    return b_("mul", {rows_before_, b_.like(static_cast<double>(of_row), rows_before_)}, {}, name + ".first");
  }

  // Its rows lie one after the other.
  ValueId drawn_from(const ir::Node& n) {
    const ir::Value& y = g_[n.results[0]];
    const ValueId first = times(y.type.elements() / batch_.part.batch, std::string(y.name));
    return b_(n.op->name + "_from", {n.operands[0], n.operands[1], first}, n.attrs);
  }

  // Its rows lie along another axis: they are looked up in what the whole batch draws, of which no more is computed.
  ValueId drawn_along(const ir::Node& n, size_t axis) {
    const std::string name = g_[n.results[0]].name;
    const ir::Dims dims = g_[n.results[0]].type.dims;
    ir::Dims all = dims;
    all[axis] = dims[axis] / batch_.part.batch * batch_.whole.batch;
    ir::Attrs attrs = n.attrs;
    attrs["shape"] = all;
    const ValueId whole = b_(n.op->name, n.operands, attrs, name + ".of_all");
    const ValueId first =
        b_("broadcast", {times(dims[axis] / batch_.part.batch, name)}, {{"shape", ir::Dims{dims[axis]}}});
    const ValueId number = b_("iota", {}, {{"shape", ir::Dims{dims[axis]}}, {"dtype", std::string("i64")}});
    const ValueId rows = b_("add", {first, number}, {}, name + ".rows");
    return b_("gather", {whole, rows}, {{"axis", static_cast<int64_t>(axis)}});
  }

  bool draws_itself(NodeId id) const { return std::ranges::count(g_[id].operands, seed_of(g_)) != 0; }

  size_t place(NodeId id) const { return static_cast<size_t>(std::ranges::find(g_.order, id) - g_.order.begin()); }

  void replace(NodeId id, const ir::Values& with) {
    const ir::Node n = g_[id];
    std::vector<std::string> names;
    for (size_t i = 0; i < n.results.size(); ++i) {
      names.push_back(g_[n.results[i]].name);
      g_.replace_uses(n.results[i], with[i]);
    }
    g_.erase(id);
    for (size_t i = 0; i < names.size(); ++i) g_.rename(with[i], names[i]);
  }

  // The scan of a body that is told how many rows stand before.
  void scan(NodeId id) {
    const ir::Node n = g_[id];
    const auto at = std::ranges::find(batch_.part.bodies, n.callee, &ir::Graph::name);
    if (at == batch_.part.bodies.end()) return;
    const auto number = static_cast<size_t>(at - batch_.part.bodies.begin());
    ir::Graph inner = *at;
    const ValueId rows = inner.add_input("rows.before", {ir::DType::i64, {}}, ir::Role::fixed);
    RowDraws(inner, batch_.whole.bodies.at(number), rows, batch_, bodies_).run();
    inner.name += ".of_rows";
    ir::Values operands = n.operands;
    operands.push_back(rows_before_);
    std::vector<std::string> names(n.results.size(), n.callee);
    const size_t where = place(id);
    const NodeId fresh = ir::add_scan(g_, inner, operands, n.attrs, names, n.loc);
    g_.order.pop_back();
    g_.order.insert(g_.order.begin() + static_cast<std::ptrdiff_t>(where), fresh);
    replace(id, g_[fresh].results);
    if (std::ranges::count(bodies_, inner.name, &ir::Graph::name) == 0) bodies_.push_back(std::move(inner));
  }

  ir::Graph& g_;
  const ir::Graph& whole_;
  ValueId rows_before_;
  const WholeBatch& batch_;
  std::vector<ir::Graph>& bodies_;
  ir::Builder b_;
};

}  // namespace

bool draws(const ir::Graph& body) { return seed_of(body).valid() && !body.unused(seed_of(body)); }

void draw_by_row(ir::Graph& body, ValueId rows_before, const WholeBatch& batch, std::vector<ir::Graph>& bodies) {
  RowDraws(body, batch.whole.graph, rows_before, batch, bodies).run();
}

}  // namespace heddle::frontend
