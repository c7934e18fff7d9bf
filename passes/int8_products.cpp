#include "passes/int8_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "ir/builder.h"
#include "ir/int8.h"
#include "ir/wholes.h"
#include "passes/dead_code.h"
#include "passes/differentiate.h"
#include "passes/rewrite.h"

namespace heddle::passes {
using namespace ir;

namespace {

// A weight in a graph.
struct Place {
  Graph* graph;
  ValueId weight;
};
// The sizes of a product, for time estimates.
struct Sizes {
  double rows, columns, depth, input, weight;  // input, weight: elements
};

// A sum of this many products of bytes fits into i32.
constexpr double kDeepest = std::numeric_limits<int32_t>::max() / (double{kMostOfByte} * double{kMostOfSigned});

bool is_weight(const Graph& g, ValueId v, const std::string& name) {
  return g[v].role == Role::param && g[v].name == name;
}
bool begins(const Graph& g) { return g.kind().phase == Phase::init; }

// All graphs that have the weight as a parameter, except those that initialize it.
std::vector<Place> places(Module& m, const std::string& weight) {
  std::vector<Place> all;
  for (Graph& g : m.graphs)
    for (const ValueId v : g.inputs)
      if (!begins(g) && is_weight(g, v, weight)) all.push_back({&g, v});
  return all;
}

// A weight from a file needs no initial value.
void remove_initial_value(Module& m, const std::string& weight) {
  for (Graph& g : m.graphs) {
    std::vector<ValueId> weights;
    for (const ValueId v : g.inputs)
      if (begins(g) && is_weight(g, v, weight)) weights.push_back(v);
    if (!weights.empty()) g.remove_inputs(weights);
  }
}

// The axis in the file of an axis in memory.
int64_t in_file(const Value& weight, int64_t axis) {
  return weight.layout.empty() ? axis : weight.layout[static_cast<size_t>(axis)];
}

// Why the node cannot become an integer product of inputs by the weight, or "".
std::string conflict(const Graph& g, const Node& n, ValueId weight, int64_t axis) {
  const bool second = n.operands.size() == 2 && n.operands[1] == weight && n.operands[0] != weight;
  const bool f32 = second && g[n.operands[0]].type.dtype == DType::f32 && g[weight].type.dtype == DType::f32 &&
                   g[n.results[0]].type.dtype == DType::f32;
  if (n.op->traits.matrix_product) {
    const Signature s = signature(g, n);
    if (!f32 || s.flag("transpose_a") || g[weight].type.rank() != 2)
      return "it is another product than input by weight";
    const int64_t outputs = in_file(g[weight], s.flag("transpose_b") ? 0 : 1);
    return axis == outputs ? "" : "its scales lie along another axis than its outputs";
  }
  const std::optional<ConvolutionRoles>& roles = n.op->traits.convolution;
  if (!roles) return "'" + n.op->name + "' reads it";
  if (!f32 || roles->image != 0 || roles->filter != 1 || g[weight].type.rank() != 4)
    return "it is another convolution than image by filter";
  const Layout& layout = g[weight].layout;
  const int64_t outputs = layout.empty() ? 0 : layout[0];
  return axis == outputs ? "" : "its scales lie along another axis than its outputs";
}

// --- weights that a quantized training has made whole numbers

bool is_maker(const Node& n) { return n.op->traits.makes_wholes == MakesWholes::and_scales; }

bool is_gradient(const Node& n) { return std::holds_alternative<Gradient>(n.op->kind); }

// Whether `product` multiplies whole numbers by `wholes`, the quantized weight.
bool multiplies_wholes(const Graph& g, const Node& product, ValueId wholes) {
  const std::optional<ConvolutionRoles>& roles = product.op->traits.convolution;
  const bool multiplies = roles ? roles->image == 0 && roles->filter == 1 : product.op->traits.matrix_product;
  return multiplies && product.operands.size() == 2 && product.operands[1] == wholes &&
         is_whole(g, product.operands[0]);
}

std::string conflict_of_wholes(const Graph& g, const Node& maker, ValueId weight, int64_t axis) {
  const Layout& layout = g[weight].layout;
  const auto in_memory = static_cast<size_t>(signature(g, maker).integer("axis"));
  if (axis != (layout.empty() ? static_cast<int64_t>(in_memory) : layout[in_memory]))
    return "its scales lie along another axis than its outputs";
  if (g[weight].type.rank() != 2 && g[weight].type.rank() != 4) return "it is another convolution than image by filter";
  for (const NodeId n : g[maker.results[0]].uses)
    if (!multiplies_wholes(g, g[n], maker.results[0])) return "'" + g[n].op->name + "' reads its whole numbers";
  return {};
}

// --- weights of products whose inputs stay f32

bool multiplies(const Node& n, ValueId weight) {
  return n.op->traits.matrix_product && n.operands[1] == weight && n.operands[0] != weight;
}
bool is_turned(const Graph& g, const Node& product) { return signature(g, product).flag("transpose_b"); }

// Whether the weight is read by products alone, and none reads it with its outputs first.
bool lies_with_inputs_first(const std::vector<Place>& all) {
  return std::ranges::all_of(all, [](const Place& place) {
    const Graph& g = *place.graph;
    return std::ranges::all_of(g[place.weight].uses,
                               [&](NodeId n) { return multiplies(g[n], place.weight) && !is_turned(g, g[n]); });
  });
}

std::string conflict_of_widened(const Graph& g, const Node& n, ValueId weight, int64_t axis, bool inputs_first) {
  if (n.op->traits.rows_along != nullptr && n.operands[0] == weight && g[weight].type.rank() == 2)
    return n.op->traits.rows_along(n) == 0 && in_file(g[weight], 0) == axis
               ? ""
               : "its scales lie along another axis than its rows";
  if (n.op->traits.convolution) return "'" + n.op->name + "' reads it";
  if (multiplies(n, weight) && !inputs_first && !is_turned(g, n)) return "its readers need it in two orders";
  return conflict(g, n, weight, axis);
}

std::string conflict(const Graph& g, ValueId weight, const Int8Weight& of, bool inputs_first) {
  if (g.updates.has_state(weight)) return "a run changes it";
  if (g.is_output(weight) || g.is_next(weight)) return "it is a result";
  for (const NodeId id : g[weight].uses) {
    const Node& n = g[id];
    std::string why = of.input == Int8Weight::Input::f32 ? conflict_of_widened(g, n, weight, of.axis, inputs_first)
                      : is_maker(n)                      ? conflict_of_wholes(g, n, weight, of.axis)
                                                         : conflict(g, n, weight, of.axis);
    if (!why.empty()) return why;
  }
  return {};
}

Sizes sizes(const Graph& g, const Node& n) {
  const Type &x = g[n.operands[0]].type, &w = g[n.operands[1]].type, &y = g[n.results[0]].type;
  const auto columns = static_cast<double>(y.dims.back()), results = static_cast<double>(y.elements());
  return {.rows = columns > 0 ? results / columns : 0,
          .columns = columns,
          .depth = columns > 0 ? static_cast<double>(w.elements()) / columns : 0,
          .input = static_cast<double>(x.elements()),
          .weight = static_cast<double>(w.elements())};
}

// Measured on two cores with AVX-512 VNNI: oneDNN multiplies bytes about three times as fast as f32. One kernel
// converts the inputs to bytes, another one converts the sums to f32, and the weight is copied once to be packed.
double seconds_in_f32(const Sizes& s, const Target& target) {
  return 2 * s.rows * s.columns * s.depth / target.matrix_flops;
}
double seconds_in_int8(const Sizes& s, const Target& target) {
  constexpr double kFaster = 3, kBytesOfInput = 5, kBytesOfSum = 8, kBytesOfWeight = 2;
  const double moved = s.input * kBytesOfInput + s.rows * s.columns * kBytesOfSum + s.weight * kBytesOfWeight;
  return seconds_in_f32(s, target) / kFaster + moved / target.cache_bandwidth + 2 * target.launch;
}

// Products by the weight, or by the whole numbers that a node makes of it.
std::vector<NodeId> products_by(const Graph& g, ValueId weight) {
  std::vector<NodeId> all;
  for (const NodeId id : g[weight].uses)
    if (is_maker(g[id]))
      all.insert(all.end(), g[g[id].results[0]].uses.begin(), g[g[id].results[0]].uses.end());
    else
      all.push_back(id);
  return all;
}

// Decides for one weight in all graphs. A weight of a quantized training is always int8 where that is possible: no
// times are compared.
struct Verdict {
  bool taken = false;
  std::string reason;
};
Verdict decide(const std::vector<Place>& all, const Int8Weight& weight, const Target& target) {
  double f32 = 0, int8 = 0;
  bool read = false, whole = false;
  const bool inputs_first = lies_with_inputs_first(all);
  for (const Place& place : all) {
    const Graph& g = *place.graph;
    if (std::string why = conflict(g, place.weight, weight, inputs_first); !why.empty()) return {false, "f32: " + why};
    if (weight.input == Int8Weight::Input::f32) {
      read = read || !g[place.weight].uses.empty();
      continue;
    }
    whole = whole || std::ranges::any_of(g[place.weight].uses, [&](NodeId n) { return is_maker(g[n]); });
    for (const NodeId id : products_by(g, place.weight)) {
      const Sizes s = sizes(g, g[id]);
      if (s.depth > kDeepest) return {false, fmt::format("f32: a sum of {} products may leave i32", s.depth)};
      f32 += seconds_in_f32(s, target), int8 += seconds_in_int8(s, target);
      read = true;
    }
  }
  if (!read) return {false, "f32: no product reads it"};
  if (weight.input == Int8Weight::Input::f32) return {true, "int8: it is widened as it is read"};
  if (whole && weight.input == Int8Weight::Input::by_row) return {false, "f32: its inputs have no range"};
  if (whole) return {true, "int8: it was trained in whole numbers"};
  constexpr double kMicro = 1e6;
  return {int8 < f32, fmt::format("{}: {:.3g} us estimated in int8, {:.3g} us in f32", int8 < f32 ? "int8" : "f32",
                                  int8 * kMicro, f32 * kMicro)};
}

// Replaces f32 products by integer products in one graph.
class Rewriter {
 public:
  Rewriter(Graph& g, const Int8Weight& weight, ValueId w, ValueId scale, ValueId input)
      : b_(g), weight_(weight), w_(w), scale_(scale), input_(input) {}

