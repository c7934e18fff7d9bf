#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "ir/op_def.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "ir/verify/verify.h"
#include "passes/pipeline.h"
#include "tests/random/attention_bound.h"
#include "tests/random/check.h"
#include "tests/random/data.h"
#include "tests/random/error_bound.h"
#include "tests/support/host_run.h"
#include "tests/support/unroll.h"

namespace heddle::testing {
using namespace ir;
namespace {

class PassCheck {
 public:
  explicit PassCheck(const Module& m) : m_(m) {
    for (const Graph& g : m.graphs) states_.merge(random_data(g));
  }

  std::vector<Fault> run() {
    expect_meaning();
    for (const passes::Pass& pass : passes::all_passes()) {
      stage_ = fmt::format("pass {}", pass.name);
      apply(pass);
      if (!faults_.empty()) return faults_;
      compare_meaning(false);
      if (!faults_.empty()) return faults_;
    }
    stage_ = "arena";
    compare_meaning(true);
    return faults_;
  }

 private:
  void fault(const std::string& graph, std::string text) { faults_.push_back({graph, stage_, std::move(text)}); }
  const std::string& name() const { return m_.graphs[0].name; }

  void apply(const passes::Pass& pass) {
    passes::Options options = host_options();
    std::set<std::string> explained;  // edges of which a remark was made: "g17: %a -> %b"
    options.remark = [&](const passes::Remark& r) { explained.insert(edge(r.graph, r.subject)); };
    const Module before = m_;
    const bool changed = pass.run(m_, options);
    if (!changed && !structurally_equal(before, m_)) fault(name(), "changes the module and does not say so");
    for (const std::string& problem : verify(m_)) fault(name(), problem);
    if (pass.name == "fuse") expect_reasons(before, explained);
    if (!faults_.empty()) return;
    options.remark = {};
    const SourceFile printed{"printed", print(m_)};
    if (!structurally_equal(m_, parse(printed))) fault(name(), "its text does not read back equal");
    Module again = m_;
    if (pass.run(again, options) || !structurally_equal(m_, again)) fault(name(), "changes its own result");
  }

  bool is_generated(const Node& n) const {
    const Graph* kernel = n.callee.empty() ? nullptr : m_.find_kernel(n.callee);
    return kernel != nullptr && kernel->schedule && !calls_library(*kernel);
  }

  static std::string edge(const std::string& graph, const std::string& subject) { return graph + ": " + subject; }

  // The first results of the nodes that a call's results come from, in the graph before its kernels were made.
  static std::set<std::string> sources_of(const Graph& plain, const Graph& g, const Node& call) {
    std::set<ValueId> needed;
    for (const ValueId v : call.results) needed.insert(plain.find(g[v].name));
    std::set<std::string> names;
    for (auto id = plain.order.rbegin(); id != plain.order.rend(); ++id) {
      const Node& n = plain[*id];
      if (std::none_of(n.results.begin(), n.results.end(), [&](ValueId v) { return needed.count(v) != 0; })) continue;
      needed.insert(n.operands.begin(), n.operands.end());
      names.insert(plain[n.results[0]].name);
    }
    return names;
  }

  // Where one generated kernel reads what another computes, a remark says why they are two. What is moved, cast or made
  // from scalars counts as no edge: copies of it belong to whoever reads it.
  void expect_reasons(const Module& before, const std::set<std::string>& explained) {
    for (size_t i = 0; i < m_.graphs.size(); ++i) {
      const Graph &g = m_.graphs[i], &plain = before.graphs[i];
      for (const NodeId id : g.order)
        for (const ValueId v : g[id].operands) {
          const Node* call = g.def(v);
          const ValueId computed = plain.find(g[v].name);
          if (!is_generated(g[id]) || call == nullptr || !is_generated(*call) || !computed.valid()) continue;
          const Node* def = plain.def(computed);
          if (def == nullptr || is_copied(plain, *def)) continue;
          const std::set<std::string> readers = sources_of(plain, g, g[id]);
          const std::string& from = plain[def->results[0]].name;
          if (std::none_of(readers.begin(), readers.end(), [&](const std::string& to) {
                return explained.count(edge(plain.name, fmt::format("%{} -> %{}", from, to))) != 0;
              }))
            fault(g.name, fmt::format("%{} passes from kernel to kernel without a remark", g[v].name));
        }
    }
  }

