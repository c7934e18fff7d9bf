// The proofs of simplify's rules. A graph to which the rule applies is evaluated before and after, as kernels compute
// it: each result rounded to its dtype, integers wrapped.
//
// A scalar rule is proved from its own text, in every dtype that it holds for: over all values of bool, i8 and u8 and
// all pairs of them, all values of the 16-bit types, and the edges of every type with their pairs. The other rules are
// proved on random graphs, made by name: a rule without its graphs fails.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>

#include "ir/evaluate/arithmetic.h"
#include "passes/simplify/expression.h"
#include "tests/numeric/edge_values.h"
#include "tests/numeric/harness.h"

namespace heddle::testing {
namespace {

using namespace ir;
using passes::Agreement;
using passes::Expression;
using passes::Rule;
using passes::ScalarRule;

// --- What two results may differ by

// A few units of the last place, of the result or of what it is computed from. `scale` is the largest magnitude there.
double tolerance(DType dtype, double expected, double scale) {
  const double unit = dtype == DType::f64   ? 0x1p-50
                      : dtype == DType::f32 ? 0x1p-21
                      : dtype == DType::f16 ? 0x1p-9
                                            : 0x1p-6;
  const double spacing = dtype == DType::f16 ? 0x1p-24 : 0x1p-126;
  return unit * std::max(std::abs(expected), std::isfinite(scale) ? scale : 0) + spacing;
}

bool agree(const Tensor& before, const Tensor& after, int64_t i, Agreement agreement, double scale) {
  const double x = before.at(i), y = after.at(i);
  if (same_element(before, after, i)) return true;
  if (agreement == Agreement::exact || !before.floating()) return false;
  if (x == 0 && y == 0) return true;
  return agreement == Agreement::rounding && std::abs(x - y) <= tolerance(before.type.dtype, x, scale);
}

// --- One application of a rule

struct Example {
  Graph graph;  // its output is the value that the rule replaces
  NamedTensors inputs;
  double scale = 0;
};

// The graph with the rule applied to its output; none where the rule does not apply.
template <class Apply>
std::optional<Graph> rewritten(const Graph& before, Apply apply) {
  Graph g = before;
  const ValueId old = g.outputs[0];
  const Node n = *g.def(old);
  Builder b(g);
  b.prefix = "new";
  const ValueId with = apply(b, n);
  if (!with.valid()) return std::nullopt;
  EXPECT_EQ(g[with].type, g[old].type);
  g.outputs[0] = with;
  return g;
}

std::string point(const NamedTensors& inputs, int64_t i) {
  std::string text;
  for (const auto& [name, t] : inputs)
    if (i < t.elements())
      text += t.floating() ? fmt::format(" {} = {}", name, t.real[static_cast<size_t>(i)])
                           : fmt::format(" {} = {}", name, t.integer[static_cast<size_t>(i)]);
  return text;
}

// What a rule gets wrong first, "" where it is right.
std::string difference(const Example& e, const Graph& after, Agreement agreement) {
  const EvaluateOptions rounded{.precision = Precision::rounded};
  const Tensor x = evaluate({}, e.graph, e.inputs, rounded).outputs[0];
  const Tensor y = evaluate({}, after, e.inputs, rounded).outputs[0];
  for (int64_t i = 0; i < x.elements(); ++i)
    if (!agree(x, y, i, agreement, e.scale))
      return fmt::format("{}: {} before, {} after, at{}", to_string(x.type), x.at(i), y.at(i), point(e.inputs, i));
  return "";
}

// --- Scalar rules

void names_of(const Expression& e, std::vector<std::string>& names) {
  if (e.is_value() && !e.number && std::find(names.begin(), names.end(), e.name) == names.end())
    names.push_back(e.name);
  for (const Expression& operand : e.operands) names_of(operand, names);
}

// Builds the expression; c stands for a truth value, a number takes the type of the operand beside it, which is the
// condition's at the front of a select.
ValueId build(Builder& b, const Expression& e, const passes::Bindings& values, const Type& type, double zero) {
  if (e.number) return b.constant(*e.number == 0 ? zero : *e.number, type);
  if (e.is_value()) return values.at(e.name);
  Values operands;
  for (size_t i = 0; i < e.operands.size(); ++i) {
    const bool condition = e.name == "select" && i == 0;
    operands.push_back(build(b, e.operands[i], values, condition ? Type{DType::boolean, type.dims} : type, zero));
  }
  return b(e.name, operands);
}

// Values for the names: every combination of few, as many as is bearable.
std::vector<Tensor> values_for(const std::vector<std::string>& names, DType dtype) {
  const auto floats = std::count_if(names.begin(), names.end(), [](const std::string& n) { return n != "c"; });
  const bool small = bits(dtype) == 8 || (bits(dtype) == 16 && floats == 1);
  std::vector<Tensor> lists;
  for (const std::string& name : names)
    lists.push_back(name == "c" ? all_values(DType::boolean) : small ? all_values(dtype) : edge_values(dtype));
  return combinations(lists);
}

// The rule's left side over its values; none where an operator does not take the dtype.
std::optional<Example> example(const Expression& from, DType dtype, double zero) {
  Example e;
  e.graph.name = "rule";
  Builder b(e.graph);
  std::vector<std::string> names;
  names_of(from, names);
  const std::vector<Tensor> tensors = values_for(names, dtype);
  passes::Bindings values;
  for (size_t i = 0; i < names.size(); ++i) {
    e.inputs[names[i]] = tensors[i];
    values[names[i]] = e.graph.add_input(names[i], tensors[i].type, Role::input);
  }
  try {
    e.graph.outputs = {build(b, from, values, {dtype, tensors[0].type.dims}, zero)};
  } catch (const UserError&) {
    return std::nullopt;
  }
  return e;
}

struct Proof {
  int dtypes = 0;                     // in which the rule applied
  std::vector<std::string> left_out;  // which it speaks of and whose operators take them, where it did not
  std::vector<std::string> failures;
};

Proof prove(const ScalarRule& rule) {
  Proof proof;
  const Expression from = passes::parse_expression(rule.from);
  for (const DType dtype : all_dtypes())
    for (const double zero : {0.0, -0.0}) {
      const std::optional<Example> e = example(from, dtype, zero);
      if (!e) continue;
      const auto apply = [&](Builder& b, const Node& n) { return passes::apply(rule, b, n); };
      const std::optional<Graph> after = rewritten(e->graph, apply);
      if (!after && passes::holds(rule.where, dtype)) proof.left_out.push_back(to_string(dtype));
      if (!after) continue;
      ++proof.dtypes;
      const std::string wrong = difference(*e, *after, rule.agreement);
      if (!wrong.empty()) proof.failures.push_back(wrong);
    }
  return proof;
}

class ScalarRules : public ::testing::TestWithParam<size_t> {};

TEST_P(ScalarRules, HoldForEveryValue) {
  const ScalarRule& rule = passes::scalar_rules()[GetParam()];
  SCOPED_TRACE(rule.from + " -> " + rule.to);
  const Proof proof = prove(rule);
  EXPECT_GT(proof.dtypes, 0) << "applies to no dtype";
  EXPECT_EQ(proof.left_out, std::vector<std::string>{});
  EXPECT_EQ(proof.failures, std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Simplify, ScalarRules, ::testing::Range(size_t{0}, passes::scalar_rules().size()));

// The proof refutes rules that are plausible and wrong.
TEST(ScalarRuleProof, RefutesWrongRules) {
  using enum passes::Where;
  using enum Agreement;
  for (const ScalarRule& rule : std::vector<ScalarRule>{{"abs(square(x))", "square(x)", any, exact},
                                                        {"abs(neg(x))", "abs(x)", any, exact},
                                                        {"mul(x, 0)", "0", floating, sign_of_zero},
                                                        {"sub(x, x)", "0", floating, sign_of_zero},
                                                        {"div(x, x)", "1", integer, exact},
                                                        {"add(x, 0)", "x", floating, exact},
                                                        {"sub(x, y)", "sub(y, x)", integer, exact},
                                                        {"and(x, 1)", "x", integer, exact},
                                                        {"div(x, -1)", "neg(x)", any, exact},
                                                        {"relu(neg(x))", "abs(relu(x))", floating, rounding},
                                                        {"pow(x, 2)", "square(neg(square(x)))", any, rounding}})
    EXPECT_FALSE(prove(rule).failures.empty()) << rule.from << " -> " << rule.to;
}

// Casts one after another, between every three dtypes: all values of the types of 8 and 16 bits,
// the edges of the others.
TEST(CastRules, HoldForEveryValueOfEveryThreeTypes) {
  const auto cast_rule = [](std::string_view name) {
    const std::vector<Rule>& rules = passes::elementwise_rules();
    return *std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) { return rule.name == name; });
  };
  int applied = 0;
  for (const DType from : all_dtypes())
    for (const DType between : all_dtypes())
      for (const DType to : all_dtypes()) {
        Example e;
        e.inputs["x"] = bits(from) <= 16 ? all_values(from) : edge_values(from);
        Builder b(e.graph);
        const ValueId x = e.graph.add_input("x", e.inputs["x"].type, Role::input);
        const ValueId first = b("cast", {x}, {{"dtype", to_string(between)}});
        e.graph.outputs = {b("cast", {first}, {{"dtype", to_string(to)}})};
        for (const char* name : {"cast of cast", "cast to itself"}) {
          const Rule rule = cast_rule(name);
          const std::optional<Graph> after = rewritten(e.graph, rule.apply);
          if (!after) continue;
          ++applied;
          EXPECT_EQ(difference(e, *after, rule.agreement), "")
              << name << ": " << to_string(from) << " -> " << to_string(between) << " -> " << to_string(to);
        }
      }
  EXPECT_GT(applied, 400);
}

// --- Other rules, on random graphs

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int64_t below(int64_t n) { return static_cast<int64_t>(engine_() % static_cast<uint32_t>(n)); }
  bool chance(int64_t percent) { return below(100) < percent; }
  template <class T>
  T pick(const std::vector<T>& list) {
    return list[static_cast<size_t>(below(static_cast<int64_t>(list.size())))];
  }
  Dims dims(int64_t least_rank = 1) {
    Dims dims;
    for (int64_t rank = least_rank + below(4 - least_rank); rank > 0; --rank)
      dims.push_back(pick<int64_t>({1, 2, 3, 5}));
    return dims;
  }
  std::mt19937& engine() { return engine_; }