  void rewrite(NodeId id) {
    const Node& n = begin(id);
    const ValueId steps = weight_.input == Int8Weight::Input::by_row ? steps_of_rows(n.operands[0]) : input_;
    const ValueId sums = product(n, as_bytes(b_("round", {in_steps(b_, n.operands[0], steps)})));
    end(id, scaled(sums, steps));
  }

  // The inputs stay f32.
  void widen(NodeId id) {
    const Node& n = begin(id);
    if (n.op->traits.rows_along != nullptr) {
      const ValueId rows = b_.cast(b_(n.op->name, {w_, n.operands[1]}, n.attrs), DType::f32);
      const ValueId scales = b_(n.op->name, {scale_, n.operands[1]}, {{"axis", int64_t{0}}});
      const Dims shape = b_.type(rows).dims;
      Dims axes(shape.size() - 1);
      std::iota(axes.begin(), axes.end(), 0);
      return end(id, b_("mul", {rows, spread_along(b_, scales, axes, shape)}));
    }
    Attrs attrs = n.attrs;
    attrs.erase("precision");  // sums without their scale may be too large for 16 bits
    attrs["transpose_b"] = true;
    end(id, times_factor(b_, b_(n.op->name, {n.operands[0], b_.cast(w_, DType::f32)}, attrs), scale_));
  }

