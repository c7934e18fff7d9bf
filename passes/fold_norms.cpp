#include "passes/fold_norms.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ir/builder.h"
#include "ir/wholes.h"
#include "passes/dead_code.h"
#include "passes/of_parameters.h"
#include "passes/rewrite.h"

namespace heddle::passes {
using namespace ir;

namespace {

// One step of a chain: x + c, x - c or x * c; with `turned`, c - x. `rows` is x. `fixed` is c, one value per channel or
// one for all.
struct Step {
  NodeId node;
  Arithmetic how = Arithmetic::none;
  bool turned = false;
  ValueId rows, fixed;
};
// Steps that follow each other, the last one first, and `from`, the value that the first step reads.
struct Chain {
  std::vector<Step> steps;
  ValueId from;
};
// y = x * scale + shift, both f32[channels]. An invalid scale means 1, an invalid shift 0.
struct Affine {
  ValueId scale, shift;
};
// A product by a weight, with the channels on the last axis of its result.
struct Product {
  NodeId node;
  size_t weight = 0;          // operand number of the weight
  int64_t channels = 0;       // axis of the channels in the weight
  std::vector<NodeId> moves;  // reshapes of the result that keep the last axis, the last one first
};

class Folding {
 public:
  Folding(const Module& m, Graph& g, const Options& options) : g_(g), options_(options), fixed_(m, g), b_(g) {}
  bool run() {
    return rewrite_nodes(g_, [&](NodeId n) { return visit(n); });
  }

 private:
  // Folds or shortens the chain that ends with this node. Returns whether the node is replaced.
  bool visit(NodeId id) {
    const std::optional<Step> last = step(id);
    if (!last || goes_on(id)) return false;
    const Chain chain = chain_to(*last);
    std::string why;
    const std::optional<Product> product = product_before(chain.from, why);
    const bool scales =
        std::ranges::any_of(chain.steps, [](const Step& s) { return s.how == Arithmetic::product || s.turned; });
    const bool shifts = std::ranges::any_of(chain.steps, [](const Step& s) { return s.how != Arithmetic::product; });
    const std::string name = g_[g_[id].results[0]].name;
    if (scales && product) {
      fold(chain, *product, name);
    } else if (chain.steps.size() > static_cast<size_t>(scales) + static_cast<size_t>(shifts)) {
      shorten(chain, name);
    } else {
      return false;
    }
    if (!scales || !product)
      options_.note("fold_norms", g_, "%" + name, "one scale and one shift: " + (scales ? why : "nothing is scaled"));
    return true;
  }

  std::optional<Step> step(NodeId id) {
    const Node& n = g_[id];
    const Type& type = g_[n.results[0]].type;
    const Arithmetic how = n.op->traits.arithmetic;
    if (how == Arithmetic::none || type.dtype != DType::f32 || type.rank() < 2) return std::nullopt;
    for (const size_t rows : {size_t{0}, size_t{1}}) {
      const ValueId x = n.operands[rows], c = n.operands[1 - rows];
      if (!fixed_.is_fixed(x) && fixed_.is_fixed(c) && is_per_channel(c))
        return Step{
            .node = id, .how = how, .turned = how == Arithmetic::difference && rows == 1, .rows = x, .fixed = c};
    }
    return std::nullopt;
  }

  bool is_per_channel(ValueId c) const {
    const Node* n = g_.def(c);
    if (n == nullptr) return false;
    if (n->op->traits.splat != nullptr) return true;
    if (n->op->traits.spread == nullptr) return false;
    const Type& from = g_[n->operands[0]].type;
    if (from.elements() == 1) return true;
    const int64_t channels = g_[c].type.dims.back();
    return from.elements() == channels && from.dims.back() == channels &&
           n->op->traits.spread(*n).back() + 1 == g_[c].type.rank();
  }

  // Whether the only reader of the node's result is another step.
  bool goes_on(NodeId id) {
    const ValueId y = g_[id].results[0];
    const NodeId use = g_.only_use(y);
    if (!use.valid()) return false;
    const std::optional<Step> next = step(use);
    return next && next->rows == y;
  }

  Chain chain_to(const Step& last) {
    Chain chain{.steps = {last}, .from = last.rows};
    while (g_.only_use(chain.from).valid() && g_[chain.from].def.valid()) {
      const std::optional<Step> before = step(g_[chain.from].def);
      if (!before) break;
      chain.steps.push_back(*before);
      chain.from = before->rows;
    }
    return chain;
  }

  std::optional<Product> product_before(ValueId v, std::string& why) {
    Product found;
    const int64_t channels = g_[v].type.dims.back();
    const Node* n = g_.def(v);
    while (n != nullptr && n->op->traits.reshapes && g_.only_use(v).valid()) {
      const Dims& dims = g_[n->operands[0]].type.dims;
      if (dims.empty() || dims.back() != channels) break;
      found.moves.push_back(g_[v].def);
      v = n->operands[0], n = g_.def(v);
    }
    if (n == nullptr || !std::holds_alternative<Contraction>(n->op->kind)) {
      why = "no product is before it";
      return std::nullopt;
    }
    found.node = g_[v].def;
    why = conflict(v, *n, found);
    return why.empty() ? std::optional(found) : std::nullopt;
  }