 private:
  std::mt19937 engine_;
};

// What the makers of examples share: a graph with one input at first.
struct Maker {
  Random random;
  Example e;
  Builder b;

  explicit Maker(uint32_t seed) : random(seed), b(e.graph) { e.graph.name = "rule"; }
  Maker(const Maker&) = delete;
  Maker& operator=(const Maker&) = delete;

  // Numbered elements, so that one out of place shows; edges of the dtype among them where `edges`.
  ValueId input(DType dtype, const Dims& dims, bool edges = false) {
    Tensor t({dtype, dims});
    const Tensor list = edge_values(dtype);
    for (int64_t i = 0; i < t.elements(); ++i)
      if (edges && random.chance(70))
        t.copy(i, list, random.below(list.elements()));
      else
        t.set(i, static_cast<double>(i % 100 + 1));
    for (const double x : t.real)
      if (std::isfinite(x)) e.scale = std::max(e.scale, std::abs(x));
    return input(t);
  }
  ValueId input(const Tensor& t) {
    const std::string name = fmt::format("x{}", e.inputs.size());
    e.inputs[name] = t;
    return e.graph.add_input(name, t.type, Role::input);
  }
  DType dtype() { return random.pick(all_dtypes()); }
  Dims dims_of(ValueId v) const { return b.type(v).dims; }