  // `maker` quantizes the weight. Its results are replaced by the int8 weight and the scales of the file.
  void rewrite_wholes(NodeId maker) {
    const ValueId made = b_.graph[maker].results[0];
    b_.graph.replace_uses(b_.graph[maker].results[1], scale_);
    for (const NodeId id : std::vector<NodeId>(b_.graph[made].uses)) {
      const Node& n = begin(id);
      end(id, product(n, as_bytes(n.operands[0])));
    }
    unlink(b_.graph, maker);
  }

 private:
  const Node& begin(NodeId id) {
    const Node& n = b_.graph[id];
    b_.loc = n.loc;
    b_.prefix = b_.graph[n.results[0]].name + ".int8";
    const auto at = std::ranges::find(b_.graph.order, id);
    b_.insert_at = static_cast<size_t>(at - b_.graph.order.begin());
    return n;
  }
  void end(NodeId id, ValueId result) {
    const ValueId before = b_.graph[id].results[0];
    const std::string name = b_.graph[before].name;
    b_.graph.replace_uses(before, result);
    unlink(b_.graph, id);
    b_.graph.rename(result, name);
  }
  // The product of bytes by the weight: summed in i32, then cast to f32.
  ValueId product(const Node& n, ValueId bytes) {
    Attrs attrs = n.attrs;
    attrs.erase("precision");
    return b_.cast(b_(n.op->name, {b_.cast(bytes, DType::i32), b_.cast(w_, DType::i32)}, attrs), DType::f32);
  }
  ValueId as_bytes(ValueId wholes) {
    return b_.cast(wholes, weight_.input == Int8Weight::Input::fixed_unsigned ? DType::u8 : DType::i8);
  }
  // f32[rows]: the scale of each row of a matrix, or of each image.
  ValueId steps_of_rows(ValueId x) {
    Dims axes;
    for (int64_t d = 1; d < b_.type(x).rank(); ++d) axes.push_back(d);
    const ValueId largest = b_("reduce_max", {b_("abs", {x})}, {{"axes", axes}});
    const ValueId positive = b_("max", {largest, b_.like(kLeastScale * kMostOfSigned, largest)});
    return b_("mul", {positive, b_.like(1 / double{kMostOfSigned}, positive)});
  }
  ValueId scaled(ValueId sums, ValueId steps) {
    if (b_.type(steps).rank() == 0) return times_factor(b_, sums, factor_of(b_, scale_, steps));
    return times_factor(b_, b_("mul", {sums, spread_along(b_, steps, {0}, b_.type(sums).dims)}), scale_);
  }

