// The section `train`: batch, length, seed, loss, metrics, optimizer.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "frontend/byte_count.h"
#include "frontend/initializer.h"
#include "frontend/keys/fields.h"
#include "frontend/keys/model_keys.h"
#include "frontend/keys/settings.h"
#include "frontend/limits.h"
#include "frontend/read/read_parts.h"
#include "frontend/training/training_def.h"
#include "frontend/training/weight_rules.h"

namespace heddle::frontend {
namespace {

struct Family {
  std::string kind;  // "loss"
  std::vector<std::string> names;
  std::function<Keys(const std::string& op)> settings;
  Keys common;                                                                 // the keys of all
  std::function<std::vector<std::string>(const std::string& op)> inputs = {};  // names of what a member reads
};

void check_op(const Part& part, const Family& family) {
  if (std::find(family.names.begin(), family.names.end(), part.op) != family.names.end()) return;
  throw UserError(part.op_where, fmt::format("there is no {} {}", family.kind, quote(part.op)),
                  suggest(part.op, family.names));
}

// "accuracy" or {"op": "accuracy", "in": [...], ...}, whose keys are checked.
Part read_member(const Json& json, const Family& family, Diagnostics& faults) {
  Part part = read_part(json, family.kind);
  check_op(part, family);
  check_keys({part.settings, part.nulls}, {family.common, family.settings(part.op)},
             {fmt::format("{} {}", family.kind, part.op), part.op_where, "setting",
              family.inputs ? family.inputs(part.op) : std::vector<std::string>()},
             faults);
  return part;
}

// A loss or a metric, which without "in" is none, or a rule of parameters, which without "match" is none.
Part read_measure(const Json& json, const Family& family) {
  Diagnostics faults;
  Part part = read_member(json, family, faults);
  faults.throw_if_any();
  return part;
}

// What all of a family have leaves the settings.
std::optional<Json> take(Part& part, std::string_view key) {
  const auto at = std::ranges::find(part.settings, key, &Json::key);
  if (at == part.settings.end()) return std::nullopt;
  std::optional<Json> taken = std::move(*at);
  part.settings.erase(at);
  return taken;
}

void read_row_weights(Part& part) {
  const std::optional<Json> weights = take(part, "weights");
  if (!weights) return;
  if (!find_loss(part.op)->weighs_rows)
    throw UserError(weights->key_where, fmt::format("loss {} has no rows that 'weights' could weigh", part.op));
  part.weights.emplace();
  part.weights->name = weights->text;
  part.weights->where = weights->where;
}

template <class Def>
std::vector<std::string> inputs_of(const Def& def) {
  std::vector<std::string> inputs = def.inputs;
  inputs.insert(inputs.end(), def.optional.begin(), def.optional.end());
  return inputs;
}

// All that reads `in` reads it by place: {"labels": "y", "logits": "x"} -> x, y. An input that may be left out, and is,
// is an empty reference where one behind it is given.
template <class Def>
void order_inputs(Part& part, const Def& def, const std::string& title) {
  if (part.in.empty() || part.in.front().port.empty()) return;
  const std::vector<std::string> ports = inputs_of(def);
  std::vector<Reference> ordered(ports.size());
  size_t given = 0;
  for (const Reference& reference : part.in) {
    const auto at = std::ranges::find(ports, reference.port);
    if (at == ports.end())
      throw UserError(reference.where, fmt::format("{} has no input {}", title, quote(reference.port)),
                      suggest(reference.port, ports));
    const auto place = static_cast<size_t>(at - ports.begin());
    ordered[place] = reference;
    given = std::max(given, place + 1);
  }
  for (size_t i = 0; i < def.inputs.size(); ++i)
    if (ordered[i].port.empty())
      throw UserError(part.op_where, fmt::format("{} needs the input '{}'", title, ports[i]),
                      fmt::format("\"in\": {{\"{}\": ...}}", ports[i]));
  ordered.resize(given);
  part.in = std::move(ordered);
}

Part read_loss(const Json& json, const Model& model) {
  Part part =
      read_measure(json, {"loss", loss_names(), [](const std::string& op) { return Keys(find_loss(op)->settings); },
                          loss_keys(), [](const std::string& op) { return inputs_of(*find_loss(op)); }});
  const std::string title = "loss " + part.op;
  part.in = read_in(*take(part, "in"), title + ": 'in'");
  order_inputs(part, *find_loss(part.op), title);
  read_row_weights(part);
  Settings(part.settings, find_loss(part.op)->settings, model.let, title, part.op_where).check_ranges();
  return part;
}

// One, or a list of them.
void read_losses(const Json& json, const Model& model, Train& train, Diagnostics& errors,
                 const std::string& title = "train") {
  if (json.kind != Json::Kind::list) {
    train.losses.push_back(read_loss(json, model));
    return;
  }
  if (json.items.empty()) throw UserError(json.where, title + ": 'loss' is an empty list");
  for (const Json& item : json.items) guarded(errors, [&] { train.losses.push_back(read_loss(item, model)); });
}

Part read_metric(const Json& json) {
  Part part = read_measure(
      json, {"metric", metric_names(), [](const std::string& op) { return Keys(find_metric(op)->settings); },
             metric_keys(), [](const std::string& op) { return inputs_of(*find_metric(op)); }});
  const std::string title = "metric " + part.op;
  part.in = read_in(*take(part, "in"), title + ": 'in'");
  order_inputs(part, *find_metric(part.op), title);
  return part;
}

// {"match": "*.bias", "weight_decay": 0}
OptimizerGroup read_group(const Json& json, const Optimizer& optimizer) {
  const std::string title = fmt::format("optimizer {}: group", optimizer.op);
  if (json.kind != Json::Kind::object)
    throw UserError(json.where, fmt::format("{}: expected an object, found {}", title, describe(json)),
                    group_keys().front().hint);
  Diagnostics faults;
  check_keys({json.items, json.nulls}, {group_keys(), find_optimizer(optimizer.op)->settings},
             {title, json.where, "setting"}, faults);
  faults.throw_if_any();
  OptimizerGroup group;
  group.where = json.where;
  group.settings = json.items;
  std::erase_if(group.settings, [](const Json& member) { return member.key == "match"; });
  group.match = read_globs(*json.find("match"), title + ": 'match'");
  group.has_lr = json.find("lr") != nullptr;
  for (const Json& setting : optimizer.settings)
    if (json.find(setting.key) == nullptr) group.settings.push_back(setting);
  return group;
}

Optimizer read_optimizer(const Json& json, Diagnostics& errors) {
  Optimizer optimizer;
  static_cast<Part&>(optimizer) =
      read_member(json,
                  {"optimizer", optimizer_names(),
                   [](const std::string& op) { return Keys(find_optimizer(op)->settings); }, optimizer_keys()},
                  errors);
  const std::optional<Json> groups = take(optimizer, "groups");
  if (!groups) return optimizer;
  for (const Json& item : groups->items)
    guarded(errors, [&] { optimizer.groups.push_back(read_group(item, optimizer)); });
  return optimizer;
}

// {"op": "l2", "match": "*.weight", "weight": 0.01}: a penalty or a constraint.
template <class Def>
WeightRule read_rule(const Json& json, const Model& model, const std::string& kind,
                     const std::vector<std::string>& names, const Def* (*find)(std::string_view)) {
  WeightRule rule;
  static_cast<Part&>(rule) = read_measure(
      json, {kind, names, [find](const std::string& op) { return Keys(find(op)->settings); }, rule_keys()});
  const std::string title = kind + " " + rule.op;
  rule.match = read_globs(*take(rule, "match"), title + ": 'match'");
  const Def& def = *find(rule.op);
  const Settings settings(rule.settings, def.settings, model.let, title, rule.op_where);
  settings.check_ranges();
  if (def.check) def.check(settings);
  return rule;
}

// One, or a list of them.
template <class Def>
std::vector<WeightRule> read_rules(const Json& json, const Model& model, const std::string& kind,
                                   const std::vector<std::string>& names, const Def* (*find)(std::string_view),
                                   Diagnostics& errors) {
  std::vector<WeightRule> rules;
  const auto read = [&](const Json& item) {
    guarded(errors, [&] { rules.push_back(read_rule(item, model, kind, names, find)); });
  };
  if (json.kind != Json::Kind::list)
    read(json);
  else
    std::ranges::for_each(json.items, read);
  return rules;
}

// {"N": 128}: sizes of free dimensions; a number is that of the batch dimension.
void read_batch(const Json& json, const Model& model, Train& train, Diagnostics& errors) {
  if (json.kind == Json::Kind::integer && model.batch_dimension.empty()) {
    if (errors.empty())
      errors.error(json.where, "train: 'batch': no input has rows", "\"shape\": [\"N\", ...] gives an input rows");
    return;
  }
  if (json.kind == Json::Kind::integer) {
    if (json.integer < 1 || json.integer > kMaxElements)
      errors.error(json.where,
                   fmt::format("train: 'batch' must be between 1 and {}, is {}", kMaxElements, json.integer));
    else
      train.sizes[model.batch_dimension] = json.integer;
    return;
  }
  if (json.kind != Json::Kind::object) {
    errors.error(
        json.where, fmt::format("train: 'batch': expected an integer or an object, found {}", describe(json)),
        fmt::format("write 32, or {{\"{}\": 32}}", model.batch_dimension.empty() ? "N" : model.batch_dimension));
    return;
  }
  std::vector<std::string> free_names;
  for (const InputDef& input : model.inputs) {
    for (const Json& size : input.shape.items) {
      if (size.kind == Json::Kind::text && is_name(size.text) && !model.let.find(size.text) &&
          std::ranges::count(free_names, size.text) == 0)
        free_names.push_back(size.text);
    }
  }
  bool misspelt = false;  // the batch dimension may be meant
  for (const Json& item : json.items) {
    guarded(errors, [&] {
      if (std::find(free_names.begin(), free_names.end(), item.key) == free_names.end()) {
        misspelt = true;
        throw UserError(item.key_where, fmt::format("no input has a free dimension {}", quote(item.key)),
                        suggest(item.key, free_names));
      }
      const int64_t size = evaluate_integer(item, model.let, fmt::format("train: batch: '{}'", item.key));
      if (size < 1 || size > kMaxElements) {
        throw UserError(item.where, fmt::format("train: batch: '{}' must be between 1 and {}, is {}", item.key,
                                                kMaxElements, size));
      }
      train.sizes[item.key] = size;
    });
  }
  if (!model.batch_dimension.empty() && json.find(model.batch_dimension) == nullptr && !misspelt)
    errors.error(json.where, fmt::format("train: 'batch' does not give the number of rows '{}'", model.batch_dimension),
                 fmt::format("write \"batch\": {{\"{}\": 32}}", model.batch_dimension));
}

// Of the divisors of a number those next to another one: "2, 4 and 8".
std::string divisors_near(int64_t batch, int64_t near) {
  std::vector<int64_t> all;
  for (int64_t i = 1; i <= batch / i; ++i)
    if (batch % i == 0) all.push_back(i), all.push_back(batch / i);
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  const auto above = std::ranges::upper_bound(all, near);
  const auto first = above - std::min<std::ptrdiff_t>(3, above - all.begin());
  const auto end = above + std::min<std::ptrdiff_t>(2, all.end() - above);
  return fmt::format("{}", fmt::join(first, end, ", "));
}

// Micro-batches of a step have as many rows each.
void read_accumulate(const Fields& fields, const Model& model, Train& train) {
  fields.read("accumulate", [&](const Json& json) {
    if (json.kind == Json::Kind::text && json.text == "auto")
      throw UserError(json.where, "train: 'accumulate': this version does not choose the number of micro-batches",
                      "write a divisor of train.batch");
    const int64_t parts = evaluate_integer(json, model.let, "train: 'accumulate'");
    const auto batch = train.sizes.find(model.batch_dimension);
    if (parts < 1)
      throw UserError(json.where, fmt::format("train: 'accumulate' must be at least 1, is {}", parts),
                      "1 runs through all rows of a step at once");
    if (batch == train.sizes.end()) return;  // which has been told
    if (batch->second % parts != 0)
      throw UserError(
          json.where,
          fmt::format("train: 'accumulate' is {}, which does not divide the batch of {} rows", parts, batch->second),
          fmt::format("of the divisors are near: {}", divisors_near(batch->second, parts)));
    if (parts > 1 && fields.find("phases") != nullptr)
      throw UserError(json.key_where,
                      "train: 'accumulate' stands beside 'phases', each of which goes through the rows of a step anew",
                      "leave \"accumulate\" out, or take a smaller train.batch");
    train.accumulate = parts;
  });
}

TrainPhase read_phase(const Json& json, const Model& model, Train& train, Diagnostics& errors) {
  TrainPhase phase;
  phase.where = json.where;
  phase.name = fmt::format("phase_{}", train.phases.size() + 1);
  const std::string title = "train: " + phase.name;
  const Fields fields(json, phase_keys(), title, model.let, errors);
  if (!fields.is_object()) return phase;
  fields.read("name", [&](const Json& name) {
    check_value_name(name.text, name.where, title + ": 'name'");
    if (std::ranges::count(train.phases, name.text, &TrainPhase::name) > 0)
      throw UserError(name.where, fmt::format("{}: an earlier phase is called {}", title, quote(name.text)));
    phase.name = name.text;
  });
  const size_t before = train.losses.size();
  fields.read("loss", [&](const Json& loss) { read_losses(loss, model, train, errors, title); });
  phase.losses = train.losses.size() - before;
  fields.read("parameters", [&](const Json& globs) { phase.parameters = read_globs(globs, title + ": 'parameters'"); });
  fields.read("optimizer", [&](const Json& optimizer) { phase.optimizer = read_optimizer(optimizer, errors); });
  fields.read("clip_norm", phase.clip_norm);
  fields.read("every", phase.every);
  return phase;
}

void read_phases(const Json& json, const Model& model, const Json& around, Train& train, Diagnostics& errors) {
  if (json.items.empty()) throw UserError(json.where, "train: 'phases' is an empty list");
  for (const char* key : {"loss", "optimizer", "clip_norm"})
    if (const Json* other = around.find(key))
      throw UserError(other->key_where,
                      fmt::format("train: '{}' stands beside 'phases', each of which has its own", key),
                      fmt::format("move \"{}\" into a phase, or leave \"phases\" out", key));
  for (const Json& item : json.items) train.phases.push_back(read_phase(item, model, train, errors));
}

// A number is of bytes; a text has its unit.
int64_t read_limit(const Json& json, const std::string& what) {
  std::optional<int64_t> bytes;
  if (json.kind == Json::Kind::text) bytes = bytes_of(json.text);
  if (json.kind == Json::Kind::integer && json.integer >= 1) bytes = json.integer;
  if (bytes) return *bytes;
  throw UserError(json.where, fmt::format("{}: expected a number of bytes, found {}", what, describe(json)),
                  "for example \"limit\": \"8GiB\"");
}

MemoryUse read_memory(const Fields& fields) {
  MemoryUse memory;
  fields.read("limit", [&](const Json& limit) { memory.limit = read_limit(limit, fields.named("limit")); });
  fields.read("recompute", [&](const Json& blocks) {
    const bool word = blocks.kind == Json::Kind::text;
    if (word && blocks.text == "auto") return;
    memory.automatic = false;
    if (word && blocks.text == "none") return;
    memory.blocks = read_globs(blocks, fields.named("recompute"));
  });
  return memory;
}

}  // namespace

std::vector<Named> read_globs(const Json& json, const std::string& what) {
  std::vector<Named> globs;
  if (json.kind == Json::Kind::text) return {{json.text, json.where}};
  for (const Json& item : json.items) globs.push_back({as_text(item, what), item.where});
  if (globs.empty()) throw UserError(json.where, what + " is an empty list");
  return globs;
}

Train read_train(const Json& json, const Model& model, Diagnostics& errors) {
  Train train;
  train.where = json.where;
  const Fields fields(json, train_keys(), "train", model.let, errors);
  if (!fields.is_object()) return train;
  fields.read("batch", [&](const Json& batch) { read_batch(batch, model, train, errors); });
  fields.read("epochs", train.epochs);
  fields.read("steps", train.steps);
  fields.read("seed", train.seed);
  fields.read("drop_last", train.drop_last);
  read_accumulate(fields, model, train);
  fields.read("loss", [&](const Json& loss) { read_losses(loss, model, train, errors); });
  fields.read("metrics", [&](const Json& metrics) {
    for (const Json& item : metrics.items) guarded(errors, [&] { train.metrics.push_back(read_metric(item)); });
  });
  fields.read("optimizer", [&](const Json& optimizer) { train.optimizer = read_optimizer(optimizer, errors); });
  fields.read("phases", [&](const Json& phases) { read_phases(phases, model, json, train, errors); });
  fields.read("clip_norm", train.clip_norm);
  fields.read("gradient_norm", train.gradient_norm);
  fields.read("freeze", [&](const Json& freeze) {
    for (const Json& item : freeze.items) train.freeze.push_back({as_text(item, "train: 'freeze'"), item.where});
  });
  fields.object("lora", [&](const Fields& lora) { train.lora = read_lora(lora); });
  fields.object("prune", [&](const Fields& prune) { train.prune = read_prune(prune, model.let); });
  if (train.prune && train.lora)
    errors.error(train.prune->where, "train: 'prune' and 'lora' exclude each other: adapters alone are trained",
                 "prune the model that heddle merge makes, or leave one of them out");
  fields.object("quantize", [&](const Fields& quantize) { train.quantize = read_quantize(quantize); });
  if (train.quantize && train.lora)
    errors.error(train.quantize->where,
                 "train: 'quantize' and 'lora' exclude each other: what adapters add to a weight is not quantised",
                 "quantise the model that heddle merge makes, or leave one of them out");
  fields.read("init", [&](const Json& init) {
    train.init = read_part(init, "train: 'init'");
    make_initializer(*train.init, model.let);  // for its checks
  });
  fields.object("average", [&](const Fields& average) {
    train.average.emplace();
    average.read("decay", train.average->decay);
    average.read("start", train.average->start);
  });
  fields.read("regularize", [&](const Json& rules) {
    train.regularize = read_rules(rules, model, "regularizer", regularizer_names(), find_regularizer, errors);
  });
  fields.read("constrain", [&](const Json& rules) {
    train.constrain = read_rules(rules, model, "constraint", constraint_names(), find_constraint, errors);
  });
  fields.object("precision", [&](const Fields& precision) { read_precision(precision, model.let, train, errors); });
  fields.object("memory", [&](const Fields& memory) { train.memory = read_memory(memory); });
  fields.object("early_stop", [&](const Fields& stop) { train.early_stop = read_early_stop(stop); });
  fields.object("checkpoint", [&](const Fields& rule) { train.checkpoint = read_checkpoint_rule(rule); });
  return train;
}

}  // namespace heddle::frontend
