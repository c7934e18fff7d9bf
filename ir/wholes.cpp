#include "ir/wholes.h"

#include <algorithm>

#include "ir/int8.h"
#include "ir/op_def.h"

namespace heddle::ir {

bool is_whole(const Graph& g, ValueId v) {
  const Node* made = g.def(v);
  return made != nullptr && made->op->traits.makes_wholes == MakesWholes::within_limits;
}

bool reads_wholes(const Graph& g, const Node& n) {
  return std::ranges::any_of(n.operands, [&](ValueId v) { return is_whole(g, v); });
}

InputScale input_scale(Builder& b, ValueId low, ValueId high) {
  const ValueId largest = b("max", {b("abs", {low}), b("abs", {high})});
  const ValueId positive = b("ge", {low, b.like(0, low)});
  const ValueId most = b("select", {positive, b.like(kMostOfByte, low), b.like(kMostOfSigned, low)});
  const ValueId least = b("select", {positive, b.like(0, low), b.like(kLeastOfSigned, low)});
  return {b("max", {b("div", {largest, most}), b.like(kLeastScale, low)}), least, most};
}

ValueId spread_along(Builder& b, ValueId v, const Dims& axes, const Dims& shape) {
  return b("broadcast", {v}, {{"dims", axes}, {"shape", shape}});
}

ValueId in_steps(Builder& b, ValueId x, ValueId steps) {
  const Dims shape = b.type(x).dims, axes = b.type(steps).rank() == 0 ? Dims{} : Dims{0};
  const ValueId each = b("div", {b.like(1, steps), steps});
  return b("mul", {x, spread_along(b, each, axes, shape)});
}

ValueId factor_of(Builder& b, ValueId scale, ValueId step) {
  const Dims shape = b.type(scale).dims;
  return b("mul", {scale, spread_along(b, step, {}, shape)});
}

ValueId times_factor(Builder& b, ValueId sums, ValueId factor) {
  const Dims shape = b.type(sums).dims;
  return b("mul", {sums, spread_along(b, factor, {std::ssize(shape) - 1}, shape)});
}

}  // namespace heddle::ir
