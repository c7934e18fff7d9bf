#include "frontend/layer_context.h"

#include <fmt/format.h>

#include <cmath>

#include "frontend/keys/check_keys.h"
#include "frontend/limits.h"
#include "frontend/weight_norms.h"
#include "ir/check.h"
#include "ir/evaluate/tensor.h"
#include "ir/scalars.h"

namespace heddle::frontend {

using ir::Dims;
using ir::ValueId;

int64_t stream_of(std::string_view path) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return static_cast<int64_t>(hash);
}

int64_t LayerContext::stream(std::string_view suffix) const { return stream_of(path + std::string(suffix)); }

ValueId LayerContext::emit(std::string_view op, const ir::Values& operands, ir::Attrs attrs, std::string_view suffix) {
  return b(op, operands, std::move(attrs), fmt::format("{}.{}", path, suffix.empty() ? op : suffix));
}

ValueId LayerContext::reshape(ValueId v, const Dims& dims, std::string_view suffix) {
  return type(v).dims == dims ? v : emit("reshape", {v}, {{"shape", dims}}, suffix);
}

ValueId LayerContext::constant(double value, const ir::Type& t) {
  b.prefix = path + ".constant";
  return b.constant(value, t);
}

ValueId LayerContext::slice(ValueId v, int64_t axis, int64_t start, int64_t stop, std::string_view suffix,
                            int64_t step) {
  Dims starts(dims(v).size(), 0), limits = dims(v);
  const auto d = static_cast<size_t>(axis);
  starts[d] = start;
  limits[d] = stop;
  ir::Attrs attrs{{"starts", starts}, {"limits", limits}};
  if (step != 1) {
    Dims strides(starts.size(), 1);
    strides[d] = step;
    attrs["strides"] = strides;
  }
  return emit("slice", {v}, attrs, suffix);
}

ValueId LayerContext::broadcast(ValueId v, const Dims& dims) {
  b.prefix = b.graph[v].name + ".broadcast";
  return b.broadcast_to(v, dims);
}

ValueId LayerContext::parameter(const std::string& name, const Dims& dims, std::string_view setting,
                                const std::string& init, bool weight, const ir::Layout& layout) {
  return parameter(name, dims, setting, make_initializer(init), weight, layout);
}

ValueId LayerContext::parameter(const std::string& name, const Dims& dims, std::string_view setting,
                                const Initializer& init, bool weight, const ir::Layout& layout) {
  require_name();
  Initializer initializer = init;
  const Json* given = setting.empty() ? nullptr : settings.json(setting);
  if (given != nullptr) {
    if (given->kind == Json::Kind::integer || given->kind == Json::Kind::real)
      settings.fail(setting, fmt::format("'{}' is an initializer, found {}", setting, describe(*given)),
                    fmt::format("one number everywhere is {{\"op\": \"constant\", \"value\": {}}}", describe(*given)));
    initializer =
        make_initializer(read_part(*given, fmt::format("{}: '{}'", settings.title(), setting)), settings.scope());
  } else if (weight && graph.default_init != nullptr) {
    initializer = make_initializer(*graph.default_init, settings.scope());
  }
  if (dims.size() < initializer.def->least_rank)
    throw UserError(given != nullptr ? given->where : node.op_where,
                    fmt::format("initializer {}: expected a parameter of rank {} or more, found {}",
                                initializer.def->name, initializer.def->least_rank, ir::to_string(dims)));
  if (const auto made = weight ? made_weight(*this, name, dims, layout, initializer) : std::nullopt) {
    originals.emplace(made->value, made->original);
    return made->value;
  }
  const ParameterSpec spec{name.empty() ? path : path + "." + name, {ir::DType::f32, dims}, layout};
  return graph.parameter(spec, initializer, node.op_where);
}

ValueId LayerContext::buffer(const std::string& name, const ir::Type& type, const std::string& init) {
  require_name();
  return graph.parameter({path + "." + name, type, {}, ir::Role::buffer}, make_initializer(init), node.op_where);
}

void LayerContext::train_sparsely(ValueId parameter, std::string_view setting) {
  if (originals.contains(parameter))
    fail_setting(setting,
                 fmt::format("'{}' renews the rows of a batch, and '{}' makes every row anew in each step", setting,
                             made_weight_setting(settings)->key),
                 "leave out one of them");
  graph.sparse(parameter, settings.where(setting));
}

void LayerContext::start_with_zeros(ValueId parameter, int64_t row) {
  const auto made = originals.find(parameter);
  graph.zero_row(made == originals.end() ? parameter : made->second, row);
}

void LayerContext::update(ValueId buffer, ValueId next) {
  if (training) graph.update(buffer, next);
}

void LayerContext::refuse_training(const std::string& message, const std::string& help) {
  if (!training) return;
  graph.refuse({Severity::error, node.op_where, fmt::format("{}: {}", settings.title(), message), {}, help});
}

void LayerContext::require_name() {
  if (!node.name.empty() || node.share) return;
  fail("a node that holds parameters must have a name", "add \"name\"; its parameters are called after it");
}

