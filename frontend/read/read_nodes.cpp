// Nodes: the list of `nodes` in the model or a block.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "frontend/instantiate/mixed.h"
#include "frontend/keys/model_keys.h"
#include "frontend/keys/settings.h"
#include "frontend/layer_def.h"
#include "frontend/limits.h"
#include "frontend/read/foreign_names.h"
#include "frontend/read/planned.h"
#include "frontend/read/read_parts.h"
#include "frontend/scan_use.h"
#include "frontend/training/training_def.h"

namespace heddle::frontend {
namespace {

Reference read_reference(const Json& json, const std::string& what) {
  Reference reference;
  reference.where = json.where;
  if (json.kind == Json::Kind::integer || json.kind == Json::Kind::real) {
    reference.literal = json.kind == Json::Kind::integer ? Number{json.integer} : Number{json.real};
    as_real(json, what);
    return reference;
  }
  if (json.kind != Json::Kind::text) {
    throw UserError(json.where, fmt::format("{}: expected a name or a number, found {}", what, describe(json)));
  }
  reference.name = json.text;
  return reference;
}

// A name, or a list of them. A faulty one counts as a result, so that the node has as many as it names.
void read_out(const Json& json, NodeDef& node, Diagnostics& errors) {
  const auto add = [&](const Json& item) {
    node.out.push_back({item.text, item.where});
    guarded(errors, [&] {
      if (item.kind == Json::Kind::text) check_value_name(item.text, item.where, "result");
    });
  };
  if (json.kind == Json::Kind::text) return add(json);
  for (const Json& item : json.items) add(item);
}

void read_name(const Json& json, NodeDef& node) {
  node.name_where = json.where;
  if (json.kind != Json::Kind::text) return;  // its key says so
  check_value_name(json.text, json.where, "node");
  node.name = json.text;
}

constexpr std::string_view kBlock = "block:";
bool is_block(const std::string& op) { return op.starts_with(kBlock); }

// The name of a node, or true: of a block, whose repetitions then have one set of parameters.
void read_share(const Json& json, NodeDef& node) {
  if (json.kind == Json::Kind::text) {
    node.share = Named{json.text, json.where};
    return;
  }
  const std::string what = fmt::format("{}: 'share'", title_of(node));
  if (json.kind != Json::Kind::flag)
    throw UserError(json.where, fmt::format("{}: expected the name of a node, or true, found {}", what, describe(json)),
                    "for example \"share\": \"encoder\"");
  if (!json.flag) return;
  if (!node.block || !node.repeat)
    throw UserError(json.where, fmt::format("{} is true, and nothing is repeated", what),
                    node.block
                        ? "with \"repeat\" every repetition then has the same parameters; a name shares those of "
                          "another node"
                        : "it is of blocks with \"repeat\"; a name shares the parameters of another node");
  node.shares_repeats = json.where;
}

// How its parameters follow those of the node that it shares with. Their numbers may depend on a block's sizes.
void read_copying(const Json& json, NodeDef& node) {
  if (const Json* average = json.find("average")) node.average = *average;
  if (const Json* copy = json.find("copy")) node.copy = *copy;
  if (!node.copies()) return;
  const std::string title = title_of(node);
  if (node.average && node.copy)
    throw UserError(node.copy->key_where, fmt::format("{}: 'average' and 'copy' exclude each other", title),
                    "parameters that follow others are their average, or a copy every so many steps: leave one out");
  const Json& given = node.average ? *node.average : *node.copy;
  const Json* share = json.find("share");
  if (share == nullptr || share->kind == Json::Kind::flag)
    throw UserError(
        given.key_where,
        fmt::format("{}: '{}' says how its parameters follow those of a node before it, and 'share' names none", title,
                    given.key),
        "for example \"share\": \"online\"");
  if (node.name.empty())
    throw UserError(node.op_where, fmt::format("{}: a node with '{}' must have a name", title, given.key),
                    "add \"name\"; the copies of the parameters are called after it");
}

void read_block_use(NodeDef& node, const Json& json, Diagnostics& errors) {
  node.block = true;
  node.op = node.op.substr(kBlock.size());
  const std::string title = fmt::format("block use {}", quote(node.op));
  check_keys({json.items, json.nulls}, {node_keys(), use_keys()}, {title, node.op_where}, errors);
  if (const Json* repeat = json.find("repeat")) node.repeat = *repeat;
  if (const Json* again = json.find("recompute"); again != nullptr && again->kind == Json::Kind::flag && again->flag)
    node.recompute = again->where;
  if (const Json* share = json.find("share")) guarded(errors, [&] { read_share(*share, node); });
  guarded(errors, [&] { read_copying(json, node); });
  if (const Json* compute = json.find(kCompute)) node.settings.push_back(*compute);
  const Json* with = json.find("with");
  if (with == nullptr) return;
  for (const Json& item : with->items) {
    guarded(errors, [&] { check_name(item.key, item.key_where, "size"); });
    node.with.push_back(item);
  }
}

// Losses and metrics are no nodes, whoever's names they have.
std::string suggest_op(const std::string& word) {
  const auto stands = [&](const std::string& kind, const std::string& key) {
    return fmt::format("it is a {}, and belongs in train: \"{}\": [{{\"op\": ..., \"in\": [...]}}]", kind, key);
  };
  if (find_loss(word) != nullptr) return stands("loss", "loss");
  if (find_metric(word) != nullptr) return stands("metric", "metrics");
  std::string hint = suggest(word, layer_names());
  if (!hint.empty()) return hint;
  if (!foreign_hint(word, loss_names()).empty()) return stands("loss", "loss");
  return foreign_hint(word, metric_names()).empty() ? "heddle ops --kind layer lists them"
                                                    : stands("metric", "metrics");
}

void read_layer_use(NodeDef& node, const Json& json, Diagnostics& errors) {
  const LayerDef* def = find_layer(node.op);
  if (def == nullptr) {
    if (const Planned* plan = find_planned(PlannedKind::op, node.op)) {
      errors.error(node.op_where, fmt::format("{} is not supported by this version", node.op),
                   std::string(plan->instead));
    } else {
      errors.error(node.op_where, fmt::format("there is no op {}", quote(node.op)), suggest_op(node.op));
    }
    return;
  }
  const Json* share = json.find("share");
  if (share != nullptr) guarded(errors, [&] { read_share(*share, node); });
  if (json.kind == Json::Kind::object) guarded(errors, [&] { read_copying(json, node); });
  std::vector<Key> optional;  // what is not given is as in the other node
  if (share != nullptr) optional = def->settings;
  for (Key& key : optional) key.required = false;
  const Keys own = share == nullptr ? Keys(def->settings) : Keys(optional);
  const KeyLists keys = json.kind == Json::Kind::object ? KeyLists{node_keys(), own} : KeyLists{own};
  std::vector<std::string> inputs = def->inputs;
  inputs.insert(inputs.end(), def->optional.begin(), def->optional.end());
  check_keys({json.items, json.nulls}, keys, {title_of(node), node.op_where, "setting", std::move(inputs)}, errors);
  for (const Json& member : json.items)
    if (find_key(node_keys(), member.key) == nullptr || member.key == kCompute) node.settings.push_back(member);
  if (def->runs_block && !node.share) read_scan(node);
}

NodeDef read_node(const Json& json, Diagnostics& errors) {
  NodeDef node;
  node.where = node.op_where = json.where;
  if (json.kind == Json::Kind::text) {
    node.op = json.text;
    if (is_block(node.op)) {
      node.block = true;
      node.op = node.op.substr(kBlock.size());
    } else {
      read_layer_use(node, json, errors);
    }
    return node;
  }
  guarded(errors, [&] { as_object(json, "node"); });
  const Json* op = json.find("op");
  if (op == nullptr && json.kind == Json::Kind::object) errors.error(json.where, "node has no \"op\"", op_remedy(json));
  if (const Json* name = json.find("name")) guarded(errors, [&] { read_name(*name, node); });
  if (const Json* in = json.find("in")) {
    guarded(errors, [&] { node.in = read_in(*in, "'in'"); });
    node.in_given = true;
  }
  if (const Json* out = json.find("out")) guarded(errors, [&] { read_out(*out, node, errors); });
  if (op == nullptr) return node;
  guarded(errors, [&] {
    node.op = as_text(*op, "'op'");
    node.op_where = op->where;
    is_block(node.op) ? read_block_use(node, json, errors) : read_layer_use(node, json, errors);
  });
  return node;
}

}  // namespace

std::string title_of(const NodeDef& node) {
  return node.name.empty() ? node.op : fmt::format("{} '{}'", node.op, node.name);
}

UserError no_value(const Reference& reference, const NodeDef& node) {
  std::vector<std::string> names;
  for (const Named& result : node.out) names.push_back(result.text);
  return {reference.where, fmt::format("{} is no value: 'out' names the results of {}", quote(reference.name), node.op),
          fmt::format("known: {}", fmt::join(names, ", "))};
}

UserError wrong_results(const NodeDef& node, std::optional<size_t> count) {
  constexpr size_t kMostShown = 8;
  std::vector<std::string> names;
  for (const Named& result : node.out) names.push_back(result.text);
  const size_t wanted = count.value_or(2);
  names.resize(std::min(names.size(), wanted));
  for (char letter = 'a'; names.size() < std::min(wanted, kMostShown); ++letter)
    if (std::ranges::count(names, std::string(1, letter)) == 0) names.emplace_back(1, letter);
  const std::string help = wanted > kMostShown
                               ? fmt::format("'out' is a list of {} names", wanted)
                               : fmt::format("for example \"out\": [\"{}\"]", fmt::join(names, "\", \""));
  const std::string title = node.block ? fmt::format("block {}", quote(node.op)) : title_of(node);
  const std::string has =
      fmt::format("{} result{}", count ? std::to_string(*count) : "several", wanted == 1 ? "" : "s");
  if (node.out.empty())
    return {node.op_where, fmt::format("{} has {}: name {} with 'out'", title, has, wanted == 1 ? "it" : "them"), help};
  return {node.op_where, fmt::format("{} has {}, 'out' names {}", title, has, node.out.size()), help};
}

std::vector<Reference> read_in(const Json& json, const std::string& what) {
  std::vector<Reference> out;
  if (json.kind == Json::Kind::list || json.kind == Json::Kind::object) {
    for (const Json& item : json.items) {
      out.push_back(read_reference(item, what));
      if (json.kind == Json::Kind::object) out.back().port = item.key;
    }
    if (out.empty()) throw UserError(json.where, what + " is empty");
  } else {
    out.push_back(read_reference(json, what));
  }
  return out;
}

std::vector<NodeDef> read_nodes(const Json& list, Diagnostics& errors) {
  std::vector<NodeDef> nodes;
  if (list.items.empty()) errors.error(list.where, "'nodes' is empty");
  if (static_cast<int64_t>(list.items.size()) > kMaxNodes) {
    throw UserError(list.where, fmt::format("more than {} nodes", kMaxNodes));
  }
  for (const Json& item : list.items) nodes.push_back(read_node(item, errors));
  return nodes;
}

}  // namespace heddle::frontend
