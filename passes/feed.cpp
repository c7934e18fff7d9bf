#include "passes/feed.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/check.h"
#include "ir/cursor.h"

namespace heddle::passes {

using namespace ir;

namespace {

// The capacity of the ring: records of 100 ms of steps of 10 us each, and as many again that the host is still reading.
constexpr int64_t kRecords = int64_t{1} << 15;

std::vector<ValueId> inputs_of(const Graph& g) {
  std::vector<ValueId> inputs;
  for (const ValueId v : g.inputs)
    if (g[v].role == Role::input) inputs.push_back(v);
  return inputs;
}

ValueId told(const Graph& g, OutputRole role) {
  for (const ValueId v : g.outputs)
    if (output_role(g[v].name) == role) return v;
  return {};
}

// The loss scale that a training step returns; invalid in other graphs.
ValueId told_scale(const Graph& g) {
  const ValueId v = g.kind().phase == Phase::train ? g.find(kToldScale) : ValueId{};
  return v.valid() && g.is_output(v) ? v : ValueId{};
}

// What all entries share: the columns, and the layouts of the cursor and the ring.
struct Feeding {
  std::vector<FedColumn> columns;
  bool draws = false, norms = false, scales = false;

  Type cursor() const { return {DType::u64, {cursor_words(std::ssize(columns), draws)}}; }
  Type ring() const { return {DType::u64, {ring_words(kRecords, norms, scales)}}; }
};

class Feeder {
 public:
  Feeder(Graph& g, const Feeding& feeding) : g_(g), feeding_(feeding), inputs_(inputs_of(g)), b_(g) {
    HEDDLE_CHECK(!inputs_.empty() && told(g, OutputRole::loss).valid(), "a fed entry has inputs and a loss: " + g.name);
    rows_ = g[inputs_[0]].type.dims.at(0);
  }

  void run() {
    const ValueId cursor = g_.add_input("cursor", feeding_.cursor(), Role::cursor);
    const ValueId ring = g_.add_input("ring", feeding_.ring(), Role::ring);
    const ValueId noted = gather(cursor);
    const Values next = record(noted, ring);
    g_.updates.push_back({cursor, next[0]});
    g_.updates.push_back({ring, next[1]});
  }

 private:
  // Adds a feed node for each input, at the start of the graph. The nodes form a chain through the cursor: each one
  // notes in it which elements are not finite.
  ValueId gather(ValueId cursor) {
    std::vector<std::string> names;
    std::vector<ValueId> made;
    for (const ValueId input : inputs_) {
      b_.insert_at = made.size();
      const std::string name = g_[input].name;
      const Values fed = b_.multi("feed", {cursor}, attrs_of(fed_by(input)), {name, name + ".noted"});
      g_.replace_uses(input, fed[0]);
      names.push_back(name), made.push_back(fed[0]);
      cursor = fed[1];
    }
    b_.insert_at = Builder::kEnd;
    g_.remove_inputs(inputs_);
    for (size_t i = 0; i < made.size(); ++i) g_.rename(made[i], names[i]);
    return cursor;
  }

  FedInput fed_by(ValueId input) const {
    const auto column = std::ranges::find(feeding_.columns, g_[input].name, &FedColumn::input);
    HEDDLE_CHECK(column != feeding_.columns.end(), "no column feeds input '" + g_[input].name + "'");
    HEDDLE_CHECK(g_[input].type.dims.at(0) == rows_, "the inputs of a fed entry have one batch: " + g_.name);
    const bool trains = g_.kind().phase == Phase::train;
    const bool random = trains ? draws(*column) : draws_in_evaluation(*column);
    FedColumn acting = *column;
    if (random && !trains) std::erase_if(acting.maps, [](const DataMap& map) { return map.def->training; });
    FedInput fed{.column = std::move(acting),
                 .type = g_[input].type,
                 .number = column - feeding_.columns.begin(),
                 .first_draw = random ? kCursorColumns + std::ssize(feeding_.columns) : 0};
    if (fed.column.stride == fed.stored_elements()) fed.column.stride = 0;  // whole rows
    return fed;
  }

  Values record(ValueId cursor, ValueId ring) {
    Values operands = {cursor, ring, told(g_, OutputRole::loss)};
    Attrs attrs = {{"records", kRecords}, {"rows", rows_}};
    for (const auto& [name, role] :
         {std::pair("count", OutputRole::count), {"norm", OutputRole::norm}, {"outside", OutputRole::outside}}) {
      const ValueId v = told(g_, role);
      if (!v.valid()) continue;
      operands.push_back(v);
      attrs[name] = true;
    }
    if (const ValueId v = told_scale(g_); v.valid()) operands.push_back(v), attrs["scale"] = true;
    return b_.multi("record", operands, std::move(attrs));
  }

  Graph& g_;
  const Feeding& feeding_;
  std::vector<ValueId> inputs_;
  Builder b_;
  int64_t rows_ = 0;
};

// The feeding of a module. Leaves out columns that no entry reads.
Feeding plan(const Module& m, const std::vector<FedColumn>& columns) {
  Feeding feeding{.columns = columns};
  std::erase_if(feeding.columns, [&](const FedColumn& column) {
    return std::ranges::none_of(m.graphs, [&](const Graph& g) {
      const ValueId v = g.find(column.input);
      return g.kind().takes_rows() && v.valid() && g[v].role == Role::input;
    });
  });
  feeding.draws = std::ranges::any_of(feeding.columns, [](const FedColumn& column) { return draws(column); });
  feeding.norms = std::ranges::any_of(
      m.graphs, [](const Graph& g) { return g.kind().takes_rows() && told(g, OutputRole::norm).valid(); });
  feeding.scales = std::ranges::any_of(m.graphs, [](const Graph& g) { return told_scale(g).valid(); });
  return feeding;
}

}  // namespace

bool feed(Module& m, const Options& options) {
  const Feeding feeding = plan(m, options.columns);
  if (feeding.columns.empty()) return false;
  for (Graph& g : m.graphs)
    if (g.kind().takes_rows()) Feeder(g, feeding).run();
  return true;
}

}  // namespace heddle::passes
