#include "frontend/training/sparse_update.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace heddle::frontend {

using ir::Dims;
using ir::ValueId;

namespace {

bool finds_rows(const ir::Graph& g, const ir::Node& n, ValueId table) {
  return n.op->traits.rows_along && n.operands[0] == table && n.operands[1] != table &&
         n.op->traits.rows_along(n) == 0 && g[table].type.rank() == 2;
}

std::vector<std::string> sparse_optimizers() {
  std::vector<std::string> names;
  for (const std::string& name : optimizer_names())
    if (find_optimizer(name)->sparse) names.push_back(name);
  return names;
}

// The indices of all lookups, one after the other.
ValueId all_indices(ir::Builder& b, const Parameter& p, const ir::Values& lookups) {
  ir::Values parts;
  for (const ValueId rows : lookups) parts.push_back(b.graph.def(rows)->operands[1]);
  const bool mixed =
      std::any_of(parts.begin(), parts.end(), [&](ValueId v) { return b.type(v).dtype != b.type(parts[0]).dtype; });
  for (ValueId& v : parts) {
    b.prefix = p.path + ".indices";
    const ValueId typed = mixed ? b.cast(v, ir::DType::i64) : v;
    v = b.reshape(typed, {b.type(typed).elements()});
  }
  return parts.size() == 1 ? parts[0] : b("concat", parts, {{"axis", int64_t{0}}}, p.path + ".indices");
}

// For each of the sorted indices the first place of its equals.
ValueId first_places(ir::Builder& b, const Parameter& p, ValueId sorted) {
  const int64_t n = b.type(sorted).elements();
  const auto name = [&](const char* suffix) { return p.path + ".rows." + suffix; };
  b.prefix = name("constant");
  const ValueId place = b("iota", {}, {{"shape", Dims{n}}, {"dtype", std::string("i32")}}, name("place"));
  if (n == 1) return place;
  const ValueId front = b("slice", {sorted}, {{"starts", Dims{0}}, {"limits", Dims{n - 1}}}, name("front"));
  const ValueId before = b("pad", {front}, {{"low", Dims{1}}, {"high", Dims{0}}}, name("before"));
  const ValueId differs = b("ne", {sorted, before}, {}, name("differs"));
  const ValueId begins =
      b("or", {differs, b("eq", {place, b.like(0, place)}, {}, name("is_first"))}, {}, name("begins"));
  const ValueId own = b("select", {begins, place, b.like(0, place)}, {}, name("own_place"));
  return b("cummax", {own}, {{"axis", int64_t{0}}}, name("first"));
}

}  // namespace

void require_sparse_rule(const Parameter& p, const Model& model, const OptimizerDef& def) {
  if (!def.sparse)
    throw UserError(*p.sparse, fmt::format("optimizer {} cannot update single rows of '{}'", quote(def.name), p.path),
                    fmt::format("leave out \"sparse\", or take one of {}, without weight decay",
                                fmt::join(sparse_optimizers(), ", ")));
  if (model.train.average)
    throw UserError(*p.sparse, fmt::format("'average' updates every row of '{}' in each step", p.path),
                    "leave out \"sparse\" or \"average\"");
}

void require_no_decay(const Parameter& p, const OptimizerDef& def, const Settings& settings, double decay) {
  if (decay != 0)
    throw UserError(*p.sparse,
                    fmt::format("a weight decay of {} changes every row of '{}' in each step", decay, p.path),
                    fmt::format("leave out \"sparse\", or have no decay for it: \"groups\": [{{\"match\": \"{}\", "
                                "\"weight_decay\": 0}}]",
                                p.path));
  if (def.check_sparse) def.check_sparse(settings);
}

ir::Values lookups_of(const Instance& e, const Parameter& p, const std::vector<bool>& reached) {
  ir::Values found;
  for (const ir::NodeId id : e.graph[p.value].uses) {
    const ir::Node& n = e.graph[id];
    const ValueId result = n.results[0];
    if (!reached[static_cast<size_t>(result.index)]) continue;
    if (!finds_rows(e.graph, n, p.value)) {
      Diagnostic error{
          Severity::error,
          *p.sparse,
          fmt::format("{} reads all of '{}': each of its rows gets a gradient in each step", n.op->name, p.path),
          {},
          "leave out \"sparse\""};
      if (e.made_by.count(result) != 0) error.notes.push_back(e.origin(result));
      throw UserError({error});
    }
    if (std::find(found.begin(), found.end(), result) == found.end()) found.push_back(result);
  }
  return found;
}

LookedUp looked_up(ir::Builder& b, const Parameter& p, const ir::Values& lookups, ValueId loss) {
  const int64_t units = p.type.dims[1];
  const ValueId indices = all_indices(b, p, lookups);
  ir::Values parts;
  for (const ValueId rows : lookups) {
    const ValueId gradient = b("gradient", {loss, rows}, {}, p.path + ".rows.grad");
    b.prefix = p.path + ".rows.grad";
    parts.push_back(b.reshape(gradient, {b.type(gradient).elements() / units, units}));
  }
  return {indices, parts.size() == 1 ? parts[0] : b("concat", parts, {{"axis", int64_t{0}}}, p.path + ".rows.grad")};
}

SparseRows sparse_rows(ir::Builder& b, const Parameter& p, const LookedUp& found) {
  const Dims rows = b.type(found.gradients).dims;
  const ir::Values order = b.multi("argsort", {found.indices}, {}, {p.path + ".rows.order", p.path + ".rows.sorted"});
  const ValueId first = first_places(b, p, order[1]);
  b.prefix = p.path + ".rows.zeros";
  const ValueId zeros = b.constant(0, {p.type.dtype, rows});
  return {order[1], first,
          b("scatter_rows", {zeros, first, order[0], found.gradients}, {{"combine", std::string("add")}},
            p.path + ".grad")};
}

ValueId read_rows(ir::Builder& b, const SparseRows& rows, ValueId table) {
  return b("gather", {table, rows.sorted}, {{"axis", int64_t{0}}}, b.graph[table].name + ".rows");
}

ValueId write_rows(ir::Builder& b, const SparseRows& rows, ValueId table, ValueId next) {
  return b("scatter_rows", {table, rows.sorted, rows.first, next}, {{"combine", std::string("set")}},
           b.graph[table].name + ".all");
}

bool has_sparse_rows(const Instance& e, ValueId state) {
  const std::string& name = e.graph[state].name;
  return std::ranges::any_of(e.parameters, [&](const Parameter& p) {
    return p.sparse && name.starts_with(p.path) && (name.size() == p.path.size() || name[p.path.size()] == '.');
  });
}

}  // namespace heddle::frontend
