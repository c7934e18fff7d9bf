#include "frontend/weight_norms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "frontend/keys/check_keys.h"
#include "ir/check.h"

namespace heddle::frontend {

using ir::Dims;
using ir::ValueId;

namespace {

constexpr int64_t kMostIterations = 100;  // each is part of the step
constexpr int64_t kFirstIterations = 15;  // as torch.nn.utils.parametrizations.spectral_norm begins
constexpr double kEps = 1e-12;

std::span<const Key> weight_norm_keys() {
  static const std::array<Key, 1> keys = {Key{
      .name = "axis", .doc = "the weight's axis of which each index has a norm of its own", .fallback = int64_t{0}}};
  return keys;
}

std::array<Key, 3> spectral_keys_of(int64_t rows) {
  return {Key{.name = "iterations",
              .doc = "power iterations of a training step",
              .fallback = int64_t{1},
              .range = ir::between(1, kMostIterations)},
          Key{.name = "eps",
              .type = KeyType::real,
              .doc = "smaller norms of u and v count as this one",
              .fallback = kEps,
              .range = as_f32(ir::kAboveZero)},
          Key{.name = "axis", .doc = "the weight's axis that is the rows of the matrix", .fallback = rows}};
}

std::span<const Key> spectral_keys() {
  static const std::array<Key, 3> keys = spectral_keys_of(0);
  return keys;
}

std::span<const Key> transposed_spectral_keys() {
  static const std::array<Key, 3> keys = spectral_keys_of(1);
  return keys;
}

const Json* given(const Settings& settings, const char* name) {
  const Json* value = settings.json(name);
  return value == nullptr || (value->kind == Json::Kind::flag && !value->flag) ? nullptr : value;
}

// What the setting says: its members where it is an object, defaults alone where it is true.
class Rule {
 public:
  Rule(const LayerContext& c, const Json& value, std::span<const Key> keys)
      : settings_(value.items, keys, c.settings.scope(), fmt::format("{}: {}", c.settings.title(), value.key),
                  value.where) {
    Diagnostics faults;
    check_keys({value.items, value.nulls}, {{}, keys}, {settings_.title(), value.where, "setting"}, faults);
    faults.throw_if_any();
    settings_.check_ranges();
  }

  const Settings& settings() const { return settings_; }

  // Counted from the front.
  int64_t axis(const Dims& dims) const {
    const auto rank = static_cast<int64_t>(dims.size());
    const int64_t axis = settings_.integer("axis");
    if (axis < -rank || axis >= rank)
      settings_.fail("axis", fmt::format("axis {} is outside the weight {}", axis, ir::to_string(dims)));
    return axis < 0 ? axis + rank : axis;
  }

 private:
  Settings settings_;
};

// Where an axis of the weight lies in memory, and the other axes there.
struct Axes {
  int64_t own = 0;
  Dims others;
};

Axes axes_in_memory(size_t rank, const ir::Layout& layout, int64_t axis) {
  Axes axes{layout.empty() ? axis : ir::inverse(layout)[static_cast<size_t>(axis)], {}};
  for (int64_t d = 0; d < static_cast<int64_t>(rank); ++d)
    if (d != axes.own) axes.others.push_back(d);
  return axes;
}

// Operations on one weight, [memory dims], under a name. They build the initial values, too.
class Weight {
 public:
  Weight(ir::Builder& b, std::string name, const ir::Layout& layout, int64_t axis, const Dims& memory)
      : b_(b), name_(std::move(name)), memory_(memory), axes_(axes_in_memory(memory.size(), layout, axis)) {
    Dims logical;  // the other axes as files have them
    for (int64_t d = 0; d < static_cast<int64_t>(memory.size()); ++d)
      if (d != axis) logical.push_back(d);
    for (const int64_t m : axes_.others) {
      const int64_t d = layout.empty() ? m : layout[static_cast<size_t>(m)];
      order_.push_back(std::ranges::find(logical, d) - logical.begin());
      others_.push_back(memory[static_cast<size_t>(m)]);
    }
  }