  ValueId reshape(ValueId x) {
    Dims dims = dims_of(x);
    if (random.chance(30)) return b("reshape", {x}, {{"shape", dims}});
    std::shuffle(dims.begin(), dims.end(), random.engine());
    return b("reshape", {x}, {{"shape", dims}});
  }
  ValueId transpose(ValueId x) {
    Dims perm;
    for (size_t d = 0; d < dims_of(x).size(); ++d) perm.push_back(static_cast<int64_t>(d));
    if (!random.chance(20)) std::shuffle(perm.begin(), perm.end(), random.engine());
    return b("transpose", {x}, {{"perm", perm}});
  }
  ValueId broadcast(ValueId x, bool wide = true) {
    Dims shape, to;
    for (const int64_t d : dims_of(x)) {
      if (random.chance(40)) shape.push_back(wide ? random.pick<int64_t>({1, 2, 3}) : 1);
      to.push_back(static_cast<int64_t>(shape.size()));
      shape.push_back(d == 1 && wide ? random.pick<int64_t>({1, 2}) : d);
    }
    if (random.chance(40)) shape.push_back(wide ? random.pick<int64_t>({1, 2, 3}) : 1);
    return b("broadcast", {x}, {{"dims", to}, {"shape", shape}});
  }
  ValueId slice(ValueId x) {
    Dims starts, limits, strides;
    for (const int64_t d : dims_of(x)) {
      starts.push_back(random.chance(40) ? 0 : random.below(d));
      limits.push_back(random.chance(40) ? d : starts.back() + 1 + random.below(d - starts.back()));
      strides.push_back(random.chance(60) ? 1 : 1 + random.below(3));
    }
    return b("slice", {x}, {{"starts", starts}, {"limits", limits}, {"strides", strides}});
  }
  ValueId pad(ValueId x) {
    Dims low, high, interior;
    const bool nothing = random.chance(30), gaps = random.chance(30);
    for (size_t d = 0; d < dims_of(x).size(); ++d) {
      low.push_back(nothing ? 0 : random.below(3));
      high.push_back(nothing ? 0 : random.below(3));
      interior.push_back(gaps ? random.below(2) : 0);
    }
    const double fill = random.chance(50) ? 0 : 1;
    return b("pad", {x}, {{"low", low}, {"high", high}, {"interior", interior}, {"fill", fill}});
  }
  ValueId reverse(ValueId x) {
    Dims axes;
    for (size_t d = 0; d < dims_of(x).size(); ++d)
      if (random.chance(50)) axes.push_back(static_cast<int64_t>(d) - (random.chance(30) ? b.type(x).rank() : 0));
    if (axes.empty()) axes.push_back(0);
    return b("reverse", {x}, {{"axes", axes}});
  }
  ValueId concat(const Values& parts, int64_t axis) { return b("concat", parts, {{"axis", axis}}); }
  ValueId reduce(ValueId x) {
    Dims axes;
    for (size_t d = 0; d < dims_of(x).size(); ++d)
      if (random.chance(60)) axes.push_back(static_cast<int64_t>(d));
    return b(reduction(b.type(x).dtype), {x}, {{"axes", axes}});
  }
  std::string reduction(DType dtype) {
    std::vector<std::string> names = {"reduce_max", "reduce_min", "reduce_prod", "reduce_sum"};
    if (is_floating(dtype)) names.emplace_back("reduce_mean");
    return random.pick(names);
  }
  ValueId constant(DType dtype, const Dims& dims) {
    const double value = random.pick<double>(
        {0,       1,    -1,           2,         3,     0.1,  0.5,      2.5,           7,
         1.0 / 3, 255,  300,          65519.999, 70000, 1e-9, 16777217, 0.99999999999, -0.49999999999,
         1e9,     3e38, -2147483648.0});
    return b.constant(value, {dtype, dims});
  }
};

