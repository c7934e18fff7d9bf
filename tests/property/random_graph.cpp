#include "tests/property/random_graph.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "ir/builder.h"

namespace heddle::testing {
using namespace ir;

namespace {

constexpr int64_t kMaxElements = 1500;

using Names = std::set<std::string>;
// Operators whose results neither leave the operands' range by much nor have a limited domain.
const Names kSafe = {"abs", "add",     "clamp", "ge",       "gt",   "le",    "leaky_relu", "log_sigmoid",
                     "lt",  "max",     "min",   "mul",      "neg",  "relu",  "sin",        "cos",
                     "sub", "sigmoid", "silu",  "softsign", "tanh", "relu6", "hard_swish", "softplus"};
// A rounding error of the operands may become a difference of 1.
const Names kJumping = {"ceil", "eq", "floor", "mod", "ne", "round", "sign"};
const Names kSmooth = {"add",  "cos", "erf",      "exp", "gelu",     "mul",    "neg", "sigmoid",
                       "silu", "sin", "softplus", "sub", "softsign", "square", "tanh"};

class Generator {
 public:
  Generator(const std::string& name, uint32_t seed, const RandomGraphOptions& options)
      : options_(options), random_(seed), b_(g_) {
    g_.name = name;
    seed_ = g_.add_input(name + ".seed", {DType::i64, {}}, Role::state);
    step_ = g_.add_input(name + ".step", {DType::i64, {}}, Role::state);
    for (const Dims& dims : {Dims{6, 5}, Dims{2, 6, 5, 3}, small_shape()}) exact_.push_back(input(dims));
    if (!options.smooth) exact_.push_back(g_.add_input(name + ".i", {DType::i32, {6, 5}}, Role::input));
    values_ = exact_;
  }

  Graph run() {
    for (int i = 0; i < options_.nodes; ++i) {
      const size_t before = g_.order.size();
      for (int attempt = 0; attempt < 20 && g_.order.size() == before; ++attempt) extend();
    }
    if (options_.gradients || options_.smooth) train();
    while (g_.outputs.size() < 4) {
      const ValueId v = pick(values_);
      if (!g_.is_output(v)) g_.outputs.push_back(v);
    }
    return std::move(g_);
  }

 private:
  int64_t below(int64_t bound) { return static_cast<int64_t>(random_()) % bound; }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[static_cast<size_t>(below(static_cast<int64_t>(list.size())))];
  }
  const Type& type(ValueId v) const { return g_[v].type; }
  bool real(ValueId v) const { return is_floating(type(v).dtype); }

  Dims small_shape() {
    Dims dims;
    for (int64_t rank = 1 + below(3); rank > 0; --rank) dims.push_back(1 + below(6));
    return dims;
  }
  ValueId input(const Dims& dims) { return g_.add_input(g_.name + ".x", {DType::f32, dims}, Role::input); }
  ValueId param(const Dims& dims) {
    params_.push_back(g_.add_input(g_.name + ".w", {DType::f32, dims}, Role::param));
    return params_.back();
  }

  void keep(ValueId v) {
    if (g_[v].type.elements() <= kMaxElements) values_.push_back(v);
  }

  // A floating value of f32, the most recent ones more often.
  ValueId recent() {
    for (int attempt = 0; attempt < 30; ++attempt) {
      const ValueId v =
          chance(50) ? values_[values_.size() - 1 -
                               static_cast<size_t>(below(std::min<int64_t>(5, static_cast<int64_t>(values_.size()))))]
                     : pick(values_);
      if (type(v).dtype == DType::f32) return v;
    }
    return values_[0];
  }

  // Another value of the same type: one there is, a parameter, a constant, or a repeated scalar.
  ValueId partner(ValueId v) {
    const Type t = type(v);
    Values same;
    for (ValueId other : values_)
      if (type(other) == t) same.push_back(other);
    if (chance(60)) return pick(same);
    const double constants[] = {0, 1, -1, 2, 0.5};
    if (t.dtype != DType::f32 || chance(40))
      return b_.constant(
          t.dtype == DType::boolean || is_integer(t.dtype) ? static_cast<double>(below(2)) : constants[below(5)], t);
    const ValueId w = param(t.dims.empty() || chance(50) ? t.dims : Dims{t.dims.back()});
    return b_.broadcast_to(w, t.dims);
  }