  ValueId emit(std::string_view op, const ir::Values& operands, ir::Attrs attrs, std::string_view suffix) {
    return b_(op, operands, std::move(attrs), fmt::format("{}.{}", name_, suffix));
  }

  ValueId number(double value, ValueId like) {
    b_.prefix = name_ + ".constant";
    return b_.like(value, like);
  }

  int64_t rows() const { return memory_[static_cast<size_t>(axes_.own)]; }
  int64_t columns() const { return ir::product(others_); }

  // [rows] and the other axes in memory, to the weight's shape.
  ValueId along_rows(ValueId v, std::string_view suffix) {
    return emit("broadcast", {v}, {{"dims", Dims{axes_.own}}, {"shape", memory_}}, suffix);
  }
  ValueId along_columns(ValueId v, std::string_view suffix) {
    return emit("broadcast", {v}, {{"dims", axes_.others}, {"shape", memory_}}, suffix);
  }

  // The sum of squares of each row, [rows].
  ValueId squared_norms(ValueId w) {
    return emit("reduce_sum", {emit("square", {w}, {}, "squares")}, {{"axes", axes_.others}}, "squared_norms");
  }

  // [columns] in the order of files, as the other axes lie in memory; and back.
  ValueId shaped(ValueId v) {
    Dims logical(others_.size());
    for (size_t i = 0; i < order_.size(); ++i) logical[static_cast<size_t>(order_[i])] = others_[i];
    const ValueId wide = logical.size() == 1 ? v : emit("reshape", {v}, {{"shape", logical}}, "v.axes");
    return in_order() ? wide : emit("transpose", {wide}, {{"perm", order_}}, "v.memory");
  }
  ValueId flat(ValueId v) {
    const ValueId turned = in_order() ? v : emit("transpose", {v}, {{"perm", ir::inverse(order_)}}, "v.axes");
    return others_.size() == 1 ? turned : emit("reshape", {turned}, {{"shape", Dims{columns()}}}, "v.flat");
  }

  // W v [rows] and W^T u [the other axes in memory].
  ValueId times_columns(ValueId w, ValueId v) {
    const ValueId terms = emit("mul", {w, along_columns(v, "v.all")}, {}, "wv.terms");
    return emit("reduce_sum", {terms}, {{"axes", axes_.others}}, "wv");
  }
  ValueId times_rows(ValueId w, ValueId u) {
    const ValueId terms = emit("mul", {w, along_rows(u, "u.all")}, {}, "wu.terms");
    return emit("reduce_sum", {terms}, {{"axes", Dims{axes_.own}}}, "wu");
  }

  // v / max(|v|, eps)
  ValueId unit(ValueId v, double eps, std::string_view suffix) {
    const Dims dims = b_.type(v).dims;
    Dims all(dims.size());
    std::iota(all.begin(), all.end(), 0);
    const ValueId squares = emit("square", {v}, {}, fmt::format("{}.squares", suffix));
    const ValueId squared = emit("reduce_sum", {squares}, {{"axes", all}}, fmt::format("{}.squared_norm", suffix));
    const ValueId norm = emit("sqrt", {squared}, {}, fmt::format("{}.norm", suffix));
    const ValueId guarded = emit("max", {norm, number(eps, norm)}, {}, fmt::format("{}.guarded_norm", suffix));
    const ValueId wide =
        emit("broadcast", {guarded}, {{"dims", Dims{}}, {"shape", dims}}, fmt::format("{}.norm.all", suffix));
    return emit("div", {v, wide}, {}, suffix);
  }

 private:
  bool in_order() const { return std::ranges::is_sorted(order_); }