  Builder b_;
  const Int8Weight& weight_;
  ValueId w_, scale_, input_;
};

// The weight with its outputs first.
void turn(Value& weight) {
  std::swap(weight.type.dims[0], weight.type.dims[1]);
  weight.layout = weight.layout.empty() ? Layout{1, 0} : Layout{weight.layout[1], weight.layout[0]};
}

void rewrite_widened(const Place& place, const Int8Weight& weight) {
  Graph& g = *place.graph;
  const std::vector<NodeId> uses = g[place.weight].uses;
  const ValueId scale =
      g.add_input(int8_scale_name(weight.name), {DType::f32, {g[place.weight].type.dims[0]}}, Role::buffer);
  g[place.weight].type.dtype = DType::i8;
  Rewriter rewriter(g, weight, place.weight, scale, {});
  for (const NodeId n : uses) rewriter.widen(n);
  drop_erased(g);
}

void rewrite(const Place& place, const Int8Weight& weight) {
  Graph& g = *place.graph;
  const std::vector<NodeId> uses = g[place.weight].uses;
  const int64_t outputs = g[g[products_by(g, place.weight).front()].results[0]].type.dims.back();
  const ValueId scale = g.add_input(int8_scale_name(weight.name), {DType::f32, {outputs}}, Role::buffer);
  const bool all_whole = std::ranges::all_of(uses, [&](NodeId n) { return is_maker(g[n]); });
  ValueId input;
  if (weight.input != Int8Weight::Input::by_row && !all_whole)
    input = g.add_input(int8_input_name(weight.name), {DType::f32, {}}, Role::buffer);
  g[place.weight].type.dtype = DType::i8;  // must precede the casts of it that the rewriter builds
  Rewriter rewriter(g, weight, place.weight, scale, input);
  for (const NodeId n : uses) is_maker(g[n]) ? rewriter.rewrite_wholes(n) : rewriter.rewrite(n);
  drop_erased(g);
}

// In graphs without gradients, removes the operators that only define gradients: they would hide the products.
void drop_flows(Module& m) {
  for (Graph& g : m.graphs) {
    const auto some = [&](auto is) { return std::ranges::any_of(g.order, [&](NodeId n) { return is(g[n]); }); };
    if (!some(is_maker) || some(is_gradient)) continue;
    drop_gradient_flow(g);
    remove_dead_nodes(g);
  }
}

}  // namespace

bool int8_products(Module& m, const std::vector<Int8Weight>& weights, const Options& options) {
  bool changed = false;
  drop_flows(m);
  for (const Int8Weight& weight : weights) {
    const std::vector<Place> all = places(m, weight.name);
    if (all.empty()) continue;
    const Verdict verdict = decide(all, weight, options.target);
    options.note("int8_products", *all.front().graph, "%" + weight.name, verdict.reason);
    if (!verdict.taken) continue;
    remove_initial_value(m, weight.name);
    const bool widened = weight.input == Int8Weight::Input::f32, turned = widened && lies_with_inputs_first(all);
    for (const Place& place : all) {
      if (turned) turn((*place.graph)[place.weight]);
      if (!place.graph->unused(place.weight)) widened ? rewrite_widened(place, weight) : rewrite(place, weight);
      (*place.graph)[place.weight].type.dtype = DType::i8;
    }
    changed = true;
  }
  return changed;
}

std::vector<std::string> observe_inputs(Module& m, const std::vector<Int8Weight>& weights) {
  std::vector<std::string> observed;
  for (const Int8Weight& weight : weights) {
    const std::vector<Place> all = places(m, weight.name);
    const auto fits = [&](const Place& place) { return conflict(*place.graph, place.weight, weight, false).empty(); };
    if (all.empty() || !std::ranges::all_of(all, fits)) continue;
    for (const Place& place : all) {
      Graph& g = *place.graph;
      Builder b(g);
      const auto keep = [&](const std::string& name, const auto& renewed) {
        const ValueId state = g.add_input(name, {DType::f32, {}}, Role::state);
        ValueId next = state;
        b.prefix = name + ".next";
        for (const NodeId n : std::vector<NodeId>(g[place.weight].uses)) next = renewed(next, g[n].operands[0]);
        if (next != state) g.updates.push_back({state, next});
      };
      keep(observed_low_name(weight.name), [&](ValueId least, ValueId x) {
        return b("min", {least, b("reduce_min", {x})});
      });
      keep(observed_high_name(weight.name), [&](ValueId largest, ValueId x) {
        return b("max", {largest, b("reduce_max", {x})});
      });
    }
    observed.push_back(weight.name);
  }
  return observed;
}

}  // namespace heddle::passes
