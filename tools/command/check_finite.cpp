#include "tools/command/check_finite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "frontend/training/accumulate.h"
#include "frontend/training/loss_scale.h"
#include "ir/scan.h"
#include "ir/storage/storage.h"
#include "tools/command/step_again.h"
#include "tools/command/trace_finite.h"

namespace heddle::tools {
namespace {

using ir::Graph;
using ir::ValueId;

double unsigned_nan(double value) { return std::isnan(value) ? std::abs(value) : value; }

// The values to search, in order: the loss, the parameters, and then the gradients, which do not reach the parameters
// in a skipped step.
std::vector<std::vector<ValueId>> targets_of(const Graph& g) {
  std::vector<ValueId> loss{g.find("loss")}, parameters, gradients;
  for (const ir::Update& u : g.updates)
    if (g[u.state].role == ir::Role::param || g[u.state].role == ir::Role::buffer) parameters.push_back(u.next);
  for (const ir::NodeId id : g.order)
    if (g[g[id].results[0]].name.ends_with(frontend::kLargestGradient))
      gradients.insert(gradients.end(), g[id].operands.begin(), g[id].operands.end());
  std::vector<std::vector<ValueId>> targets{loss, parameters, gradients};
  std::erase_if(targets, [](const std::vector<ValueId>& some) { return some.empty() || !some[0].valid(); });
  return targets;
}

// The axis of a value along which the rows lie, with `each` indices per row.
struct RowAxis {
  size_t axis = 0;
  int64_t rows = 0, each = 1;
};

// Finds the axis of the rows: it is twice as long in the same step with batches twice as large.
class RowAxes {
 public:
  RowAxes(const StepAgain& step, const StepAgain& twice, int64_t rows) : step_(step), twice_(twice), rows_(rows) {}

  std::optional<RowAxis> of(const Origin& origin) const {
    const Graph *g = &step_.step(), *other = &twice_.step();
    for (const TurnAt& turn : origin.turns) {
      const ir::Node *scan = node_at(*g, turn.place), *other_scan = node_at(*other, turn.place);
      if (other_scan == nullptr || scan->op != other_scan->op) return std::nullopt;
      g = step_.module.find_body(scan->callee), other = twice_.module.find_body(other_scan->callee);
    }
    if (g->order.size() != other->order.size() || g->inputs.size() != other->inputs.size()) return std::nullopt;
    const std::optional<ir::Dims> twice = dims_in(*g, *other, origin.result);
    return twice ? compared((*g)[origin.result].type.dims, *twice) : std::nullopt;
  }

 private:
  static const ir::Node* node_at(const Graph& g, size_t place) {
    return place < g.order.size() ? &g[g.order[place]] : nullptr;
  }
  static std::optional<ir::Dims> dims_in(const Graph& g, const Graph& other, ValueId v) {
    const ir::Node* def = g.def(v);
    if (def == nullptr) {
      const ValueId same = other.find(g[v].name);
      return same.valid() ? std::optional(other[same].type.dims) : std::nullopt;
    }
    const auto at = std::ranges::find_if(g.order, [&](ir::NodeId id) { return &g[id] == def; });
    const ir::Node* same = node_at(other, static_cast<size_t>(at - g.order.begin()));
    if (same == nullptr || same->op != def->op) return std::nullopt;
    return other[same->results.at(static_cast<size_t>(g[v].result_index))].type.dims;
  }
  std::optional<RowAxis> compared(const ir::Dims& dims, const ir::Dims& twice) const {
    if (dims.size() != twice.size()) return std::nullopt;
    for (size_t d = 0; d < dims.size(); ++d)
      if (twice[d] == 2 * dims[d] && (dims[d] % rows_ == 0 || rows_ % dims[d] == 0))
        return RowAxis{.axis = d, .rows = std::min(dims[d], rows_), .each = std::max<int64_t>(1, dims[d] / rows_)};
    return std::nullopt;
  }

