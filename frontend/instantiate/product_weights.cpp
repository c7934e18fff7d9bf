#include "frontend/instantiate/product_weights.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "ir/op_def.h"
#include "ir/scan.h"

namespace heddle::frontend {
namespace {

using Axes = std::vector<int64_t>;  // of a value: the parameter's axis that each is; kMixed: none alone
constexpr int64_t kMixed = -1;

// Follows the elements of a parameter to the operators that read them.
class Readers {
 public:
  explicit Readers(const std::vector<ir::Graph>& bodies) : bodies_(bodies) {}

  void follow(const ir::Graph& g, ir::ValueId v, const Axes& axes) {
    for (const ir::NodeId id : g[v].uses) {
      const ir::Node& node = g[id];
      for (size_t i = 0; i < node.operands.size(); ++i)
        if (node.operands[i] == v) read(g, node, i, axes);
    }
  }
  std::optional<ProductWeight> found() const {
    for (const WeightUse use : {WeightUse::table, WeightUse::matrix, WeightUse::filter})
      if (const auto axis = axes_.find(use); axis != axes_.end())
        return ProductWeight{.name = {}, .use = use, .axis = axis->second};
    return std::nullopt;
  }

 private:
  // The first reader says it; an axis that movements have mixed with others counts as axis 0.
  void add(WeightUse use, int64_t axis) { axes_.emplace(use, std::max<int64_t>(axis, 0)); }

  void read(const ir::Graph& g, const ir::Node& node, size_t operand, const Axes& axes) {
    if (ir::is_scan(node)) return read_in_body(node, operand, axes);
    const ir::Traits& traits = node.op->traits;
    const size_t last = axes.size() - 1;
    if (traits.matrix_product) {
      const bool turned = ir::signature(g, node).flag(operand == 0 ? "transpose_a" : "transpose_b");
      add(WeightUse::matrix, axes[(operand == 0) == turned ? last : last - 1]);
    } else if (traits.convolution && traits.convolution->filter == static_cast<int>(operand)) {
      add(WeightUse::filter, axes[traits.convolution->image == ir::ConvolutionRoles::kMade ? last : 0]);
    } else if (traits.rows_along != nullptr && operand == 0) {
      const int64_t axis = traits.rows_along(node);
      add(WeightUse::table, axes[static_cast<size_t>(axis < 0 ? axis + std::ssize(axes) : axis)]);
    } else if (const std::optional<Axes> moved = moved_axes(g, node, axes)) {
      follow(g, node.results[0], *moved);
    }
  }

  void read_in_body(const ir::Node& scan, size_t operand, const Axes& axes) {
    const ir::Graph& body = *std::ranges::find(bodies_, scan.callee, &ir::Graph::name);
    const ir::ValueId input = ir::operand_inputs(body)[operand];
    if (body[input].role == ir::Role::fixed) follow(body, input, axes);
    if (body[input].role == ir::Role::slice) follow(body, input, {axes.begin() + 1, axes.end()});
  }

  // Nothing where the node computes something of the elements.
  static std::optional<Axes> moved_axes(const ir::Graph& g, const ir::Node& node, const Axes& axes) {
    const ir::Traits& traits = node.op->traits;
    const ir::Dims &from = g[node.operands[0]].type.dims, &to = g[node.results[0]].type.dims;
    Axes moved(to.size(), kMixed);
    if (traits.permutation != nullptr) {
      const ir::AxisList permutation = traits.permutation(node);
      for (size_t k = 0; k < moved.size(); ++k) moved[k] = axes[static_cast<size_t>(permutation[k])];
    } else if (traits.reshapes) {  // axes in front of those that are joined or cut
      for (size_t k = 0; k < std::min(from.size(), to.size()) && from[k] == to[k]; ++k) moved[k] = axes[k];
    } else if (traits.spread != nullptr) {
      const ir::AxisList spread = traits.spread(node);
      for (size_t k = 0; k < spread.size(); ++k) moved[static_cast<size_t>(spread[k])] = axes[k];
    } else if (traits.slice != nullptr || traits.padding != nullptr || traits.reversal != nullptr || traits.converts ||
               traits.joined_along != nullptr) {
      moved = axes;
    } else {
      return std::nullopt;
    }
    return moved;
  }

  const std::vector<ir::Graph>& bodies_;
  std::map<WeightUse, int64_t> axes_;
};

}  // namespace

namespace {

std::optional<ProductWeight> product_weight(const Instance& e, const Parameter& p) {
  const size_t rank = p.type.dims.size();
  if (p.role != ir::Role::param || p.type.dtype != ir::DType::f32 || rank < 2) return std::nullopt;
  const auto quantized = std::ranges::find(e.quantized, p.path, &QuantizedWeight::path);
  if (quantized != e.quantized.end())  // products read whole numbers that are made of it
    return ProductWeight{p.path, rank == 2 ? WeightUse::matrix : WeightUse::filter, quantized->outputs};
  Axes axes(p.layout.begin(), p.layout.end());  // as it lies in memory
  if (axes.empty()) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  Readers readers(e.bodies);
  readers.follow(e.graph, p.value, axes);
  std::optional<ProductWeight> found = readers.found();
  if (found) found->name = p.path;
  return found;
}

}  // namespace

std::vector<ProductWeight> product_weights(ModelInstances& instances, int64_t batch) {
  Diagnostics errors;
  const Instance& e = instances.at({.batch = batch, .training = false}, errors);
  errors.throw_if_any();
  std::vector<ProductWeight> out;
  for (const Parameter& p : e.parameters)
    if (const auto found = product_weight(e, p)) out.push_back(*found);
  return out;
}

void note_outputs(Instance& e) {
  for (Parameter& p : e.parameters)
    if (const auto found = product_weight(e, p)) p.outputs = found->axis;
}

}  // namespace heddle::frontend
