#include "passes/decode/shifted_text.h"

#include <cmath>
#include <string>

#include "ir/op_def.h"

namespace heddle::passes {
using namespace ir;

namespace {

// Whether the node takes all but the last token of each row.
bool takes_all_but_last(const Node& n, const Dims& text) {
  if (n.op->traits.slice == nullptr) return false;
  const Slice slice = n.op->traits.slice(n);
  return slice.starts == AxisList{0, 0} && slice.limits == AxisList{text[0], text[1] - 1} &&
         slice.strides == AxisList{1, 1};
}

bool puts_one_before(const Node& n) {
  if (n.op->traits.padding == nullptr) return false;
  const Padding padding = n.op->traits.padding(n);
  return padding.low == AxisList{0, 1} && padding.high == AxisList{0, 0} && padding.interior == AxisList{0, 0} &&
         padding.fill >= 0 && padding.fill == std::floor(padding.fill);
}

}  // namespace

std::optional<FirstToken> take_shifted_text(Graph& g, ValueId text) {
  const NodeId slice = g.only_use(text);
  if (!slice.valid() || !takes_all_but_last(g[slice], g[text].type.dims)) return std::nullopt;
  const NodeId pad = g.only_use(g[slice].results[0]);
  if (!pad.valid() || !puts_one_before(g[pad])) return std::nullopt;
  const ValueId moved = g[pad].results[0];
  const auto token = static_cast<int64_t>(g[pad].op->traits.padding(g[pad]).fill);
  const std::string name = g[text].name;
  const ValueId input = g.add_input(name, g[text].type, Role::input);
  g.replace_uses(moved, input);
  for (const NodeId n : {pad, slice}) g.erase(n);
  g.remove_inputs({text});
  g.rename(input, name);
  return FirstToken{input, token};
}

}  // namespace heddle::passes
