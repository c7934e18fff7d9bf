#include "frontend/primitive_layer.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/layer_context.h"
#include "frontend/read/read_parts.h"
#include "ir/evaluate/tensor.h"
#include "ir/gradient_flow.h"

namespace heddle::frontend {
namespace {

using ir::Dims;

// NumPy's rule: sizes align at the end, 1 stretches.
Dims broadcast_shape(LayerContext& c, const ir::Values& in) {
  Dims out;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i].valid()) continue;
    const Dims& dims = c.dims(in[i]);
    Dims longer = dims.size() > out.size() ? dims : out;
    const Dims& shorter = dims.size() > out.size() ? out : dims;
    const size_t lead = longer.size() - shorter.size();
    for (size_t d = 0; d < shorter.size(); ++d) {
      int64_t& size = longer[lead + d];
      if (size != shorter[d] && size != 1 && shorter[d] != 1) {
        c.fail(fmt::format("shapes {} and {} do not broadcast", c.shape_text(out), c.shape_text(dims)), {}, i);
      }
      size = size == 1 ? shorter[d] : size;
    }
    out = std::move(longer);
  }
  return out;
}

// A literal takes the type of the first operand that is a value; a selection's condition does not count.
ir::DType literal_type(LayerContext& c, const ir::Values& in, size_t conditions) {
  for (size_t i = conditions; i < in.size(); ++i)
    if (in[i].valid()) return c.type(in[i]).dtype;
  return ir::DType::f32;
}

// select has a condition before what it chooses from.
size_t conditions_of(const ir::OpDef& op) { return !op.operands.empty() && op.operands[0] == "condition" ? 1 : 0; }

void require_condition(LayerContext& c) {
  if (!c.in[0].valid() || c.type(c.in[0]).dtype == ir::DType::boolean) return;
  c.fail(fmt::format("expected a condition of type bool, found {}", ir::to_string(c.type(c.in[0]).dtype)),
         "a comparison makes one: {\"op\": \"gt\", \"in\": [NAME, 0]}", 0);
}

// The number that a node holds is one of its result's type.
void require_fitting_value(LayerContext& c, const ir::OpDef& op, const ir::Attrs& attrs, ir::ValueId result) {
  for (const char* name : {"value", "fill"}) {
    const Key* def = op.find_attr(name);
    if (def != nullptr && def->type == KeyType::real)
      c.require_fit(name, std::get<double>(attrs.at(name)), c.type(result).dtype);
  }
}

// What acts on gradients holds numbers of their type: none is infinite there, and none but 0 is 0.
void require_fitting_flow(LayerContext& c, const ir::OpDef& op, const ir::Attrs& attrs) {
  if (ir::gradient_flow(op) == nullptr || !c.in[0].valid() || !ir::is_floating(c.type(c.in[0]).dtype)) return;
  const ir::DType dtype = c.type(c.in[0]).dtype;
  for (const Key& attr : op.attrs) {
    if (attr.type != KeyType::real) continue;
    const double number = std::get<double>(attrs.at(attr.name));
    c.require_fit(attr.name, number, dtype);
    if (number != 0 && ir::round_to(dtype, number) == 0)
      c.fail_setting(attr.name, fmt::format("the number {} is 0 in {}", number, ir::to_string(dtype)));
  }
}

}  // namespace

ir::Values broadcast_inputs(LayerContext& c, size_t conditions) {
  ir::Values in = c.in;
  if (std::none_of(in.begin(), in.end(), [](ir::ValueId v) { return v.valid(); }))
    c.fail("at least one input must be a value");
  const ir::DType dtype = literal_type(c, in, conditions);
  c.require_one_type(conditions);
  const Dims shape = broadcast_shape(c, in);
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i].valid()) {
      in[i] = c.broadcast(in[i], shape);
      continue;
    }
    const Number& number = *c.node.in.at(i).literal;
    const double value = std::visit([](auto v) { return static_cast<double>(v); }, number);
    if (!fits(value, dtype)) {
      const std::string type = ir::to_string(dtype);
      throw UserError(
          c.node.in[i].where,
          fmt::format("{}: the number {} does not fit {}", c.settings.title(), to_string(number), type),
          fmt::format("a number takes the type of the other inputs, here {}: cast them to another one, such as f32",
                      type));
    }
    in[i] = c.constant(value, {dtype, shape});
  }
  return in;
}

namespace {

ir::Attr read_attr(const Settings& settings, const Key& key) {
  if (key.count != Count::one) return settings.integers(key.name);
  switch (key.type) {
    case KeyType::flag: return settings.flag(key.name);
    case KeyType::integer: return settings.integer(key.name);
    case KeyType::real: return settings.real(key.name);
    default: break;
  }
  const Json* given = settings.json(key.name);
  if (given != nullptr && key.type == KeyType::dtype)
    read_dtype(*given, fmt::format("{}: '{}'", settings.title(), key.name));
  return settings.text(key.name);
}

}  // namespace

LayerDef primitive_layer(const ir::OpDef& op) {
  LayerDef layer{
      .name = op.name, .doc = op.doc, .inputs = op.operands, .literals = op.operands.size() > 1, .build = {}};
  layer.settings = op.attrs;
  const bool defaults = std::ranges::none_of(op.attrs, &Key::required);
  layer.activation =
      defaults && op.operands.size() == 1 && op.dtypes == ir::kFloating && ir::gradient_flow(op) == nullptr;
  layer.build = [&op](LayerContext& c) -> ir::Values {
    ir::Attrs attrs;
    for (const Key& attr : op.attrs) attrs[attr.name] = read_attr(c.settings, attr);
    require_fitting_flow(c, op, attrs);
    const size_t conditions = conditions_of(op);
    if (conditions > 0) require_condition(c);
    const ir::ValueId result = c.emit(op.name, c.in.size() == 1 ? c.in : broadcast_inputs(c, conditions), attrs);
    require_fitting_value(c, op, attrs, result);
    return {result};
  };
  return layer;
}

}  // namespace heddle::frontend