ValueId LayerContext::apply_activation(ValueId v) {
  const Json* given = settings.json("activation");
  if (given == nullptr) return v;
  const Part part = read_part(*given, fmt::format("{}: 'activation'", settings.title()));
  const LayerDef* def = find_layer(part.op);
  if (def == nullptr || !def->activation) {
    throw UserError(part.op_where, fmt::format("{}: there is no activation {}", settings.title(), quote(part.op)),
                    suggest(part.op, activation_names()));
  }
  Diagnostics errors;
  const std::string title = "activation " + part.op;
  check_keys({part.settings, part.nulls}, {def->settings}, {title, part.op_where, "setting"}, errors);
  errors.throw_if_any();
  const Settings own(part.settings, def->settings, settings.scope(), title, part.op_where);
  LayerContext inner{b, node, own, graph, path, {v}, layout, training};
  return def->build(inner).at(0);
}

ValueId LayerContext::to_nhwc(ValueId v) {
  const int64_t rank = type(v).rank();
  if (layout == ImageLayout::nhwc || rank < 3) return v;
  Dims perm{0};
  for (int64_t axis = 2; axis < rank; ++axis) perm.push_back(axis);
  perm.push_back(1);
  return emit("transpose", {v}, {{"perm", perm}}, "nhwc");
}

ValueId LayerContext::from_nhwc(ValueId v) {
  const int64_t rank = type(v).rank();
  if (layout == ImageLayout::nhwc || rank < 3) return v;
  Dims perm{0, rank - 1};
  for (int64_t axis = 1; axis + 1 < rank; ++axis) perm.push_back(axis);
  return emit("transpose", {v}, {{"perm", perm}}, "nchw");
}

int64_t LayerContext::read_axis(size_t input) {
  const int64_t rank = type(in[input]).rank(), axis = settings.integer("axis");
  if (axis < -rank || axis >= rank)
    fail_setting("axis", fmt::format("axis {} is outside the input {}", axis, shape_text(dims(in[input]))), {}, input);
  return axis < 0 ? axis + rank : axis;
}

std::string LayerContext::shape_text(const Dims& dims) const {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool batch = i == 0 && dims[i] == graph.batch && !graph.batch_name.empty();
    text += (i == 0 ? "" : ",") + (batch ? graph.batch_name : fmt::format("{}", dims[i]));
  }
  return text + "]";
}

ir::Dims LayerContext::read_shape() {
  ir::Dims shape = settings.json("shape") == nullptr ? ir::Dims{} : settings.integers("shape");
  if (shape.size() > kMaxRank) fail_setting("shape", fmt::format("more than {} dimensions", kMaxRank));
  int64_t elements = 1;
  for (const int64_t size : shape) {
    if (size < 1) fail_setting("shape", fmt::format("{} is not a size", size));
    if (__builtin_mul_overflow(elements, size, &elements) || elements > kMaxElements)
      fail_setting("shape", fmt::format("{} has more than {} elements", ir::to_string(shape), kMaxElements));
  }
  return shape;
}

void LayerContext::fail_setting(std::string_view setting, const std::string& message, const std::string& help,
                                size_t input) {
  std::vector<Diagnostic> notes;
  if (input < in.size() && in[input].valid()) notes.push_back(graph.origin(in[input]));
  throw UserError(settings.where(setting), fmt::format("{}: {}", settings.title(), message), help, std::move(notes));
}

void LayerContext::fail(const std::string& message, const std::string& help, size_t input) {
  std::vector<Diagnostic> notes;
  if (input < in.size() && in[input].valid()) notes.push_back(graph.origin(in[input]));
  throw UserError(node.op_where, fmt::format("{}: {}", settings.title(), message), help, std::move(notes));
}

void LayerContext::require_rank(size_t input, int64_t low, int64_t high, const std::string& meaning) {
  const int64_t rank = type(in[input]).rank();
  if (rank >= low && rank <= high) return;
  fail(fmt::format("expected {}, found {}", meaning, shape_text(dims(in[input]))), {}, input);
}

void LayerContext::require_fit(std::string_view setting, double number, ir::DType dtype) {
  if (!fits(number, dtype))
    fail_setting(setting, fmt::format("the number {} does not fit {}", number, ir::to_string(dtype)));
}

bool fits(double number, ir::DType dtype) {
  if (ir::is_floating(dtype)) return !std::isfinite(number) || std::isfinite(ir::round_to(dtype, number));
  return ir::scalar_number(number, dtype).has_value();
}

void LayerContext::require_channels(int64_t low) {
  require_rank(0, low, static_cast<int64_t>(kMaxRank),
               layout == ImageLayout::nhwc ? "an input [N, ..., channels]" : "an input [N, channels, ...]");
}

void LayerContext::require_floating(size_t input) {
  const ir::DType dtype = type(in[input]).dtype;
  if (ir::is_floating(dtype)) return;
  fail(fmt::format("expected a floating-point input, found {}", ir::to_string(dtype)),
       "insert {\"op\": \"cast\", \"dtype\": \"f32\"}", input);
}

void LayerContext::require_one_type(size_t first) {
  std::optional<ir::DType> dtype;
  for (size_t i = first; i < in.size(); ++i) {
    if (!in[i].valid()) continue;
    const ir::DType here = type(in[i]).dtype;
    if (dtype && here != *dtype)
      fail(fmt::format("inputs differ in type: {} vs {}", ir::to_string(*dtype), ir::to_string(here)),
           "insert {\"op\": \"cast\"}", i);
    dtype = here;
  }
}

void LayerContext::require_f32(size_t input) {
  require_floating(input);
  const ir::DType dtype = type(in[input]).dtype;
  if (dtype == ir::DType::f32) return;
  fail(fmt::format("expected an input of type f32, as the parameters are, found {}", ir::to_string(dtype)),
       "insert {\"op\": \"cast\", \"dtype\": \"f32\"}", input);
}

}  // namespace heddle::frontend
