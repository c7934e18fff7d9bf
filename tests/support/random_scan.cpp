#include "tests/support/random_scan.h"

#include <fmt/format.h>

#include <random>

#include "ir/builder.h"
#include "ir/scan.h"

namespace heddle::testing {
using namespace ir;

namespace {

class Drawer {
 public:
  explicit Drawer(uint32_t seed) : random_(seed) { rows_ = 1 + below(3), columns_ = chance(50) ? 4 : 1 + below(5); }

  Module module(const RandomScanOptions& options) {
    const Graph& body = draw_body(chance(35) ? 1 : 0);
    Graph g;
    g.name = std::string("g");
    Builder b(g);
    const int64_t count = 1 + below(5);
    Values operands;
    for (const ValueId v : operand_inputs(body)) {
      const Type type = body[v].role == Role::slice ? stacked(body[v].type, count) : body[v].type;
      operands.push_back(g.add_input(body[v].name, type, is_floating(type.dtype) ? Role::param : Role::input));
    }
    const Values results = scan(b, body, operands, count);
    Values parts;
    for (const ValueId r : results)
      if (is_floating(b.type(r).dtype)) parts.push_back(total(b, b("sin", {r})));
    ValueId loss = parts[0];
    for (size_t i = 1; i < parts.size(); ++i)
      loss = b("add", {loss, b("mul", {parts[i], b.constant(0.7, b.type(loss))})});
    g.outputs = {loss};
    g.outputs.insert(g.outputs.end(), results.begin(), results.end());
    if (options.order > 0) add_gradients(b, loss, options.order);
    m_.graphs.push_back(std::move(g));
    return std::move(m_);
  }

 private:
  int64_t below(int64_t bound) { return static_cast<int64_t>(random_()) % bound; }
  bool chance(int percent) { return below(100) < percent; }
  Type matrix() const { return {DType::f32, {rows_, columns_}}; }
  ValueId pick(const Values& list) { return list[static_cast<size_t>(below(std::ssize(list)))]; }
  ValueId recent(const Values& list) {
    return chance(60) ? list[list.size() - 1 - static_cast<size_t>(below(std::min<int64_t>(2, std::ssize(list))))]
                      : pick(list);
  }

  static ValueId total(Builder& b, ValueId v) { return b.type(v).rank() == 0 ? v : b("reduce_sum", {v}); }

  static void add_gradients(Builder& b, ValueId loss, int order) {
    Graph& g = b.graph;
    Values wanted;
    for (const ValueId v : g.inputs)
      if (is_floating(g[v].type.dtype)) wanted.push_back(v);
    for (; order > 0; --order) {
      ValueId next;
      for (const ValueId v : wanted) {
        const ValueId grad = b("gradient", {loss, v}, {}, fmt::format("{}.d{}", g[v].name, order));
        g.outputs.push_back(grad);
        const ValueId square = total(b, b("mul", {grad, grad}));
        next = next.valid() ? b("add", {next, square}) : square;
      }
      loss = next;
    }
  }

  Values scan(Builder& b, const Graph& body, const Values& operands, int64_t count) {
    const Attrs attrs = scan_attrs(count, chance(40));
    std::vector<std::string> names;
    for (size_t i = 0; i < inputs_with(body, Role::carry).size() + body.outputs.size(); ++i)
      names.push_back(fmt::format("{}.r{}", body.name, i));
    return b.graph[add_scan(b.graph, body, operands, attrs, names, {})].results;
  }

  ValueId spread(Builder& b, ValueId v) {  // to a matrix
    const Type& t = b.type(v);
    if (t.rank() == 0) return b("broadcast", {v}, {{"shape", matrix().dims}, {"dims", Dims{}}});
    return b("broadcast", {v}, {{"shape", matrix().dims}, {"dims", Dims{0}}});
  }

  void extend(Builder& b, Values& values, ValueId weight) {
    const ValueId x = recent(values), y = pick(values);
    switch (below(10)) {
      case 0: values.push_back(b("tanh", {x})); break;
      case 1: values.push_back(b("sigmoid", {x})); break;
      case 2: values.push_back(b("mul", {x, y})); break;
      case 3: values.push_back(b("add", {x, b("sin", {y})})); break;
      case 4:
      case 5: values.push_back(b("matmul", {x, weight})); break;
      case 6: values.push_back(b("softmax", {x})); break;
      case 7: values.push_back(b("mul", {x, spread(b, b("reduce_sum", {y}, {{"axes", Dims{1}}}))})); break;
      case 8: values.push_back(b("sub", {b("tanh", {x}), b("mul", {y, b.constant(0.5, matrix())})})); break;
      default: values.push_back(b("mul", {x, spread(b, b("reduce_mean", {y}))})); break;
    }
  }