using Make = ValueId (*)(Maker&);

ValueId some(Maker& m) { return m.input(m.dtype(), m.random.dims()); }

// Slices of one value, cut along an axis and joined in their order, with something else around.
ValueId joined_slices(Maker& m) {
  const ValueId x = some(m);
  const Dims dims = m.dims_of(x);
  const int64_t axis = m.random.below(static_cast<int64_t>(dims.size()));
  const auto at = static_cast<size_t>(axis);
  const int64_t cut = m.random.below(dims[at] + 1);
  Values parts;
  for (const auto& [begin, end] : {std::pair{int64_t{0}, cut}, std::pair{cut, dims[at]}}) {
    Dims starts(dims.size(), 0), limits = dims;
    starts[at] = begin;
    limits[at] = end - (m.random.chance(20) && end - begin > 1 ? 1 : 0);  // a gap now and then
    if (begin < end) parts.push_back(m.b("slice", {x}, {{"starts", starts}, {"limits", limits}}));
  }
  if (m.random.chance(30)) std::swap(parts.front(), parts.back());
  if (m.random.chance(30)) parts.push_back(x);
  return m.concat(parts, axis);
}

ValueId folded(Maker& m) {
  const DType dtype = m.dtype();
  std::vector<const OpDef*> ops;
  for (const OpDef* op : all_ops())
    if (std::holds_alternative<Elementwise>(op->kind)) ops.push_back(op);
  for (;;) {
    const OpDef& op = *m.random.pick(ops);
    Values operands;
    for (size_t i = 0; i < op.operands.size(); ++i)
      operands.push_back(m.constant(op.name == "select" && i == 0 ? DType::boolean : dtype, {2}));
    for (const ValueId v : operands) m.e.scale = std::max(m.e.scale, std::abs(*passes::splat(m.e.graph, v)));
    Attrs attrs;
    if (op.name == "cast") attrs = {{"dtype", ir::to_string(m.dtype())}};
    try {
      return m.b(op.name, operands, attrs);
    } catch (const UserError&) {  // does not take the dtype
    }
  }
}

