#include "frontend/quantize.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "frontend/instantiate/mixed.h"
#include "frontend/training/average.h"
#include "frontend/training/parameter_patterns.h"
#include "ir/int8.h"
#include "ir/scan.h"
#include "ir/wholes.h"

namespace heddle::frontend {

using ir::Dims;
using ir::ValueId;

namespace {

bool is_f32(const ir::Graph& g, ValueId v) { return g[v].type.dtype == ir::DType::f32; }

// The axis of the outputs in the weight, in the axis order of memory, if the node is a product of inputs by a weight;
// otherwise nullopt.
std::optional<int64_t> outputs_of_weight(const ir::Graph& g, const ir::Node& n) {
  if (n.operands.size() != 2 || n.operands[0] == n.operands[1]) return {};
  const ValueId x = n.operands[0], w = n.operands[1];
  if (g.def(w) != nullptr || !is_f32(g, x) || !is_f32(g, w) || !is_f32(g, n.results[0])) return {};
  if (n.op->traits.matrix_product) {
    const ir::Signature s = ir::signature(g, n);
    if (s.flag("transpose_a") || g[w].type.rank() != 2) return {};
    return s.flag("transpose_b") ? 0 : 1;
  }
  const std::optional<ir::ConvolutionRoles>& roles = n.op->traits.convolution;
  if (!roles || roles->image != 0 || roles->filter != 1) return {};
  return 0;
}

class LayerQuantizer {
 public:
  LayerQuantizer(Instance& e, const Model& model, ValueId now, size_t first, ir::Values& results,
                 const RangeStates& ranges)
      : e_(e),
        model_(model),
        rule_(*model.train.quantize),
        g_(e.graph),
        b_(e.graph),
        now_(now),
        at_(first),
        results_(results),
        ranges_(ranges) {}

  void run() {
    for (; at_ < g_.order.size(); ++at_) {
      const ir::NodeId id = g_.order[at_];
      const std::optional<int64_t> axis = outputs_of_weight(g_, g_[id]);
      if (!axis) continue;
      const Parameter* weight = weight_of(g_[id].operands[1]);
      if (weight == nullptr) continue;
      const std::string path = weight->path;  // ranges are parameters, too, and move the others
      quantize(id, *axis, path);
    }
  }

 private:
  const Parameter* weight_of(ValueId v) const {
    const auto found = std::ranges::find(e_.parameters, v, &Parameter::value);
    const bool matched =
        found != e_.parameters.end() && found->role == ir::Role::param && matches(rule_.match, found->path);
    return matched ? &*found : nullptr;
  }

  void quantize(ir::NodeId id, int64_t axis, const std::string& weight) {
    const ir::Node n = g_[id];  // a copy: as it was, with its first operands
    const size_t first = g_.node_count();
    name_ = g_[n.results[0]].name;
    b_.loc = n.loc;
    b_.prefix = name_ + ".whole";
    b_.insert_at = at_;
    const Inputs inputs = whole_inputs(n.operands[0], weight);
    const Weights weights = whole_weights(n.operands[1], axis);
    g_.set_operand(id, 0, if_now(inputs.wholes, inputs.plain));
    g_.set_operand(id, 1, if_now(weights.wholes, n.operands[1]));
    g_[id].attrs.erase("precision");
    const ValueId factor = if_now(factor_of(b_, weights.scale, inputs.step), {});
    at_ = b_.insert_at;  // of the product
    b_.insert_at = at_ + 1 < g_.order.size() ? at_ + 1 : ir::Builder::kEnd;
    const ValueId before = n.results[0], scaled = times_factor(b_, before, factor);
    g_.rename(scaled, name_ + ".scaled");
    g_.replace_uses(before, scaled);
    g_.set_operand(g_[scaled].def, 0, before);
    std::ranges::replace(results_, before, scaled);
    at_ = std::min(b_.insert_at, g_.order.size()) - 1;
    note_readers(n.operands[1], axis, weight, first);
  }

  // Notes the readers of the weight among the nodes from this one on.
  void note_readers(ValueId w, int64_t axis, const std::string& weight, size_t first) {
    auto known = std::ranges::find(e_.quantized, weight, &QuantizedWeight::path);
    const ir::Layout& layout = g_[w].layout;
    const int64_t outputs = layout.empty() ? axis : layout[static_cast<size_t>(axis)];
    if (known == e_.quantized.end()) known = e_.quantized.insert(known, {weight, outputs, {}});
    for (const ir::NodeId id : g_[w].uses)
      if (ir::index_of(id) >= first) known->readers.push_back(id);
  }

  struct Inputs {
    ValueId plain, wholes, step;
  };
  Inputs whole_inputs(ValueId x, const std::string& weight) {
    if (is_mixed(model_)) x = b_("cast", {x}, {{"dtype", std::string("f32")}}, name_ + ".input");
    const ir::InputScale scale = range_of(x, weight);
    const Dims dims = b_.type(x).dims;
    const ValueId step = b_("stop_gradient", {scale.step}, {}, name_ + ".step");
    const ValueId number = in_steps(b_, x, step);
    const auto limit = [&](ValueId v) { return spread_along(b_, v, {}, dims); };
    const ValueId wholes =
        b_("round_within", {number, limit(scale.least), limit(scale.most)}, {}, name_ + ".input.wholes");
    const ValueId inside = b_("eq", {b_("round", {number}), wholes}, {}, name_ + ".input.inside");
    const ValueId through = b_("select", {inside, number, b_.like(0, number)});
    return {x, b_("straight_through", {wholes, through}), step};
  }

