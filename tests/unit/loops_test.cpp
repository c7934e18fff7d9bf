// The meaning of loops: an interpreter executes those of many kernels. It follows which elements each accumulator takes
// and which elements are stored, so it asks for no numbers.
#include "ir/loop/loops.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "ir/op_def.h"
#include "ir/text/parse.h"
#include "ir/visit.h"
#include "passes/pipeline.h"
#include "tests/support/source_dir.h"
#include "tools/command/read_file.h"

namespace heddle::ir::loop {
namespace {

class Execution {
 public:
  explicit Execution(const Graph& k) : k_(k), plan_(plan_kernel(k)) {}

  std::vector<std::string> run(const Statements& loops) {
    write(loops);
    for (const ValueId v : k_.outputs)
      for (int64_t i = 0; i < k_[v].type.elements(); ++i)
        if (stored_[v][i] != 1)
          problem(fmt::format("element {} of %{} is stored {} times", i, k_[v].name, stored_[v][i]));
    return problems_;
  }
  std::vector<std::string> run() { return run(loops_of(k_, plan_)); }

 private:
  void problem(const std::string& text) { problems_.push_back("@" + k_.name + ": " + text); }
  void write(const Statements& all) {
    for (const Statement& s : all) std::visit([&](const auto& what) { write(what); }, s.what);
  }
  int64_t place(ValueId v, const IndexMap& at) const { return evaluate(linear_offset(at, k_[v].type.dims), at_); }

  // --- nests ---

  void over(const std::vector<std::pair<int, int64_t>>& axes, const Statements& body, size_t depth = 0) {
    if (depth == axes.size()) return write(body);
    const auto axis = static_cast<size_t>(axes[depth].first);
    for (at_[axis] = 0; at_[axis] < axes[depth].second; ++at_[axis]) over(axes, body, depth + 1);
    at_[axis] = 0;
  }

  void write(const Nest& nest) {
    const Dims& e = nest.extents;
    switch (nest.axis) {
      case Axis::points: return over({{kRow, e[0]}, {kColumn, e[1]}}, nest.body);
      case Axis::rows: return over({{kRow, e[0]}}, nest.body);
      case Axis::span:
      case Axis::columns:
      case Axis::last_columns: return over({{kColumn, e[0]}}, nest.body);
      case Axis::tiles:
      case Axis::products: space_ = e; break;
      case Axis::down:
      case Axis::along:
      case Axis::sums: return over({{kMatrix, space_[2]}, {kRow, space_[0]}, {kColumn, space_[1]}}, nest.body);
      case Axis::steps:
      case Axis::last_part:
      case Axis::last_block:
      case Axis::one_of_team:
      case Axis::one_of_block:
      case Axis::one_of_all: break;
    }
    write(nest.body);
  }

  // --- sums ---

  using Sum = std::pair<NodeId, int64_t>;  // and the row or column
  ReductionPlan how(NodeId id) const { return plan_.of(k_[id].results[0]).reduction; }
  Sum here(NodeId id) const {
    const ReductionPlan plan = how(id);
    return {id, plan == ReductionPlan::row ? at_[kRow] : plan == ReductionPlan::column ? at_[kColumn] : 0};
  }

  void write(const Clear& s) {
    if (how(s.reduction) == ReductionPlan::row) taken_[here(s.reduction)].clear();
  }
  void write(const Accumulate& s) {
    const std::vector<ValueId>& operands = k_[s.reduction].operands;
    Dims element;
    for (size_t i = 0; i < operands.size(); ++i) {
      need(operands[i]);
      element.push_back(place(operands[i], s.element.operands[i]));
    }
    taken_[here(s.reduction)].push_back(element);
  }

  // Its accumulator has taken each element that the reduction's result is made of, once.
  void complete(const Sum& sum) {
    const Node& n = k_[sum.first];
    const Signature s = signature(k_, n);
    ReductionDomain d;
    reduction_domain(s, d);
    const ReductionAccess access = inner_reduction(s, d, access_at({1, 1}, IndexExpr(sum.second), s.results[0].dims));
    std::vector<Dims> wanted;
    for (int64_t point = 0; point < product(access.loops); ++point) {
      Dims at(2 + access.loops.size(), 0), element;
      int64_t rest = point;
      for (size_t i = access.loops.size(); i-- > 0; rest /= access.loops[i]) at[2 + i] = rest % access.loops[i];
      for (size_t i = 0; i < n.operands.size(); ++i)
        element.push_back(evaluate(linear_offset(access.operands[i], s.operands[i].dims), at));
      wanted.push_back(element);
    }
    std::vector<Dims>& taken = taken_[sum];
    std::sort(wanted.begin(), wanted.end());
    std::sort(taken.begin(), taken.end());
    if (taken != wanted)
      problem(fmt::format("%{} at {} took {} elements, not those {}", k_[n.results[0]].name, sum.second, taken.size(),
                          wanted.size()));
    known_.insert(sum);
  }
  void write(const Combine& s) { complete(here(s.reduction)); }
  void write(const Put& s) { put_.insert(s.partials); }
  void write(const AddBlocks& s) {
    if (!put_.contains(s.partials)) problem("blocks are added before they have left anything");
    added_.insert(s.partials);
  }
  void write(const Take& s) {
    const NodeId id = plan_.partials[s.partials].reduction;
    const auto& ready = how(id) == ReductionPlan::column ? added_ : put_;
    if (!ready.contains(s.partials)) problem("a sum is taken before it is there");
    complete(here(id));
  }

  // --- elements ---

