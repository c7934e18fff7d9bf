#include "passes/select/select.h"

#include <fmt/format.h>

#include <bit>

#include "ir/kernel/cost.h"
#include "ir/op_def.h"
#include "passes/outline.h"

namespace heddle::passes {
namespace {

using namespace ir;

NodeId only_use(const Graph& g, ValueId v) {
  if (g[v].uses.size() != 1 || g.is_output(v) || g.is_next(v)) return {};
  return g[v].uses[0];
}

// A vector along the last axis, read by nobody else.
bool is_bias(const Graph& g, ValueId v) {
  const Node* n = g.def(v);
  if (!n || n->op->name != "broadcast" || g[v].uses.size() != 1) return false;
  const Dims& operand = g[n->operands[0]].type.dims;
  const Dims& result = g[v].type.dims;
  return operand.size() == 1 && operand.back() == result.back() &&
         signature(g, *n).integers("dims") == Dims{g[v].type.rank() - 1};
}

class Selector {
 public:
  Selector(Module& m, Graph& g, const Options& options) : m_(m), g_(g), options_(options) {}

  bool run() {
    bool changed = false;
    for (NodeId n : std::vector<NodeId>(g_.order))
      if (std::holds_alternative<Contraction>(g_[n].op->kind)) changed |= take(n);
    if (changed) sort_topologically(g_);
    return changed;
  }

 private:
  void note(NodeId n, std::string reason) const {
    options_.note("select", g_, "%" + g_[g_[n].results[0]].name, std::move(reason));
  }

  bool take(NodeId n) {
    if (std::string reason = refusal(n); !reason.empty()) {
      note(n, "generated text: " + reason);
      return false;
    }
    std::vector<NodeId> members{n};
    add_epilogue(members);
    Extract e = extract(g_, {members}, Slots::separate);
    e.kernel.name = kernel_name(e.kernel);
    KernelForm& form = e.kernel.form.emplace();
    form.kind = KernelForm::Kind::contract;
    form.impl = "onednn";
    form.slices = slices(n, e.kernel);
    int64_t workspace = options_.workspace(e.kernel);
    if (workspace < 0) {
      note(n, "generated text: onednn has no such primitive");
      return false;
    }
    form.workspace = workspace;
    note(n, fmt::format("onednn in {} slices, {} bytes of scratch", form.slices, workspace));
    replace_by_call(m_, g_, {members}, std::move(e));
    return true;
  }

  std::string refusal(NodeId n) const {
    if (!options_.workspace) return "no library";
    if (options_.target.gpu) return "no library for " + options_.target.name;
    for (ValueId v : g_[n].operands)
      if (g_[v].type.dtype != DType::f32) return "onednn is used for f32 only, not " + to_string(g_[v].type.dtype);
    return {};
  }

  // Appends broadcast, add and relu where they follow, and nothing else reads what lies between.
  void add_epilogue(std::vector<NodeId>& members) {
    NodeId head = members[0];
    bool takes_epilogue = g_[head].op->name == "matmul" || g_[head].op->name == "conv2d";
    if (!takes_epilogue) return;
    ValueId y = g_[head].results[0];
    if (NodeId add = only_use(g_, y); add.valid() && g_[add].op->name == "add") {
      ValueId other = g_[add].operands[g_[add].operands[0] == y ? 1 : 0];
      if (is_bias(g_, other)) {
        members.push_back(g_[other].def);
        members.push_back(add);
        y = g_[add].results[0];
      }
    }
    if (NodeId relu = only_use(g_, y); relu.valid() && g_[relu].op->name == "relu") members.push_back(relu);
  }

  // A slice is worked off by one thread: about 16 images, so that activations stay in its cache, but at least 4 million
  // operations, or the start costs more than it brings.
  int64_t slices(NodeId n, const Graph& kernel) const {
    constexpr double kLeastFlops = 4e6;
    constexpr int64_t kRows = 16, kMost = 64;
    const Node& node = g_[n];
    const Dims& result = g_[node.results[0]].type.dims;
    auto by_flops = static_cast<int64_t>(kernel_cost(kernel, options_.target).flops / kLeastFlops);
    if (node.op->name != "matmul") {
      bool filter = node.op->name == "conv2d_filter_grad";
      int64_t images = filter ? g_[node.operands[0]].type.dims[0] : result[0];
      return std::clamp<int64_t>(
          std::min(by_flops, std::max((images + kRows - 1) / kRows, std::min<int64_t>(images, 8))), 1, kMost);
    }
    int64_t rows = 1;  // of all matrices of the batch
    for (size_t i = 0; i + 1 < result.size(); ++i) rows *= result[i];
    int64_t most = std::clamp<int64_t>(std::min(by_flops, rows / kRows), 1, kMost);
    if (result.size() > 2) most = std::min(most, rows / result[result.size() - 2]);  // whole matrices only
    return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(most)));
  }

  Module& m_;
  Graph& g_;
  const Options& options_;
};

}  // namespace

bool select(Module& m, const Options& options) {
  bool changed = false;
  for (Graph& g : m.graphs) changed |= Selector(m, g, options).run();
  return changed;
}

}  // namespace heddle::passes
