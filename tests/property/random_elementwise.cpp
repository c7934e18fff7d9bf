#include <algorithm>
#include <cmath>
#include <set>

#include "ir/op_def.h"
#include "tests/property/random_values.h"
#include "tests/support/operator_attrs.h"

namespace heddle::testing {
using namespace ir;
namespace {

using Names = std::set<std::string>;
// Operators whose results neither leave the operands' range by much nor have a limited domain.
const Names kSafe = {"abs", "add",     "clamp", "ge",       "gt",   "le",    "leaky_relu", "log_sigmoid",
                     "lt",  "max",     "min",   "mul",      "neg",  "relu",  "sin",        "cos",
                     "sub", "sigmoid", "silu",  "softsign", "tanh", "relu6", "hard_swish", "softplus"};
// A rounding error of the operands may become a difference of 1.
const Names kJumping = {"ceil", "eq", "floor", "mod", "ne", "round", "sign"};
const Names kSmooth = {"add",     "asinh", "atan", "cos",      "erf", "exp",      "gelu",   "mul", "neg",
                       "sigmoid", "silu",  "sin",  "softplus", "sub", "softsign", "square", "tanh"};
// Real numbers of real numbers without a gradient: training would be refused.
const Names kWithoutGradient = {"trigamma"};

void convert(RandomValues& r) {
  if (r.options.narrow) {
    const char* dtypes[] = {"f64", "f16", "bf16", "f32"};
    const ValueId v = r.b("cast", {r.recent()}, {{"dtype", dtypes[r.below(4)]}});
    return r.keep(r.chance(50) ? r.b.cast(v, DType::f32) : v);
  }
  const ValueId v = r.pick(r.values);
  if (is_integer(r.type(v).dtype) || r.type(v).dtype == DType::boolean) r.keep(r.b.cast(v, DType::f32));
}

}  // namespace

ValueId within(RandomValues& r, ValueId v, const OpDef& op) {
  const double low = op.samples.at(0).low, high = op.samples.at(0).high;
  if (r.options.smooth)
    return r.b("mul", {r.b("sin", {v}), r.b.constant(std::min(std::abs(low), std::abs(high)), Type(r.type(v)))});
  return r.b("clamp", {v}, {{"low", low}, {"high", high}});
}

void add_elementwise(RandomValues& r) {
  std::vector<const OpDef*> ops;
  for (const OpDef* op : all_ops())
    if (std::holds_alternative<Elementwise>(op->kind) && (!r.options.smooth || kSmooth.count(op->name)))
      ops.push_back(op);
  const OpDef& op = *r.pick(ops);
  if (r.options.gradients && kWithoutGradient.count(op.name)) return;
  if (op.name == "select") return add_choice(r);
  if (op.name == "cast") return convert(r);
  const ValueId x = kJumping.count(op.name) ? r.pick(r.exact) : r.chance(80) ? r.recent() : r.pick(r.values);
  if (!op.dtypes.empty() && std::find(op.dtypes.begin(), op.dtypes.end(), r.type(x).dtype) == op.dtypes.end()) return;
  if (r.type(x).dtype == DType::boolean && op.name != "and" && op.name != "or" && op.name != "xor" && op.name != "not")
    return;
  if (is_integer(r.type(x).dtype) && (op.name == "div" || op.name == "mod" || op.name == "pow")) return;  // by zero
  Values operands = {x};
  while (operands.size() < op.operands.size()) operands.push_back(kJumping.count(op.name) ? x : r.partner(x));
  for (ValueId& v : operands)
    if (r.real(v) && !kSafe.count(op.name)) v = within(r, v, op);
  Attrs attrs = required_attrs(op);
  if (op.name == "clamp" && r.real(x)) attrs = {{"low", -0.5}, {"high", 1.0}};
  if (op.name == "clamp" && !r.real(x)) attrs = {{"low", 1.0}, {"high", 2.0}};
  r.keep(r.b(op.name, operands, attrs));
}

void add_choice(RandomValues& r) {
  const ValueId x = r.recent(), y = r.partner(x);
  const char* comparisons[] = {"lt", "le", "gt", "ge"};
  const ValueId c = r.b(comparisons[r.below(4)], {x, r.partner(x)});
  r.values.push_back(c);
  r.keep(r.b("select", {c, x, y}));
}

}  // namespace heddle::testing
