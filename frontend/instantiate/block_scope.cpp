#include "frontend/instantiate/block_scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "frontend/layer_def.h"
#include "frontend/read/read_parts.h"

namespace heddle::frontend {
namespace {

constexpr std::string_view kIndex = "index";

// Collects the names in all expressions; adds "" for an expression without names.
void collect_names(const Json& json, std::set<std::string>& names) {
  if (json.kind == Json::Kind::text) {
    const std::vector<std::string> found = names_in(json.text);
    names.insert(found.begin(), found.end());
    if (found.empty()) names.insert("");
  }
  for (const Json& item : json.items) collect_names(item, names);
}

// Collects the names in values that may be numbers. Words of a choice and the "op" of parts are excluded; the other
// keys of parts are included.
void collect_sizes(const Json& json, KeyType type, std::set<std::string>& names) {
  if (type == KeyType::text || type == KeyType::dtype || type == KeyType::flag) return;
  if (type != KeyType::part && type != KeyType::padding) return collect_names(json, names);
  for (const Json& item : json.items)
    if (item.key != "op") collect_names(item, names);
}

// The names in a block's expressions. `take` collects those in the settings of a node.
std::set<std::string> collect_words(
    const Block& block, const std::function<void(const NodeDef&, const Json&, std::set<std::string>&)>& take) {
  std::set<std::string> names;
  for (const Json& json : block.let) {
    names.insert(json.key);
    collect_names(json, names);
  }
  for (const NodeDef& node : block.nodes) {
    for (const Json& json : node.settings) take(node, json, names);
    for (const Json& json : node.with) collect_names(json, names);
    if (node.repeat) collect_names(*node.repeat, names);
    for (const auto& number : {node.average, node.copy})
      if (number) collect_names(*number, names);
  }
  return names;
}

// The sizes that a block uses, for error messages. `mentioned_in` also includes all other words.
std::vector<std::string> sizes_of(const Block& block) {
  const std::set<std::string> names =
      collect_words(block, [](const NodeDef& node, const Json& json, std::set<std::string>& to) {
        const LayerDef* def = node.block ? nullptr : find_layer(node.op);
        if (def == nullptr) return;
        for (const Key& setting : def->settings)
          if (setting.name == json.key && setting.words.empty()) collect_sizes(json, setting.type, to);
      });
  return {names.begin(), names.end()};
}

std::set<std::string> mentioned_in(const Block& block) {
  return collect_words(block,
                       [](const NodeDef&, const Json& json, std::set<std::string>& to) { collect_names(json, to); });
}

// Whether the block has an expression without names. It may be malformed, which its evaluation reports at its location.
bool has_nameless(const Block& block) { return std::ranges::count(sizes_of(block), "") > 0; }

}  // namespace

Scope model_scope(const Model& model, int64_t batch) {
  Scope scope = model.let;
  for (const auto& [name, size] : model.train.sizes) scope.names[name] = size;
  scope.names[model.batch_dimension] = batch;
  return scope;
}

Scope turn_scope(const Scope& around, int64_t turn) {
  Scope scope;
  scope.outer = &around;
  if (!around.find(kIndex)) scope.names[std::string(kIndex)] = turn;
  return scope;
}

bool reads_index(const NodeDef& use) {
  std::set<std::string> names;
  for (const Json& value : use.with) collect_names(value, names);
  return use.repeat && names.contains(std::string(kIndex));
}

Scope block_scope(const Model& model, int64_t batch, const NodeDef& use, const Block& block, const Scope& around) {
  Scope scope = model_scope(model, batch);
  const std::set<std::string> mentioned = use.with.empty() ? std::set<std::string>{} : mentioned_in(block);
  const bool nameless = !use.with.empty() && has_nameless(block);
  for (const Json& value : use.with) {
    if (mentioned.count(value.key) == 0 && !nameless) {
      throw UserError(value.key_where, fmt::format("block '{}' uses no size {}", use.op, quote(value.key)),
                      suggest_defined(value.key, sizes_of(block)));
    }
    scope.names[value.key] = evaluate_number(value, around, fmt::format("'{}'", value.key));
  }
  for (const Json& value : block.let) {
    const bool given = std::any_of(use.with.begin(), use.with.end(), [&](const Json& w) { return w.key == value.key; });
    if (!given) scope.names[value.key] = evaluate_number(value, scope, fmt::format("'{}'", value.key));
  }
  return scope;
}

}  // namespace heddle::frontend