  void extend() {
    switch (below(options_.smooth ? 6 : 10)) {
      case 0:
      case 1: return elementwise();
      case 2: return movement();
      case 3: return contraction();
      case 4: return reduction();
      case 5: return composite();
      case 6: return pooling();
      case 7: return source();
      case 8: return choose();
      default: return redundancy();
    }
  }

  // --- elementwise ---
  void elementwise() {
    std::vector<const OpDef*> ops;
    for (const OpDef* op : all_ops())
      if (std::holds_alternative<Elementwise>(op->kind) && (!options_.smooth || kSmooth.count(op->name)))
        ops.push_back(op);
    const OpDef& op = *pick(ops);
    if (op.name == "select") return choose();
    if (op.name == "cast") return convert();
    const ValueId x = kJumping.count(op.name) ? pick(exact_) : chance(80) ? recent() : pick(values_);
    if (!op.dtypes.empty() && std::find(op.dtypes.begin(), op.dtypes.end(), type(x).dtype) == op.dtypes.end()) return;
    if (type(x).dtype == DType::boolean && op.name != "and" && op.name != "or" && op.name != "xor" && op.name != "not")
      return;
    if (is_integer(type(x).dtype) && (op.name == "div" || op.name == "mod" || op.name == "pow")) return;  // by zero
    Values operands = {x};
    while (operands.size() < op.operands.size()) operands.push_back(kJumping.count(op.name) ? x : partner(x));
    for (ValueId& v : operands)
      if (real(v) && !kSafe.count(op.name)) v = within(v, op);
    Attrs attrs;
    if (op.name == "clamp" && real(x)) attrs = {{"low", -0.5}, {"high", 1.0}};
    if (op.name == "clamp" && !real(x)) attrs = {{"low", 1.0}, {"high", 2.0}};
    keep(b_(op.name, operands, attrs));
  }

  // Clamped to the range on which the operator is tested.
  ValueId within(ValueId v, const OpDef& op) {
    const double low = op.samples.at(0).low, high = op.samples.at(0).high;
    if (options_.smooth)
      return b_("mul", {b_("sin", {v}), b_.constant(std::min(std::abs(low), std::abs(high)), Type(type(v)))});
    return b_("clamp", {v}, {{"low", low}, {"high", high}});
  }

  void convert() {
    if (options_.narrow) {
      const char* dtypes[] = {"f64", "f16", "bf16", "f32"};
      const ValueId v = b_("cast", {recent()}, {{"dtype", dtypes[below(4)]}});
      return keep(chance(50) ? b_.cast(v, DType::f32) : v);
    }
    const ValueId v = pick(values_);
    if (is_integer(type(v).dtype) || type(v).dtype == DType::boolean) keep(b_.cast(v, DType::f32));
  }

  void choose() {
    const ValueId x = recent(), y = partner(x);
    const char* comparisons[] = {"lt", "le", "gt", "ge"};
    const ValueId c = b_(comparisons[below(4)], {x, partner(x)});
    values_.push_back(c);
    keep(b_("select", {c, x, y}));
  }

  // --- movement ---
  void movement() {
    const ValueId x = chance(80) ? recent() : pick(values_);
    switch (below(7)) {
      case 0: return transpose(x);
      case 1: return slice(x);
      case 2: return pad(x);
      case 3: return broadcast(x);
      case 4: return reshape(x);
      case 5: return concat(x);
      default: return reverse(x);
    }
  }

