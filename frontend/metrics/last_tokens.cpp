#include "frontend/metrics/last_tokens.h"

#include <algorithm>
#include <iterator>

#include "frontend/keys/settings.h"
#include "frontend/layer_def.h"

namespace heddle::frontend {

std::optional<Reference> sliced_logits(const Model& model, const std::string& node) {
  const auto slice = std::ranges::find(model.nodes, node, &NodeDef::name);
  if (slice == model.nodes.end() || slice->block || slice->op != "slice") return std::nullopt;
  const Settings settings(slice->settings, find_layer(slice->op)->settings, model.let, "slice '" + node + "'",
                          slice->op_where);
  if (settings.integer("axis") != 1 || settings.json("stop") != nullptr || settings.integer("step") != 1)
    return std::nullopt;
  if (slice->in_given && !slice->in.empty()) return slice->in[0];
  if (slice == model.nodes.begin() || std::prev(slice)->name.empty()) return std::nullopt;
  const NodeDef& before = *std::prev(slice);
  return Reference{.name = before.name, .literal = {}, .port = {}, .where = before.where};
}

}  // namespace heddle::frontend