  const Graph& draw_body(int depth) {
    const Graph* inner = depth > 0 ? &draw_body(depth - 1) : nullptr;
    const std::string inner_name = inner != nullptr ? inner->name : "";
    Graph g;
    g.body = true;
    g.name = fmt::format("body{}", m_.bodies.size());
    Builder b(g);
    const auto input = [&](const char* name, const Type& type, Role role) {
      return g.add_input(fmt::format("{}{}", name, m_.bodies.size()), type, role);
    };
    Values values;
    if (chance(50)) values.push_back(input("x", matrix(), Role::slice));
    const ValueId weight = input("w", {DType::f32, {columns_, columns_}}, Role::fixed);
    Values carries{input("h", matrix(), Role::carry)};
    if (chance(40)) carries.push_back(input("c", matrix(), Role::carry));
    const ValueId scalar = chance(30) ? input("s", {DType::f32, {}}, Role::carry) : ValueId{};
    const ValueId integer = chance(30) ? input("k", {DType::i32, {2}}, Role::carry) : ValueId{};
    if (chance(40)) values.push_back(input("f", matrix(), Role::fixed));
    const ValueId row = chance(30) ? input("r", {DType::f32, {rows_}}, Role::slice) : ValueId{};
    const ValueId index = chance(40) ? input("t", {chance(50) ? DType::i32 : DType::i64, {}}, Role::index) : ValueId{};
    values.insert(values.end(), carries.begin(), carries.end());
    if (row.valid()) values.push_back(spread(b, row));
    if (index.valid())
      values.push_back(spread(b, b("mul", {b.cast(index, DType::f32), b.constant(0.1, {DType::f32, {}})})));
    if (scalar.valid()) values.push_back(spread(b, scalar));
    for (int64_t i = 3 + below(6); i > 0; --i) extend(b, values, weight);
    if (!inner_name.empty()) add_inner(b, *m_.find_body(inner_name), values, weight);
    for (const ValueId c : carries) g.updates.push_back({c, b("tanh", {recent(values)})});
    if (chance(20) && carries.size() > 1) g.updates.set_next(0, carries[1]);
    if (scalar.valid()) g.updates.push_back({scalar, b("sin", {total(b, pick(values))})});
    if (integer.valid()) g.updates.push_back({integer, b("add", {integer, b.constant(3, b.type(integer))})});
    for (int64_t k = below(3); k > 0; --k) g.outputs.push_back(pick(values));
    if (chance(30)) g.outputs.push_back(b("reduce_sum", {pick(values)}, {{"axes", Dims{1}}}));
    if (integer.valid() && chance(50)) g.outputs.push_back(integer);
    m_.bodies.push_back(std::move(g));
    return m_.bodies.back();
  }

  // A scan in the body: its operands are values of the turn, its results are, too.
  void add_inner(Builder& b, const Graph& body, Values& values, ValueId weight) {
    const int64_t count = 1 + below(3);
    Values operands;
    for (const ValueId v : operand_inputs(body)) {
      const Value& in = body[v];
      const Type type = in.role == Role::slice ? stacked(in.type, count) : in.type;
      if (in.type == b.type(weight) && in.role == Role::fixed && in.type != matrix()) {
        operands.push_back(weight);
        continue;
      }
      const ValueId source = pick(values);
      ValueId given = source;
      if (in.type.dtype == DType::i32)
        given = b.constant(2, type);
      else if (in.type.dims == Dims{columns_, columns_} && in.role == Role::fixed)
        given = in.type == matrix() ? source : weight;
      else if (in.type.rank() == 0)
        given = total(b, b("sin", {source}));
      else if (in.type.rank() == 1)
        given = b("reduce_sum", {source}, {{"axes", Dims{1}}});
      if (in.role == Role::slice) {
        Dims dims;
        for (int64_t d = 0; d < in.type.rank(); ++d) dims.push_back(d + 1);
        given = b("sin", {b("broadcast", {given}, {{"shape", type.dims}, {"dims", dims}})});
      }
      operands.push_back(given);
    }
    for (const ValueId r : scan(b, body, operands, count)) {
      const Type type = b.type(r);
      if (!is_floating(type.dtype)) continue;
      ValueId v = r;
      if (type != matrix()) v = spread(b, total(b, b("sin", {r})));
      values.push_back(v);
    }
  }

  std::mt19937 random_;
  Module m_;
  int64_t rows_ = 1, columns_ = 1;
};

}  // namespace

Module random_scan(uint32_t seed, const RandomScanOptions& options) { return Drawer(seed).module(options); }

}  // namespace heddle::testing