  void transpose(ValueId x) {
    Dims perm;
    for (int64_t i = 0; i < type(x).rank(); ++i) perm.push_back(i);
    std::shuffle(perm.begin(), perm.end(), random_);
    keep(b_("transpose", {x}, {{"perm", perm}}));
  }
  void slice(ValueId x) {
    Dims starts, limits, strides;
    for (const int64_t d : Dims(type(x).dims)) {
      starts.push_back(chance(50) ? 0 : below(d));
      limits.push_back(chance(50) ? d : starts.back() + 1 + below(d - starts.back()));
      strides.push_back(chance(70) ? 1 : 1 + below(3));
    }
    keep(b_("slice", {x}, {{"starts", starts}, {"limits", limits}, {"strides", strides}}));
  }
  void pad(ValueId x) {
    Dims low, high, interior;
    for (int64_t i = 0; i < type(x).rank(); ++i) {
      low.push_back(below(3) / 2);
      high.push_back(below(3) / 2);
      interior.push_back(below(6) / 5);
    }
    keep(b_("pad", {x},
            {{"low", low}, {"high", high}, {"interior", interior}, {"fill", real(x) && chance(30) ? 0.25 : 0.0}}));
  }
  void broadcast(ValueId x) {
    Dims shape, dims;
    for (const int64_t d : Dims(type(x).dims)) {
      if (chance(25)) shape.push_back(1 + below(4));
      dims.push_back(static_cast<int64_t>(shape.size()));
      shape.push_back(d == 1 ? 1 + below(4) : d);
    }
    if (chance(25)) shape.push_back(1 + below(4));
    if (product(shape) <= kMaxElements && shape.size() < 6)
      keep(b_("broadcast", {x}, {{"dims", dims}, {"shape", shape}}));
  }
  void reshape(ValueId x) {
    Dims shape;
    int64_t left = type(x).elements();
    while (left > 1) {
      int64_t d = 1 + below(left);
      while (left % d != 0) --d;
      shape.push_back(d == 1 ? left : d);
      left /= shape.back();
    }
    if (shape.size() < 6) keep(b_("reshape", {x}, {{"shape", shape}}));
  }
  void concat(ValueId x) {
    if (type(x).rank() == 0) return;
    Values parts = {x, partner(x)};
    if (chance(50)) parts.push_back(partner(x));
    keep(b_("concat", parts, {{"axis", below(type(x).rank())}}));
  }
  void reverse(ValueId x) {
    if (type(x).rank() > 0) keep(b_("reverse", {x}, {{"axes", Dims{below(type(x).rank())}}}));
  }

  // --- contractions, reductions, windows ---
  void contraction() {
    const ValueId x = recent();
    const Dims dims = type(x).dims;
    if (dims.size() == 4 && chance(70)) {
      const ValueId w =
          param({2, dims[3], 1 + below(std::min<int64_t>(3, dims[1])), 1 + below(std::min<int64_t>(3, dims[2]))});
      keep(b_("conv2d", {x, w}, {{"strides", Dims{1 + below(2), 1}}}));
    } else if (dims.size() == 2) {
      const bool ta = chance(30), tb = chance(50);
      const int64_t k = dims[ta ? 0 : 1], n = 1 + below(6);
      const ValueId w = param(tb ? Dims{n, k} : Dims{k, n});
      keep(b_("matmul", {x, chance(20) && tb ? b_("transpose", {param({k, n})}, {{"perm", Dims{1, 0}}}) : w},
              {{"transpose_a", ta}, {"transpose_b", tb}}));
    }
  }