ValueId moved_constant(Maker& m) {
  const ValueId x = m.constant(m.dtype(), m.random.dims());
  switch (m.random.below(5)) {
    case 0: return m.pad(x);
    case 1: return m.transpose(x);
    case 2: return m.concat({x, m.b.constant(m.random.chance(50) ? *passes::splat(m.e.graph, x) : 5, m.b.type(x))}, 0);
    case 3: return m.broadcast(x);
    default: return m.slice(x);
  }
}

ValueId wide_operands(Maker& m) {
  const DType dtype = m.random.pick<DType>({DType::f32, DType::f16, DType::i8, DType::u64});
  const Dims dims = m.random.dims();
  const ValueId x = m.input(dtype, dims, true),
                y = m.input(dtype, m.random.chance(80) ? dims : Dims(dims.size(), 1), true);
  const ValueId wide = m.broadcast(x);
  const Attrs attrs = m.e.graph.def(wide)->attrs;
  const ValueId other = m.random.chance(30)    ? m.b.constant(3, m.b.type(wide))
                        : m.dims_of(y) == dims ? m.b("broadcast", {y}, attrs)
                                               : m.b.broadcast_to(m.b.reshape(y, {}), m.dims_of(wide));
  return m.b(m.random.pick<std::string>({"add", "sub", "mul", "max", "lt"}), {wide, other});
}

ValueId cast_twice(Maker& m) {
  const ValueId x = m.input(edge_values(m.dtype()));
  const std::string between = ir::to_string(m.dtype()), to = ir::to_string(m.dtype());
  return m.b("cast", {m.b("cast", {x}, {{"dtype", between}})}, {{"dtype", to}});
}

