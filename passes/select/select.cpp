#include "passes/select/select.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/check.h"
#include "ir/op_def.h"
#include "passes/outline.h"
#include "passes/select/library.h"

namespace heddle::passes {

using namespace ir;

namespace {

// A vector along the last axis, read by nobody else.
bool is_bias(const Graph& g, ValueId v) {
  const Node* n = g.def(v);
  if (!n || !n->op->traits.spread || !g.only_use(v).valid()) return false;
  const Dims& operand = g[n->operands[0]].type.dims;
  const Dims& result = g[v].type.dims;
  return operand.size() == 1 && operand.back() == result.back() &&
         n->op->traits.spread(*n) == Dims{g[v].type.rank() - 1};
}

// The nodes that add a bias to y, where they follow and nothing else reads what lies between.
std::vector<NodeId> bias_after(const Graph& g, ValueId y) {
  const NodeId add = g.only_use(y);
  if (!add.valid() || g[add].op->traits.arithmetic != Arithmetic::sum) return {};
  const ValueId other = g[add].operands[g[add].operands[0] == y ? 1 : 0];
  if (!is_bias(g, other)) return {};
  return {g[other].def, add};
}

std::vector<NodeId> activation_after(const Graph& g, ValueId y, const Activation& step) {
  const NodeId next = g.only_use(y);
  if (!next.valid() || g[next].operands.size() != 1 || !step.takes(*g[next].op)) return {};
  return {next};
}

// The node and what of the library's epilogue follows it.
std::vector<NodeId> with_epilogue(const Graph& g, NodeId n, const Library& library) {
  std::vector<NodeId> members{n};
  if (g[n].results.size() != 1) return members;
  ValueId y = g[n].results[0];
  for (const EpilogueStep& step : library.epilogue(g[n])) {
    const auto* activation = std::get_if<Activation>(&step);
    const std::vector<NodeId> nodes = activation != nullptr ? activation_after(g, y, *activation) : bias_after(g, y);
    members.insert(members.end(), nodes.begin(), nodes.end());
    y = g[members.back()].results[0];
  }
  return members;
}

std::vector<ValueId> read_results(const Graph& g, NodeId n) {
  std::vector<ValueId> results;
  for (const ValueId r : g[n].results)
    if (!g.unused(r)) results.push_back(r);
  return results;
}

// Tries one library after another for one node.
class Selector {
 public:
  Selector(KernelTable& kernels, Graph& g, const Options& options) : kernels_(kernels), g_(g), options_(options) {}

  // `otherwise` is what happens to a node that no library takes.
  bool take(NodeId n, const std::string& otherwise) {
    const std::string subject = "%" + g_[g_[n].results[0]].name;
    refusals_.clear();
    for (const AvailableLibrary& library : options_.libraries) {
      if (const std::string done = take(n, library); !done.empty()) {
        note(subject, refusals_.empty() ? done : fmt::format("{}; not {}", done, fmt::join(refusals_, "; not ")));
        return true;
      }
    }
    if (options_.libraries.empty()) refusals_.emplace_back("no library");
    note(subject, fmt::format("{}: {}", otherwise, fmt::join(refusals_, "; ")));
    return false;
  }

 private:
  void note(const std::string& subject, std::string reason) const {
    options_.note("select", g_, subject, std::move(reason));
  }

  std::string refuse(const Library& library, const std::string& reason) {
    refusals_.push_back(fmt::format("{}: {}", library.name, reason));
    return {};
  }

  // What the call is like; "" where the library refuses, and the reason is kept.
  std::string take(NodeId n, const AvailableLibrary& available) {
    const Library& library = *available.rules;
    if (const std::string reason = library.refusal(g_, g_[n], options_.target); !reason.empty())
      return refuse(library, reason);
    const std::vector<NodeId> members = with_epilogue(g_, n, library);
    const std::vector<ValueId> results = read_results(g_, members.back());
    Extract e = extract(g_, members, results, Slots::separate);
    e.kernel.name = kernel_name(e.kernel);
    const LibraryPlan plan = library.plan(e.kernel, options_.target);
    KernelForm& form = e.kernel.form.emplace();
    const bool contraction = std::holds_alternative<Contraction>(g_[n].op->kind);
    form.kind = contraction ? KernelForm::Kind::contract : KernelForm::Kind::opaque;
    form.impl = library.name;
    form.slices = plan.slices;
    form.precision = plan.precision;
    const LibraryAnswer answer = available.ask(e.kernel);
    if (!answer.refusal.empty()) return refuse(library, answer.refusal);
    form.workspace = answer.workspace;
    replace_by_call(g_, {members}, e.operands, results, kernels_.add(std::move(e.kernel)));
    return fmt::format("{} in {} slices, {} products, {} bytes of scratch", library.name, plan.slices,
                       to_string(plan.precision), answer.workspace);
  }

  KernelTable& kernels_;
  Graph& g_;
  const Options& options_;
  std::vector<std::string> refusals_;  // of the node at hand
};

}  // namespace

const Node& head_of(const Graph& kernel) {
  const auto leads = [&](NodeId n) {
    const Kind& kind = kernel[n].op->kind;
    return std::holds_alternative<Contraction>(kind) || std::holds_alternative<Composite>(kind);
  };
  const auto head = std::find_if(kernel.order.begin(), kernel.order.end(), leads);
  HEDDLE_CHECK(head != kernel.order.end(), "@" + kernel.name + " holds no contraction and no composite");
  return kernel[*head];
}

bool select_composite(KernelTable& kernels, Graph& g, NodeId composite, const Options& options) {
  if (options.libraries.empty()) return false;
  return Selector(kernels, g, options).take(composite, "expanded");
}

bool select(Module& m, const Options& options) {
  bool changed = false;
  KernelTable kernels(m);
  for (Graph& g : m.graphs) {
    bool taken = false;
    Selector selector(kernels, g, options);
    for (const NodeId n : std::vector<NodeId>(g.order))
      if (std::holds_alternative<Contraction>(g[n].op->kind)) taken |= selector.take(n, "generated text");
    if (taken) sort_topologically(g);
    changed |= taken;
  }
  return changed;
}

}  // namespace heddle::passes