  void reduction() {
    const ValueId x = recent();
    Dims axes;
    for (int64_t i = 0; i < type(x).rank(); ++i)
      if (chance(50)) axes.push_back(i);
    const char* ops[] = {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min"};
    if (options_.smooth) return keep(b_(ops[below(2)], {x}, {{"axes", axes}}));
    if (type(x).rank() > 0 && chance(15)) return keep(b_("argmax", {pick(exact_)}, {{"axis", int64_t{0}}}));
    keep(b_(ops[below(4)], {x}, {{"axes", axes}}));
  }

  void pooling() {
    const ValueId x = recent();
    const Dims dims = type(x).dims;
    if (dims.size() != 4 || dims[1] < 2 || dims[2] < 2) return;
    const Attrs attrs{
        {"window", Dims{2, 2}}, {"strides", Dims{1 + below(2), 1 + below(2)}}, {"pads", Dims{0, 0, 0, 0}}};
    keep(b_.multi(chance(50) ? "max_pool2d" : "avg_pool2d", {x}, attrs)[0]);
  }

  void composite() {
    const ValueId x = recent();
    const Dims dims = type(x).dims;
    if (dims.empty()) return;
    switch (below(options_.smooth ? 2 : 5)) {
      case 0:
        return keep(
            b_(chance(50) ? "softmax" : "log_softmax", {x}, {{"axis", below(static_cast<int64_t>(dims.size()))}}));
      case 1: return keep(b_("layer_norm", {x, param({dims.back()}), param({dims.back()})}));
      case 2: return keep(b_("squared_norm", {within(x, op_def("square")), partner(x)}));
      case 3: return keep(b_("dropout", {x, seed_, step_}, {{"rate", 0.5}, {"stream", below(1000)}}));
      default: break;
    }
    if (dims.size() != 2) return;
    const ValueId labels = b_("iota", {}, {{"shape", Dims{dims[0]}}});
    const ValueId last = b_.like(static_cast<double>(dims[1] - 1), labels);
    keep(b_("cross_entropy", {x, b_("min", {labels, last})}));
  }

  void source() {
    const Dims dims = small_shape();
    if (chance(50))
      return keep(
          b_(chance(50) ? "random_uniform" : "random_normal", {seed_, step_}, {{"shape", dims}, {"stream", below(3)}}));
    keep(b_("iota", {}, {{"shape", dims}, {"dtype", "f32"}, {"axis", below(static_cast<int64_t>(dims.size()))}}));
  }

  // What simplify and layout look for: the same again, there and back, nothing at all.
  void redundancy() {
    const ValueId x = recent(), y = partner(x);
    const auto neg = [&](ValueId v) { return b_("neg", {v}); };
    switch (below(12)) {
      case 0: return keep(neg(neg(x)));
      case 1: return keep(b_("add", {b_("tanh", {x}), b_("tanh", {x})}));
      case 2: return keep(b_("mul", {x, b_.like(1, x)}));
      case 3: return keep(b_.reshape(b_("reshape", {x}, {{"shape", Dims{type(x).elements()}}}), Dims(type(x).dims)));
      case 4: return keep(neg(b_("sub", {x, y})));
      case 5: return keep(b_("sub", {x, neg(y)}));
      case 6: return keep(b_("add", {neg(x), y}));
      case 7: return keep(b_("mul", {neg(x), neg(y)}));
      case 8: return keep(b_("select", {b_("not", {b_("lt", {x, y})}), x, y}));
      case 9: return rejoined(x, y);
      case 10: return repeated(x);
      default: return turned(x);
    }
  }

  // x out of what it was put into: between two operands, or two pads.
  void rejoined(ValueId x, ValueId y) {
    const Dims dims = type(x).dims;
    if (dims.empty()) return;
    Dims starts(dims.size(), 0), limits = dims, ends(dims.size(), 0);
    starts[0] = dims[0];
    limits[0] = 2 * dims[0];
    const Attrs within{{"starts", starts}, {"limits", limits}};
    keep(b_("slice", {b_("concat", {y, x, y}, {{"axis", int64_t{0}}})}, within));
    const ValueId padded =
        b_("pad", {b_("pad", {x}, {{"low", starts}, {"high", ends}})}, {{"low", ends}, {"high", starts}});
    keep(b_("slice", {padded}, within));
  }

  void repeated(ValueId x) {
    const Dims dims = type(x).dims;
    Dims shape = {3}, to;
    for (size_t i = 0; i < dims.size(); ++i) to.push_back(static_cast<int64_t>(i) + 1);
    shape.insert(shape.end(), dims.begin(), dims.end());
    const ValueId wide = b_("broadcast", {x}, {{"dims", to}, {"shape", shape}});
    const Dims axes = dims.empty() || chance(50) ? Dims{0} : Dims{0, 1};
    keep(b_(chance(50) ? "reduce_sum" : "reduce_max", {wide}, {{"axes", axes}}));
  }

  void turned(ValueId x) {
    const int64_t rank = type(x).rank();
    if (rank < 2) return;
    Dims perm, back;
    for (int64_t i = 0; i < rank; ++i) perm.push_back((i + 1) % rank);
    for (int64_t i = 0; i < rank; ++i) back.push_back((i + rank - 1) % rank);
    keep(b_("transpose", {b_("relu", {b_("transpose", {x}, {{"perm", perm}})})}, {{"perm", back}}));
  }

  // --- training ---
  ValueId loss() {
    ValueId total = b_.constant(0, {DType::f32, {}});
    for (ValueId v : Values(values_)) {
      if (type(v).dtype != DType::f32 || (!options_.smooth && chance(60))) continue;
      total = b_("add", {total, b_("reduce_mean", {b_("tanh", {v})})});
    }
    return b_("mul", {total, b_.like(0.5, total)}, {}, "loss");
  }

  void train() {
    ValueId l = loss();
    g_.outputs.push_back(l);
    if (!options_.smooth && chance(20) && !params_.empty())  // a penalty on a gradient: second order
      l = b_("add", {l, b_("squared_norm", {b_("gradient", {l, params_[0]})})});
    Values grads;
    for (ValueId w : params_) grads.push_back(b_("gradient", {l, w}, {}, g_[w].name + ".grad"));
    if (options_.smooth) {
      g_.outputs.insert(g_.outputs.end(), grads.begin(), grads.end());
      return;
    }
    if (grads.empty()) return;
    if (chance(50)) {
      const ValueId norm = b_("sqrt", {b_("squared_norm", grads)});
      clip_ = b_("min", {b_.like(1, norm), b_("div", {b_.like(1, norm), b_("add", {norm, b_.like(1e-6, norm)})})});
    }
    const bool momentum = chance(50);
    for (size_t i = 0; i < params_.size(); ++i) update(params_[i], grads[i], momentum);
    const ValueId next = b_("add", {step_, b_.like(1, step_)});
    g_.updates.push_back({step_, next});
  }

  ValueId scaled(ValueId v, double factor) { return b_("mul", {v, b_.like(factor, v)}); }

  void update(ValueId w, ValueId grad, bool momentum) {
    b_.prefix = g_[w].name;
    if (clip_.valid()) grad = b_("mul", {grad, b_.broadcast_to(clip_, Dims(type(w).dims))});
    if (type(w).rank() > 1) grad = b_("add", {grad, scaled(w, 0.01)});
    if (momentum) {
      const ValueId m = g_.add_input(g_[w].name + ".m", Type(type(w)), Role::state);
      grad = b_("add", {scaled(m, 0.9), grad}, {}, g_[m].name + ".next");
      g_.updates.push_back({m, grad});
    }
    g_.updates.push_back({w, b_("sub", {w, scaled(grad, 0.1)}, {}, g_[w].name + ".next")});
    b_.prefix.clear();
  }

  RandomGraphOptions options_;
  std::mt19937 random_;
  Graph g_;
  Builder b_;
  ValueId seed_, step_, clip_;
  Values exact_, values_, params_;
};

Graph init_graph(const Graph& g) {
  Graph init;
  init.name = g.name + ".init";
  Builder b(init);
  const ValueId seed = init.add_input(g.name + ".seed", {DType::i64, {}}, Role::state);
  const ValueId step = init.add_input(g.name + ".step", {DType::i64, {}}, Role::state);
  int64_t stream = 0;
  for (ValueId v : g.inputs) {
    if (g[v].role != Role::param) continue;
    const ValueId w = init.add_input(g[v].name, g[v].type, Role::param);
    init.updates.push_back({w, b("random_normal", {seed, step}, {{"shape", g[v].type.dims}, {"stream", ++stream}})});
  }
  return init;
}

}  // namespace

void add_random_graph(Module& m, const std::string& name, uint32_t seed, const RandomGraphOptions& options) {
  m.graphs.push_back(Generator(name, seed, options).run());
  if (!m.graphs.back().updates.empty()) m.graphs.push_back(init_graph(Graph(m.graphs.back())));
}

NamedTensors random_inputs(const Module& m, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-2, 2);
  NamedTensors inputs;
  for (const Graph& g : m.graphs)
    for (ValueId v : g.inputs) {
      Tensor t(g[v].type);
      for (int64_t i = 0; i < t.elements(); ++i)
        t.set(i, t.floating() ? round_to(DType::f32, uniform(random)) : static_cast<double>(random() % 4));
      inputs.emplace(g[v].name, std::move(t));
    }
  return inputs;
}

double difference(const Tensor& expected, const Tensor& got) {
  double scale = 1, most = 0;
  for (int64_t i = 0; i < expected.elements(); ++i)
    if (std::isfinite(expected.at(i))) scale = std::max(scale, std::abs(expected.at(i)));
  for (int64_t i = 0; i < expected.elements(); ++i) {
    const double a = expected.at(i), b = got.at(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const double apart = std::abs(a - b);
    most = std::max(most, std::isnan(apart) ? INFINITY : apart / scale);
  }
  return most;
}

}  // namespace heddle::testing