  ir::Builder& b_;
  std::string name_;
  Dims memory_;
  Axes axes_;
  Dims order_;   // of each other axis in memory, its place among those of files
  Dims others_;  // sizes of the other axes in memory
};

// Left and right singular vectors, as far as they are known: [rows], and the other axes in memory.
struct Vectors {
  ValueId u, v;
};

Vectors iterate(Weight& weight, ValueId w, Vectors at, int64_t iterations, double eps) {
  for (int64_t i = 0; i < iterations; ++i) {
    at.u = weight.unit(weight.times_columns(w, at.v), eps, "u.next");
    at.v = weight.unit(weight.times_rows(w, at.u), eps, "v.next");
  }
  return at;
}

// --- initial values: they read those of the parameter whose path `words["of"]` holds, which stand before them ---

ValueId initial_original(ir::Builder& b, const Initializer& init) {
  const ValueId v = b.graph.find(init.words.at("of") + ".init");
  HEDDLE_CHECK(v.valid(), init.words.at("of"));
  return v;
}

Weight initial_weight(ir::Builder& b, const Initializer& init, ValueId value) {
  const std::string& of = init.words.at("of");
  const ir::Layout layout = b.graph[b.graph.find(of)].layout;
  return {b, of + ".start", layout, static_cast<int64_t>(init.values.at("axis")), b.type(value).dims};
}

using Random = std::function<ValueId(std::string_view op)>;

const InitializerDef& norms_of_weight() {
  static const InitializerDef def = {
      .name = "norms of the weight",
      .doc = "of g",
      .build = [](ir::Builder& b, const ir::Type& type, const Initializer& init, const Random&) {
        const ValueId v = initial_original(b, init);
        Weight weight = initial_weight(b, init, v);
        const ValueId norms = weight.emit("sqrt", {weight.squared_norms(v)}, {}, "norms");
        return weight.emit("reshape", {norms}, {{"shape", type.dims}}, "g");
      }};
  return def;
}

std::string last_u(const std::string& of) { return of + ".last_u"; }

// A normal vector, and the first iterations; the u of the last one waits under the name last_u.
const InitializerDef& right_vector() {
  static const InitializerDef def = {
      .name = "right singular vector",
      .doc = "of a spectral norm",
      .build = [](ir::Builder& b, const ir::Type&, const Initializer& init, const Random& random) {
        const ValueId w = initial_original(b, init);
        Weight weight = initial_weight(b, init, w);
        const double eps = init.values.at("eps");
        const ValueId drawn = weight.unit(random("random_normal"), eps, "v.drawn");
        const Vectors start = iterate(weight, w, {{}, weight.shaped(drawn)}, kFirstIterations, eps);
        b.graph.rename(start.u, last_u(init.words.at("of")));
        return weight.flat(start.v);
      }};
  return def;
}

const InitializerDef& left_vector() {
  static const InitializerDef def = {.name = "left singular vector",
                                     .doc = "of a spectral norm",
                                     .build = [](ir::Builder& b, const ir::Type&, const Initializer& init,
                                                 const Random&) { return b.graph.find(last_u(init.words.at("of"))); }};
  return def;
}

// --- the weights ---

// What its parameters are called: "weight" -> "fc.parametrizations.weight".
std::string base_path(const LayerContext& c, const std::string& name) {
  const size_t dot = name.rfind('.');
  const size_t last = dot == std::string::npos ? 0 : dot + 1;
  return fmt::format("{}.{}parametrizations.{}", c.path, name.substr(0, last), name.substr(last));
}

// A vector of zeros is zeros whatever g is, with finite gradients: rows of padding are.
MadeWeight weight_normed(LayerContext& c, const Rule& rule, const std::string& name, const ParameterSpec& weight,
                         const Initializer& init) {
  const Dims& dims = weight.type.dims;
  const int64_t axis = rule.axis(dims);
  const std::string base = base_path(c, name);
  const ParameterSpec of_v{base + ".original1", weight.type, weight.layout};
  const ValueId v = c.graph.parameter(of_v, init, c.node.op_where);
  Dims one(dims.size(), 1);
  one[static_cast<size_t>(axis)] = dims[static_cast<size_t>(axis)];
  const Initializer norms{
      .def = &norms_of_weight(), .values = {{"axis", static_cast<double>(axis)}}, .words = {{"of", of_v.path}}};
  const ValueId g = c.graph.parameter({base + ".original0", {weight.type.dtype, one}, {}}, norms, c.node.op_where);

  Weight w(c.b, fmt::format("{}.{}", c.path, name), weight.layout, axis, c.dims(v));
  const ValueId squared = w.squared_norms(v);
  const ValueId is_zero = w.emit("eq", {squared, w.number(0, squared)}, {}, "is_zero");
  const ValueId safe = w.emit("select", {is_zero, w.number(1, squared), squared}, {}, "safe");
  const ValueId lengths = w.emit("reshape", {g}, {{"shape", Dims{w.rows()}}}, "lengths");
  const ValueId factor = w.emit("div", {lengths, w.emit("sqrt", {safe}, {}, "norms")}, {}, "factor");
  return {w.emit("mul", {v, w.along_rows(factor, "factor.all")}, {}, "normed"), v};
}

MadeWeight spectrally_normed(LayerContext& c, const Rule& rule, const std::string& name, const ParameterSpec& weight,
                             const Initializer& init) {
  const int64_t axis = rule.axis(weight.type.dims);
  const double eps = rule.settings().real("eps");
  const std::string base = base_path(c, name);
  const ParameterSpec of_w{base + ".original", weight.type, weight.layout};
  const ValueId original = c.graph.parameter(of_w, init, c.node.op_where);
  Weight w(c.b, fmt::format("{}.{}", c.path, name), weight.layout, axis, c.dims(original));
  const auto buffer = [&](const char* which, int64_t size, const InitializerDef& def) {
    const Initializer start{
        .def = &def, .values = {{"axis", static_cast<double>(axis)}, {"eps", eps}}, .words = {{"of", of_w.path}}};
    return c.graph.parameter({fmt::format("{}.0.{}", base, which), {weight.type.dtype, {size}}, {}, ir::Role::buffer},
                             start, c.node.op_where);
  };
  const ValueId right = buffer("_v", w.columns(), right_vector());  // first: the other one's start comes from it
  const ValueId left = buffer("_u", w.rows(), left_vector());

  Vectors at{left, w.shaped(right)};
  if (c.training) {
    const ValueId constant = w.emit("stop_gradient", {original}, {}, "constant_weight");
    at = iterate(w, constant, at, rule.settings().integer("iterations"), eps);
    c.update(left, at.u);
    c.update(right, w.flat(at.v));
  }
  const ValueId terms = w.emit("mul", {at.u, w.times_columns(original, at.v)}, {}, "sigma.terms");
  const ValueId sigma = w.emit("reduce_sum", {terms}, {{"axes", Dims{0}}}, "sigma");
  const ValueId all = w.emit("broadcast", {sigma}, {{"dims", Dims{}}, {"shape", c.dims(original)}}, "sigma.all");
  return {w.emit("div", {original, all}, {}, "normed"), original};
}

}  // namespace

const Json* made_weight_setting(const Settings& settings) {
  const Json* weight = given(settings, "weight_norm");
  return weight != nullptr ? weight : given(settings, "spectral_norm");
}

std::optional<MadeWeight> made_weight(LayerContext& c, const std::string& name, const Dims& dims,
                                      const ir::Layout& layout, const Initializer& init) {
  const Json* made = made_weight_setting(c.settings);
  if (made == nullptr) return std::nullopt;
  const bool spectral = made->key == "spectral_norm";
  if (!spectral && given(c.settings, "spectral_norm") != nullptr)
    c.fail_setting("spectral_norm", "'weight_norm' and 'spectral_norm' both say what the weight is made of",
                   "leave out one of them");
  const Key& key = *ir::find_key(find_layer(c.node.op)->settings, made->key);
  const Rule rule(c, *made, key.keys());
  const ParameterSpec weight{{}, {ir::DType::f32, dims}, layout};
  return spectral ? spectrally_normed(c, rule, name, weight, init) : weight_normed(c, rule, name, weight, init);
}

std::vector<Key> made_weight_settings(int64_t rows) {
  HEDDLE_CHECK(rows == 0 || rows == 1, "an axis of filters");
  return {{.name = "weight_norm",
           .type = KeyType::object,
           .doc = "weight = g v / |v|, trained by lengths g and directions v",
           .fallback = false,
           .keys = weight_norm_keys},
          {.name = "spectral_norm",
           .type = KeyType::object,
           .doc = "weight divided by its largest singular value, which power iterations follow",
           .fallback = false,
           .keys = rows == 0 ? spectral_keys : transposed_spectral_keys}};
}

}  // namespace heddle::frontend