  // What the value is made of must be known here.
  void need(ValueId v) {
    for (const NodeId id : sums_below(v))
      if (!known_.contains(here(id))) problem(fmt::format("%{} is needed too early", k_[k_[id].results[0]].name));
  }
  const std::set<NodeId>& sums_below(ValueId v) {
    const auto [known, is_new] = below_.try_emplace(v);
    const Node* n = k_.def(v);
    if (!is_new || n == nullptr) return known->second;
    std::set<NodeId> below;
    const ReductionPlan plan = plan_.of(v).reduction;
    if (plan == ReductionPlan::row || plan == ReductionPlan::column || plan == ReductionPlan::total)
      below.insert(k_[v].def);
    else
      for (const ValueId o : n->operands) below.insert(sums_below(o).begin(), sums_below(o).end());
    return below_[v] = below;
  }

  void write(const Single& s) { need(s.value); }
  void write(const Store& s) {
    need(s.value);
    if (std::holds_alternative<schedules::Product>(k_.schedule->how) && !multiplied_)
      problem("a sum is stored before it is there");
    ++stored_[s.value][place(s.value, s.at)];
  }
  void write(const Stage& s) { staged_.emplace(s.staged.value, place(s.staged.value, s.staged.at)), turned_ = false; }
  void write(const TurnTiles&) { turned_ = true; }
  void write(const Unstage& s) {
    if (!turned_ || !staged_.contains({s.staged.value, place(s.staged.value, s.staged.at)}))
      problem("an element is taken from a tile that does not hold it");
  }
  void write(const Fill& s) { filled_.insert(s.left); }
  void write(const Multiply&) { multiplied_ = filled_.size() == 2; }
  void write(const CallPrimitive& s) {
    for (const ValueId v : k_[s.node].results)
      for (int64_t i = 0; i < k_[v].type.elements(); ++i) ++stored_[v][i];
  }
  void write(const OneOf<Keep, Ahead> auto&) {}

  const Graph& k_;
  const KernelPlan plan_;
  Dims at_ = {0, 0, 0, 0}, space_;
  std::map<Sum, std::vector<Dims>> taken_;
  std::set<Sum> known_;
  std::set<size_t> put_, added_;
  std::map<ValueId, std::set<NodeId>> below_;
  std::map<ValueId, std::map<int64_t, int>> stored_;
  std::set<std::pair<ValueId, int64_t>> staged_;
  std::set<bool> filled_;
  bool turned_ = false, multiplied_ = false;
  std::vector<std::string> problems_;
};

constexpr int64_t kMostPoints = 1 << 16;

int64_t points(const Graph& k) {
  const schedules::OverDomain* schedule = over_domain(*k.schedule);
  int64_t most = schedule != nullptr ? product(schedule->domain) : 1;
  for (const ValueId v : k.inputs) most = std::max(most, k[v].type.elements());
  return most;
}

// Those that are small.
int execute(const Module& m) {
  int executed = 0;
  for (const Graph& k : m.kernels) {
    if (!k.schedule || calls_library(k) || !plan_kernel(k).ok() || points(k) > kMostPoints) continue;
    for (const std::string& problem : Execution(k).run()) ADD_FAILURE() << problem;
    ++executed;
  }
  return executed;
}

TEST(Loops, OfWrittenKernelsDoWhatTheyMean) {
  int executed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(testing::source_dir() / "tests/codegen")) {
    if (entry.path().extension() != ".hir") continue;
    const SourceFile file = tools::read_file(entry.path().string());
    executed += execute(parse(file));
  }
  EXPECT_GT(executed, 50);
}

TEST(Loops, OfFusedKernelsDoWhatTheyMean) {
  int executed = 0;
  for (const char* target : {"host", "h200"})
    for (const auto& entry : std::filesystem::directory_iterator(testing::source_dir() / "tests/property/graphs")) {
      const SourceFile file = tools::read_file(entry.path().string());
      Module m = parse(file);
      passes::Options options;
      options.target = target_by_name(target);
      passes::run_pipeline(m, options, {.to = "fuse", .after = {}});
      executed += execute(m);
    }
  EXPECT_GT(executed, 50);
}

// A row's maximum, what is left of the row, and the sums of its columns.
struct Example {
  SourceFile file{
      "test.hir",
      R"(kernel @f(%x: f32[8,64]) {blocks = 4, domain = [8,64], schedule = "rows", split = 1, workspace = 1024} {
    %m: f32[8] = reduce_max(%x) {axes = [1]}
    %all: f32[8,64] = broadcast(%m) {dims = [0], shape = [8,64]}
    %y: f32[8,64] = sub(%x, %all)
    %s: f32[64] = reduce_sum(%y) {axes = [0]}
    return %y, %s
  })"};
  Module m = parse(file);
  Statements loops = loops_of(m.kernels[0], plan_kernel(m.kernels[0]));

  Statements& rows() {
    for (Statement& s : loops)
      if (auto* nest = std::get_if<Nest>(&s.what); nest != nullptr && nest->axis == Axis::rows) return nest->body;
    return loops;
  }
  std::vector<std::string> problems() const { return Execution(m.kernels[0]).run(loops); }
};

TEST(Loops, TheInterpreterFindsWhatIsLeftOut) {
  EXPECT_TRUE(Example().problems().empty());
  Example second_pass_first;  // clear, pass 0, combine, pass 1
  Statements& rows = second_pass_first.rows();
  ASSERT_EQ(rows.size(), 4U);
  std::swap(rows[1], rows[3]);
  EXPECT_FALSE(second_pass_first.problems().empty());
  Example twice;
  twice.rows().push_back(twice.rows().back());
  EXPECT_FALSE(twice.problems().empty());
  Example nothing_left;
  std::erase_if(nothing_left.loops, [](const Statement& s) { return std::holds_alternative<Put>(s.what); });
  EXPECT_FALSE(nothing_left.problems().empty());
}

}  // namespace
}  // namespace heddle::ir::loop