  struct Weights {
    ValueId wholes, scale;
  };
  Weights whole_weights(ValueId w, int64_t axis) {
    const Dims dims = b_.type(w).dims;
    const ir::Values made =
        b_.multi("quantize_weight", {w}, {{"axis", axis}}, {name_ + ".weight.wholes", name_ + ".weight.scale"});
    const ValueId scale = b_("stop_gradient", {made[1]});
    const ValueId number = b_("div", {w, spread_along(b_, scale, {axis}, dims)});
    return {b_("straight_through", {made[0], number}), scale};
  }

  // --- the ranges of inputs

  ir::InputScale range_of(ValueId x, const std::string& weight) {
    const std::string low_name = ir::observed_low_name(weight), high_name = ir::observed_high_name(weight);
    ValueId low = ranges_.state(low_name, b_.loc), high = ranges_.state(high_name, b_.loc);
    if (e_.training) {
      const ValueId seen = b_("stop_gradient", {x}), none = b_.like(0, low);
      const ValueId least = b_("min", {none, b_("reduce_min", {seen})}, {}, name_ + ".input.least");
      const ValueId most = b_("max", {none, b_("reduce_max", {seen})}, {}, name_ + ".input.most");
      const ValueId is_first = rule_.moving ? is_unseen(low, high) : ValueId{};
      low = renewed(low, least, is_first, "min", low_name);
      high = renewed(high, most, is_first, "max", high_name);
    }
    return input_scale(b_, low, high);
  }

  ValueId is_unseen(ValueId low, ValueId high) {
    return b_("and", {b_("eq", {low, b_.like(0, low)}), b_("eq", {high, b_.like(0, high)})}, {}, name_ + ".unseen");
  }

  ValueId renewed(ValueId known, ValueId seen, ValueId is_first, const char* of_both, const std::string& name) {
    ValueId next;
    if (rule_.moving)
      next = b_("select", {is_first, seen, moved_to(b_, known, seen, 1 - rule_.momentum, name)}, {}, name + ".next");
    else
      next = b_(of_both, {known, seen}, {}, name + ".next");
    ranges_.update(known, next);
    return next;
  }

  // `wholes` once quantization has started, otherwise `plain`; an invalid `plain` means 1.
  ValueId if_now(ValueId wholes, ValueId plain) {
    if (!now_.valid()) return wholes;
    return b_("select",
              {spread_along(b_, now_, {}, b_.type(wholes).dims), wholes, plain.valid() ? plain : b_.like(1, wholes)});
  }

  Instance& e_;
  const Model& model_;
  const Quantize& rule_;
  ir::Graph& g_;
  ir::Builder b_;
  ValueId now_;
  size_t at_;
  ir::Values& results_;
  const RangeStates& ranges_;
  std::string name_;  // of the product
};

}  // namespace

ValueId quantizes_now(Instance& e, const Quantize& quantize) {
  if (!e.training || quantize.start == 0) return {};
  ir::Builder b(e.graph);
  b.loc = quantize.where;
  b.prefix = "quantize.start";
  const ValueId step = e.counter("step");
  return b("ge", {step, b.like(static_cast<double>(quantize.start), step)}, {}, "quantize.begun");
}

void quantize_layer(Instance& e, const Model& model, ValueId now, size_t first, ir::Values& results,
                    const RangeStates& ranges) {
  LayerQuantizer(e, model, now, first, results, ranges).run();
}

namespace {

const QuantizedWeight* found_in(const Instance& e, const std::string& path) {
  const auto found = std::ranges::find(e.quantized, path, &QuantizedWeight::path);
  return found == e.quantized.end() ? nullptr : &*found;
}

// The name of an operator that reads the weight and is no quantized product, or "". Scans are allowed: such products
// have moved into their bodies.
std::string other_reader(const ir::Graph& g, const Parameter& p, const QuantizedWeight& weight) {
  for (const ir::NodeId id : g[p.value].uses)
    if (std::ranges::count(weight.readers, id) == 0 && !ir::is_scan(g[id])) return g[id].op->name;
  return {};
}

bool is_weight(const Parameter& p) { return p.role == ir::Role::param && p.type.rank() >= 2; }

}  // namespace

void check_quantize(const Quantize& quantize, const Instance& e, Diagnostics& errors) {
  check_patterns(quantize.match, e, "quantises no parameter", errors);
  for (const Named& pattern : quantize.match) {
    const Parameter* other = nullptr;
    bool known = false, any = false;
    for (const Parameter& p : e.parameters) {
      if (p.role != ir::Role::param || !matches({pattern}, p.path)) continue;
      known = true;
      const QuantizedWeight* weight = found_in(e, p.path);
      if (weight == nullptr) {
        if (other == nullptr || (!is_weight(*other) && is_weight(p))) other = &p;
        continue;
      }
      any = true;
      if (const std::string reader = other_reader(e.graph, p, *weight); !reader.empty())
        return errors.error(pattern.where,
                            fmt::format("'{}' is quantised for products, and '{}' reads it, too", p.path, reader),
                            "match other weights, or give that node parameters of its own",
                            {{Severity::note, p.where, "the parameter comes from here", {}, {}}});
    }
    if (known && !any)
      errors.error(pattern.where,
                   fmt::format("{} quantises nothing: no product or convolution multiplies its inputs by '{}', {}",
                               quote(pattern.text), other->path, ir::to_string(other->type)),
                   "match weights of dense and convolution layers; tables, recurrent layers and transposed "
                   "convolutions stay f32",
                   {{Severity::note, other->where, "the parameter comes from here", {}, {}}});
  }
}

}  // namespace heddle::frontend