  static bool is_copied(const Graph& g, const Node& n) {
    if (!std::holds_alternative<Elementwise>(n.op->kind))
      return std::holds_alternative<Source>(n.op->kind) || std::holds_alternative<Movement>(n.op->kind) ||
             std::holds_alternative<Lookup>(n.op->kind);
    return n.op->name == "cast" || std::all_of(n.operands.begin(), n.operands.end(), [&](ValueId v) {
             return g[v].type.elements() == 1 || (g.def(v) != nullptr && is_copied(g, *g.def(v)));
           });
  }

  // Composites are compared with what they decompose into, scans with their turns written out.
  void expect_meaning() {
    Module plain = differentiated(unrolled(m_));
    passes::find_pass("decompose")->run(plain, {});
    for (const Graph& g : plain.graphs) {
      BoundedEvaluation& e = expected_.emplace_back(evaluate_with_bounds(g, inputs_of(g), Precision::exact));
      for (Bounded& output : e.outputs) allow_two_roundings(output);
      for (auto& [state, next] : e.updated) allow_two_roundings(next);
      if (!holds_attention()) continue;
      for (Bounded& output : e.outputs) allow_hidden_values(output);
      for (auto& [state, next] : e.updated) allow_hidden_values(next);
    }
  }

  bool holds_attention() const {
    for (const Graph* g : m_.all_graphs())
      for (const NodeId n : g->order)
        if (is_attention(*(*g)[n].op)) return true;
    return false;
  }

  // Where a query sees a value that is not finite, decomposed attention may add another one to it that is hidden, and
  // the oracle does not (ir/ops/attention_graph.cpp).
  static void allow_hidden_values(Bounded& b) {
    for (size_t i = 0; i < b.value.real.size(); ++i)
      if (!std::isfinite(b.value.real[i])) b.error[i] = std::numeric_limits<double>::infinity();
  }

  // What is expected and what is compared with it are both computed in doubles.
  static void allow_two_roundings(Bounded& b) {
    for (double& error : b.error) error *= 2;
  }

  // Passes may have changed the states, but no input.
  NamedTensors inputs_of(const Graph& g) const {
    NamedTensors inputs = states_;
    for (const ValueId v : g.inputs)
      if (g[v].role == Role::input) inputs[g[v].name] = random_data(g, v);
    return inputs;
  }

  void compare_meaning(bool through_arena) {
    const Module m = differentiated(m_);
    for (size_t i = 0; i < m.graphs.size(); ++i) {
      const Graph& g = m.graphs[i];
      Evaluation got = evaluate(m, g, flatten_states(m, inputs_of(g)), {.through_arena = through_arena});
      for (size_t k = 0; k < got.outputs.size(); ++k) {
        const std::string apart = compare(expected_[i].outputs[k], got.outputs[k]);
        if (!apart.empty()) fault(g.name, fmt::format("output {}: {}", k, apart));
      }
      for (const auto& [state, next] : unflatten_states(m, std::move(got.updated))) {
        const std::string apart = compare(expected_[i].updated.at(state), next);
        if (!apart.empty()) fault(g.name, fmt::format("state %{}: {}", state, apart));
      }
    }
  }

  Module m_;
  NamedTensors states_;  // and inputs, which several graphs may name alike
  std::string stage_;
  std::vector<BoundedEvaluation> expected_;  // by graph
  std::vector<Fault> faults_;
};

}  // namespace

std::vector<Fault> check_passes(const Module& m) { return PassCheck(m).run(); }

}  // namespace heddle::testing
