// Scans in random graphs: bodies of any operators, with scans in them now and then.
//
//   @g17.b0(carry %x0.plain, slice %x1.below5, fixed %x2.wide, index %t) grows as a graph does; a carry becomes what
//   some value of the turn is, made to fit
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "ir/scan.h"
#include "tests/random/growing_graph.h"

namespace heddle::testing {
using namespace ir;
namespace {

// What an input of a body holds, as its name says: behind the last dot.
std::string style_of(const Graph& body, ValueId v) {
  const std::string& name = body[v].name;
  return name.substr(name.rfind('.') + 1);
}

int64_t limit_of(const std::string& style) { return style.starts_with("below") ? std::atoll(style.c_str() + 5) : 0; }

ValueId within(GrowingGraph& w, ValueId v, int64_t limit) {
  if (limit == 0) return v;
  return w.b("clamp", {v}, {{"low", 0.0}, {"high", static_cast<double>(std::max<int64_t>(limit, 1) - 1)}});
}

// A floating carry stays small: what grows from turn to turn would soon be anything.
ValueId tamed(GrowingGraph& w, ValueId v, const std::string& style) {
  if (!is_floating(w.type(v).dtype)) return within(w, v, limit_of(style));
  if (style == "positive") return w.b("add", {w.b("sigmoid", {v}), w.b.like(0.25, v)});
  return w.random.chance(80) ? w.b("tanh", {v}) : v;
}

// What the carry becomes; another carry or itself where nothing of its dtype is computed.
ValueId next_for(GrowingGraph& w, ValueId carry) {
  Values alike;
  for (const ValueId v : w.values)
    if (w.type(v).dtype == w.type(carry).dtype && w.g.def(v) != nullptr) alike.push_back(v);
  if (alike.empty() || w.random.chance(6)) {
    const ValueId other = recent_like(w, carry);
    return style_of(w.g, carry).starts_with("below") ? carry : other;
  }
  ValueId next = adapt(w, w.random.pick(alike), Dims(w.type(carry).dims));
  if (w.random.chance(30)) next = reread(w, next);
  return tamed(w, next, style_of(w.g, carry));
}

void give_roles(GrowingGraph& w) {
  Graph& g = w.g;
  Values carries;
  for (const ValueId v : Values(g.inputs)) {
    if (g[v].role == Role::index) continue;
    g[v].role = w.random.chance(45) ? Role::carry : w.random.chance(60) ? Role::slice : Role::fixed;
    if (g[v].role == Role::carry) carries.push_back(v);
  }
  for (const ValueId c : carries) g.updates.push_back({c, next_for(w, c)});
}

void choose_rows(GrowingGraph& w) {
  Graph& g = w.g;
  for (const ValueId v : w.values) {
    const bool loose = g.def(v) != nullptr && g[v].uses.empty() && !g.is_next(v);
    const int percent = g[v].role == Role::carry ? 25 : g.is_next(v) ? 40 : 8;
    if (loose || w.random.chance(percent)) g.outputs.push_back(v);
  }
  if (g.outputs.empty() && g.updates.empty()) g.outputs.push_back(w.values.back());
}

ValueId operand_for(GrowingGraph& w, const Type& type, const std::string& style) {
  Values same, alike;
  for (const ValueId v : w.values) {
    if (w.type(v) == type) same.push_back(v);
    if (w.type(v).dtype == type.dtype) alike.push_back(v);
  }
  ValueId chosen;
  if (!same.empty() && w.random.chance(50))
    chosen = w.random.pick(same);
  else if (!alike.empty() && w.random.chance(40))
    chosen = adapt(w, w.random.pick(alike), type.dims);
  else
    return w.new_input(type, style);
  if (w.random.chance(20)) chosen = reread(w, chosen);
  return within(w, chosen, limit_of(style));
}

Graph draw_body(GrowingGraph& around, int depth) {
  GrowingGraph w(fmt::format("{}.b{}", around.g.name, around.bodies.size()),
                 static_cast<uint64_t>(around.random.below(int64_t{1} << 40)));
  w.g.body = true;
  w.limits = {.elements = 200, .length = 17, .products = 20000};
  w.special_percent = around.special_percent;
  if (w.random.chance(35)) {
    const DType dtype = w.random.chance(50) ? DType::i32 : DType::i64;
    w.values.push_back(w.g.add_input("t", {dtype, {}}, Role::index));
  }
  const int64_t parts = 1 + w.random.below(3);
  for (int64_t i = 0; i < parts || w.g.order.empty(); ++i) {
    extend(w);
    if (w.random.chance(40)) add_meeting(w);
  }
  if (depth == 0 && w.random.chance(25)) {
    add_scan(w, depth + 1);
    extend(w);
  }
  give_roles(w);
  choose_rows(w);
  around.bodies.insert(around.bodies.end(), w.bodies.begin(), w.bodies.end());
  return std::move(w.g);
}

}  // namespace

void add_scan(GrowingGraph& w, int depth) {
  const Graph body = draw_body(w, depth);
  static const std::vector<int64_t> counts = {1, 2, 3, 3, 4, 5};
  const int64_t count = w.random.pick(counts);
  Values operands;
  for (const ValueId v : operand_inputs(body)) {
    const Type& type = body[v].type;
    operands.push_back(operand_for(w, body[v].role == Role::slice ? stacked(type, count) : type, style_of(body, v)));
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < inputs_with(body, Role::carry).size() + body.outputs.size(); ++i)
    names.push_back(fmt::format("{}.r{}", body.name, i));
  const NodeId n = ir::add_scan(w.g, body, operands, scan_attrs(count, w.random.chance(40)), names, {});
  w.values.insert(w.values.end(), w.g[n].results.begin(), w.g[n].results.end());
  w.bodies.push_back(body);
}

}  // namespace heddle::testing