ValueId reduced_ones(Maker& m) {
  const ValueId x = m.input(m.random.pick(kArithmetic), {1, 3, 1}, true);
  return m.b(m.reduction(m.b.type(x).dtype), {x}, {{"axes", m.random.chance(50) ? Dims{0, 2} : Dims{2}}});
}

// Numbers of repetitions that 16-bit types and f32 do not have among them.
ValueId reduced_broadcast(Maker& m) {
  const DType dtype = m.random.pick(kArithmetic);
  const ValueId x = m.input(dtype, m.random.dims());
  if (!m.random.chance(20)) return m.reduce(m.broadcast(m.broadcast(x)));
  const Dims dims = m.dims_of(x);
  Dims shape = {m.random.pick<int64_t>({257, 2049, 100000})}, to;
  for (size_t d = 0; d < dims.size(); ++d) to.push_back(static_cast<int64_t>(d) + 1);
  const ValueId one =
      m.b.reshape(m.b("slice", {x}, {{"starts", Dims(dims.size(), 0)}, {"limits", Dims(dims.size(), 1)}}), {});
  return m.b(m.random.chance(70) ? "reduce_sum" : m.reduction(dtype), {m.b("broadcast", {one}, {{"shape", shape}})});
}

// Rows are added to zeros, or to ones, and that to something.
ValueId sum_with_scattered(Maker& m) {
  const DType dtype = m.random.chance(50) ? DType::f32 : DType::i32;
  const ValueId x = m.input(dtype, {4, 3}), updates = m.input(dtype, {6, 3}), at = m.input(DType::i32, {6});
  const ValueId start = m.b.constant(m.random.chance(80) ? 0 : 1, {dtype, {4, 3}});
  const std::string combine = m.random.chance(80) ? "add" : "max";
  const ValueId rows = m.b("scatter", {start, at, updates}, {{"combine", combine}});
  return m.random.chance(50) ? m.b("add", {x, rows}) : m.b("add", {rows, x});
}

ValueId reduced_constant(Maker& m) {
  const ValueId x = m.constant(m.random.pick(kArithmetic), m.random.dims());
  m.e.scale = std::abs(*passes::splat(m.e.graph, x));
  return m.reduce(x);
}

ValueId product_over_one(Maker& m) {
  const DType dtype = m.random.pick(kArithmetic);
  const bool ta = m.random.chance(50), tb = m.random.chance(50);
  const int64_t k = m.random.chance(80) ? 1 : 2, rows = m.random.pick<int64_t>({1, 3, 5}),
                columns = m.random.pick<int64_t>({1, 2, 7});
  const auto sides = [&](int64_t first, int64_t second) {
    Dims dims = m.random.chance(50) ? Dims{2} : Dims{};
    return dims.insert(dims.end(), {first, second}), dims;
  };
  const Dims a = ta ? sides(k, rows) : sides(rows, k);
  Dims b = tb ? Dims{columns, k} : Dims{k, columns};
  if (a.size() == 3) b.insert(b.begin(), 2);
  return m.b("matmul", {m.input(dtype, a, true), m.input(dtype, b, true)}, {{"transpose_a", ta}, {"transpose_b", tb}});
}

// Of 64 rows or more, alone or joined from two. Without the edges: where a product overflows, the
// sum depends on its order.
ValueId product_with_vector(Maker& m) {
  const DType dtype = m.random.chance(50) ? DType::f32 : DType::f64;
  const int64_t rows = m.random.pick<int64_t>({64, 65, 100}), columns = m.random.pick<int64_t>({2, 5});
  ValueId x = m.input(dtype, {rows, columns});
  if (m.random.chance(50)) x = m.concat({x, m.input(dtype, {rows, 3})}, 1);
  const int64_t width = m.dims_of(x)[1];
  const bool turned = m.random.chance(50);
  if (m.random.chance(50))
    return m.b("matmul", {x, m.input(dtype, turned ? Dims{1, width} : Dims{width, 1})}, {{"transpose_b", turned}});
  return m.b("matmul", {m.input(dtype, turned ? Dims{rows, 1} : Dims{1, rows}), x}, {{"transpose_a", turned}});
}