  const StepAgain &step_, &twice_;
  int64_t rows_;
};

int64_t coordinate(const ir::Dims& dims, int64_t element, size_t axis) {
  for (size_t d = dims.size(); d-- > axis + 1;) element /= dims[d];
  return element % dims[axis];
}

class Told {
 public:
  Told(const RunArguments& a, Run& run, const runtime::FaultyStep& step)
      : a_(a), run_(run), step_(step), again_(build_again(a, run, step.entry->name)) {}

  std::optional<UserError> error() {
    const Graph& g = again_.step();
    ir::NamedTensors tensors = read_states(run_.session, g);
    BatchesAgain(a_, run_, g, step_.split->table, step_.rows, step_.draws).next(g, tensors);
    const std::optional<Origin> found = trace_not_finite(again_.module, g, tensors, targets_of(g));
    if (!found) return std::nullopt;
    if (found->node == nullptr) return of_input(*found);
    return of_node(*found);
  }

 private:
  const frontend::Model& model() const { return run_.read.model; }

  // Of the batch, counted from 0.
  std::optional<int64_t> row_of_batch(const Origin& o) const {
    const int64_t batch = step_.entry->fed_rows;
    std::optional<RowAxis> axis;
    try {
      const StepAgain twice = build_again(a_, run_, step_.entry->name, 2);
      const bool parts = frontend::accumulates(model()) && !o.turns.empty();
      axis = RowAxes(again_, twice, parts ? rows_of_turn(o) : batch).of(o);
      if (!axis) return std::nullopt;
      const int64_t row = coordinate((*o.graph)[o.result].type.dims, o.element, axis->axis) / axis->each;
      return parts ? first_row(o) + row : row;
    } catch (const UserError&) {  // such a batch does not fit the model: the row stays unknown
      return std::nullopt;
    }
  }

  // Of a micro-batch: those of the loop of this turn, whose name says them.
  int64_t rows_of_turn(const Origin& o) const {
    const std::vector<frontend::MicroBatches> parts = pieces();
    return parts.at(piece_of(o, parts)).rows;
  }
  int64_t first_row(const Origin& o) const {
    const std::vector<frontend::MicroBatches> parts = pieces();
    const size_t piece = piece_of(o, parts);
    int64_t first = o.turns[0].row * parts.at(piece).rows;
    for (size_t i = 0; i < piece; ++i) first += parts[i].rows * parts[i].turns;
    return first;
  }
  std::vector<frontend::MicroBatches> pieces() const {
    return frontend::micro_batches(step_.entry->fed_rows, frontend::rows_of_micro_batch(model()));
  }
  size_t piece_of(const Origin& o, const std::vector<frontend::MicroBatches>& parts) const {
    const Graph& g = again_.step();
    const int64_t turns = ir::turns(g[g.order[o.turns[0].place]]);
    const std::string& name = g[g.order[o.turns[0].place]].callee;
    for (size_t i = 0; i < parts.size(); ++i)
      if (parts[i].turns == turns && name.find(fmt::format(".of_{}.", parts[i].rows)) != std::string::npos) return i;
    return 0;
  }

  std::string row_text(const Origin& o) const {
    const std::optional<int64_t> row = row_of_batch(o);
    if (!row || *row >= std::ssize(step_.rows)) return "";
    return fmt::format(" in {} row {}", step_.split->name, step_.rows[static_cast<size_t>(*row)]);
  }