  // Why no weight can take the scale. If one can, returns "" and sets its place in `found`.
  std::string conflict(ValueId y, const Node& n, Product& found) {
    if (!g_.only_use(y).valid()) return fmt::format("%{} has other readers", g_[y].name);
    if (n.op->find_attr("precision") != nullptr && signature(g_, n).text("precision") != "f32")
      return fmt::format("%{} rounds its operands", g_[y].name);
    if (n.op->traits.matrix_product) {
      found.weight = 1;
      const int64_t rank = g_[n.operands[1]].type.rank();
      found.channels = signature(g_, n).flag("transpose_b") ? rank - 2 : rank - 1;
    } else if (const std::optional<ConvolutionRoles>& roles = n.op->traits.convolution) {
      if (roles->filter == ConvolutionRoles::kMade) return fmt::format("%{} is no product by a weight", g_[y].name);
      found.weight = static_cast<size_t>(roles->filter);
      const Dims& filter = g_[n.operands[found.weight]].type.dims;
      found.channels = roles->result == ConvolutionRoles::kMade ? 0 : std::ssize(filter) - 1;
      if (filter[static_cast<size_t>(found.channels)] != g_[y].type.dims.back())
        return fmt::format("%{} has its channels in groups", g_[y].name);
    } else {
      return fmt::format("%{} is no product by a weight", g_[y].name);
    }
    if (reads_wholes(g_, n)) return fmt::format("%{} is a product of whole numbers", g_[y].name);
    const ValueId weight = n.operands[found.weight];
    if (g_[weight].type.dtype != DType::f32 || !fixed_.is_of_parameters(weight))
      return fmt::format("%{} is no product by a weight", g_[y].name);
    return {};
  }

  void fold(const Chain& chain, const Product& product, const std::string& name) {
    const Node& n = g_[product.node];
    const std::string of = g_[n.results[0]].name;
    b_.loc = n.loc;
    const Affine affine = of_chain(chain, name);
    const ValueId w = n.operands[product.weight];
    const ValueId scale =
        b_("broadcast", {affine.scale}, {{"dims", Dims{product.channels}}, {"shape", b_.type(w).dims}});
    std::vector<ValueId> operands = n.operands;
    operands[product.weight] = b_("mul", {w, scale}, {}, g_[w].name + ".scaled");
    const ValueId made = b_(n.op->name, operands, n.attrs, of);
    ValueId y = made;
    for (auto move = product.moves.rbegin(); move != product.moves.rend(); ++move)
      y = b_.reshape(y, Dims(b_.type(g_[*move].results[0]).dims));
    if (affine.shift.valid()) y = shifted(y, affine.shift);
    finish(chain, y, name);
    for (const NodeId move : product.moves) unlink(g_, move);
    unlink(g_, product.node);
    if (made != y) g_.rename(made, of);
    options_.note("fold_norms", g_, "%" + name, fmt::format("{}%{}, the weights of %{}", kFoldedInto, g_[w].name, of));
  }

  void shorten(const Chain& chain, const std::string& name) {
    b_.loc = g_[chain.steps.front().node].loc;
    const Affine affine = of_chain(chain, name);
    ValueId y = chain.from;
    if (affine.scale.valid()) y = b_("mul", {y, along(affine.scale, y)}, {}, name + ".scaled");
    if (affine.shift.valid()) y = shifted(y, affine.shift);
    finish(chain, y, name);
  }

  ValueId along(ValueId channels, ValueId y) {
    const Dims dims = b_.type(y).dims;
    return b_("broadcast", {channels}, {{"dims", Dims{std::ssize(dims) - 1}}, {"shape", dims}});
  }
  ValueId shifted(ValueId y, ValueId shift) { return b_("add", {y, along(shift, y)}); }

  // `y` takes the place of the chain's result.
  void finish(const Chain& chain, ValueId y, const std::string& name) {
    g_.replace_uses(g_[chain.steps.front().node].results[0], y);
    for (const Step& s : chain.steps) unlink(g_, s.node);
    g_.rename(y, name);
  }

  // c as f32[channels].
  ValueId channels_of(ValueId c) {
    const Node& n = *g_.def(c);
    const Dims channels{b_.type(c).dims.back()};
    if (n.op->traits.splat != nullptr) return b_.constant(n.op->traits.splat(n), {DType::f32, channels});
    const ValueId from = n.operands[0];
    if (b_.type(from).elements() == channels[0]) return b_.reshape(from, channels);
    return b_("broadcast", {b_.reshape(from, {})}, {{"dims", Dims{}}, {"shape", channels}});
  }

  Affine of_chain(const Chain& chain, const std::string& name) {
    Affine a;
    b_.prefix = name + ".channels";
    for (auto s = chain.steps.rbegin(); s != chain.steps.rend(); ++s) {
      const ValueId c = channels_of(s->fixed);
      if (s->how == Arithmetic::product) {
        a.scale = a.scale.valid() ? b_("mul", {a.scale, c}) : c;
        if (a.shift.valid()) a.shift = b_("mul", {a.shift, c});
      } else if (s->how == Arithmetic::sum) {
        a.shift = a.shift.valid() ? b_("add", {a.shift, c}) : c;
      } else if (!s->turned) {
        a.shift = a.shift.valid() ? b_("sub", {a.shift, c}) : b_("neg", {c});
      } else {
        a.scale = a.scale.valid() ? b_("neg", {a.scale}) : b_.like(-1, c);
        a.shift = a.shift.valid() ? b_("sub", {c, a.shift}) : c;
      }
    }
    b_.prefix = name;
    return a;
  }

  Graph& g_;
  const Options& options_;
  OfParameters fixed_;
  Builder b_;
};

}  // namespace

bool fold_norms(Module& m, const Options& options) {
  if (!options.fold_norms) return false;
  bool changed = false;
  for (Graph& g : m.graphs)
    if (g.kind().phase == Phase::predict && Folding(m, g, options).run()) {
      remove_dead_nodes(g);  // broadcasts of what is now a part of one vector
      changed = true;
    }
  return changed;
}

}  // namespace heddle::passes