const std::map<std::string_view, Make>& makers() {
  static const std::map<std::string_view, Make> all = {
      {"fold elementwise", folded},
      {"fold movement", moved_constant},
      {"elementwise before broadcast", wide_operands},
      {"cast to itself", cast_twice},
      {"cast of cast", cast_twice},
      {"reshape to the same shape", [](Maker& m) { return m.reshape(some(m)); }},
      {"reshape of reshape", [](Maker& m) { return m.reshape(m.reshape(some(m))); }},
      {"transpose of nothing", [](Maker& m) { return m.transpose(some(m)); }},
      {"transpose of transpose", [](Maker& m) { return m.transpose(m.transpose(some(m))); }},
      {"broadcast of ones", [](Maker& m) { return m.broadcast(some(m), m.random.chance(30)); }},
      {"broadcast of broadcast", [](Maker& m) { return m.broadcast(m.broadcast(some(m))); }},
      {"slice of everything", [](Maker& m) { return m.slice(some(m)); }},
      {"slice of slice", [](Maker& m) { return m.slice(m.slice(some(m))); }},
      {"slice of concat",
       [](Maker& m) {
         const ValueId x = some(m), y = m.input(m.b.type(x).dtype, m.dims_of(x));
         return m.slice(m.concat({x, y, x}, m.random.below(m.b.type(x).rank())));
       }},
      {"slice of pad", [](Maker& m) { return m.slice(m.pad(some(m))); }},
      {"pad of nothing", [](Maker& m) { return m.pad(some(m)); }},
      {"pad of pad", [](Maker& m) { return m.pad(m.pad(some(m))); }},
      {"concat of one", [](Maker& m) { return m.concat({some(m)}, 0); }},
      {"concat of slices", joined_slices},
      {"reverse of nothing", [](Maker& m) { return m.reverse(some(m)); }},
      {"reverse of reverse", [](Maker& m) { return m.reverse(m.reverse(some(m))); }},
      {"reduction of ones", reduced_ones},
      {"reduction of constant", reduced_constant},
      {"sum with what was added to zeros", sum_with_scattered},
      {"reduction of broadcast", reduced_broadcast},
      {"product over one", product_over_one},
      {"product with a vector", product_with_vector},
  };
  return all;
}

std::vector<Rule> all_rules() {
  std::vector<Rule> all;
  for (const auto* rules : {&passes::folding_rules(), &passes::elementwise_rules(), &passes::movement_rules(),
                            &passes::reduction_rules(), &passes::product_rules()})
    all.insert(all.end(), rules->begin(), rules->end());
  return all;
}

class Rules : public ::testing::TestWithParam<size_t> {};

TEST_P(Rules, HoldOnRandomGraphs) {
  constexpr uint32_t kGraphs = 600;
  const Rule rule = all_rules()[GetParam()];
  SCOPED_TRACE(std::string(rule.name));
  const auto make = makers().find(rule.name);
  ASSERT_NE(make, makers().end()) << "a rule without graphs to prove it";
  int applied = 0;
  for (uint32_t seed = 0; seed < kGraphs && !::testing::Test::HasFailure(); ++seed) {
    Maker m(seed);
    const ValueId root = make->second(m);
    m.e.graph.outputs = {root};
    const Node* n = m.e.graph.def(root);
    if (n == nullptr || !rule.of(n->op->traits)) continue;
    const std::optional<Graph> after = rewritten(m.e.graph, rule.apply);
    if (!after) continue;
    ++applied;
    EXPECT_EQ(difference(m.e, *after, rule.agreement), "") << "seed " << seed;
  }
  EXPECT_GE(applied, 20) << "applies to too few of the graphs";
}

INSTANTIATE_TEST_SUITE_P(Simplify, Rules, ::testing::Range(size_t{0}, all_rules().size()));

}  // namespace
}  // namespace heddle::testing