  UserError of_input(const Origin& o) const {
    const ir::Value& v = again_.step()[o.result];
    const double value = unsigned_nan(o.value);
    if (v.role != ir::Role::input)
      return {ExitCode::failed, fmt::format("{}: '{}' has held {} since an earlier step", step_.what, v.name, value),
              "a lower lr or a clip_norm may keep it finite"};
    const frontend::Data& data = run_.session.plan.data;
    const std::optional<frontend::DataReader>& own = step_.split->name == "test"         ? data.test
                                                     : step_.split->name == "validation" ? data.validation
                                                                                         : data.train;
    const frontend::DataReader* reader = own ? &*own : data.train ? &*data.train : nullptr;
    std::string from;
    Location where = data.where;
    if (reader != nullptr) {
      where = reader->where, from = " of " + reader->op;
      const auto column = reader->columns.find(v.name);
      if (column != reader->columns.end() && !column->second.empty())
        where = column->second[0].where, from += fmt::format(" '{}'", column->second[0].text);
    }
    return {where,
            fmt::format("{}: input '{}'{} holds {}{}, counted from 0", step_.what, v.name, from, value, row_text(o)),
            "correct or remove that row of the data, and look at the maps of the input"};
  }

  std::string of_what(const Origin& o) const {
    if (!o.operands.empty()) {
      std::vector<double> numbers = o.operands;
      for (double& x : numbers) x = unsigned_nan(x);
      return fmt::format(", of {:.7g}", fmt::join(numbers, " and "));
    }
    return o.largest > 0 ? fmt::format(", of numbers up to {:.3g}", o.largest) : "";
  }

  // "fc.weight" of "fc.weight.next": the parameter that an optimizer's value is about.
  std::string parameter_of(const Origin& o) const {
    const Graph& g = again_.step();
    std::string longest;
    for (const ValueId v : g.inputs)
      if (g[v].role == ir::Role::param && (*o.graph)[o.result].name.starts_with(g[v].name + ".") &&
          g[v].name.size() > longest.size())
        longest = g[v].name;
    return longest;
  }

  UserError of_node(const Origin& o) const {
    const bool gradient = !again_.forward.contains(name_in(*o.graph, o.result));
    const std::string title = title_at(model(), *o.node);
    const bool optimizer = title.starts_with("optimizer ") || title.starts_with("constraint ");
    const std::string& op = o.node->op->name;
    const std::string by =
        title.starts_with(op) || title.starts_with("loss " + op) ? "" : fmt::format(", by its {},", op);
    const std::string parameter = optimizer || gradient ? parameter_of(o) : "";
    const std::string row = row_text(o);
    return {o.node->loc,
            fmt::format("{}: {}{}{} makes the first {}{}{}{}", step_.what,
                        gradient && !optimizer ? "the gradient of " : "", title, by, unsigned_nan(o.value), of_what(o),
                        parameter.empty() ? "" : fmt::format(", for '{}'", parameter), row.empty() ? "" : "," + row),
            help_of(o, gradient, optimizer)};
  }

  static std::string help_of(const Origin& o, bool gradient, bool optimizer) {
    if (optimizer) return "a lower lr or a clip_norm may keep it finite";
    const bool overflows =
        o.largest > 1e4 || std::ranges::any_of(o.operands, [](double x) { return std::abs(x) > 1e4; });
    if (gradient && !overflows)
      return "a derivative is infinite there, as a square root's is at 0: add a small number to what it reads";
    const std::optional<std::string> limits = own_limits(*o.node->op);
    if (limits && !gradient && !overflows) return *limits;
    return "its numbers grow too large: scale inputs to about -1 to 1, look at the initial weights before it, or lower "
           "lr";
  }

  const RunArguments& a_;
  Run& run_;
  const runtime::FaultyStep& step_;
  StepAgain again_;
};

}  // namespace

std::optional<UserError> check_finite(const RunArguments& a, Run& run, const runtime::FaultyStep& step) {
  std::string why = "the step stays finite where each operator is computed by itself";
  try {
    if (std::optional<UserError> error = Told(a, run, step).error()) return error;
  } catch (const UserError& error) {  // an operator without an oracle, no room, no compiler
    why = error.diagnostics().front().message;
  } catch (const std::bad_alloc&) {
    why = "memory does not suffice for all values of the step";
  }
  note("--check-finite finds no operator: " + why);
  return std::nullopt;
}

}  // namespace heddle::tools
