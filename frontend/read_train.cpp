// The section `train`: batch, length, seed, loss, metrics, optimizer.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>

#include "frontend/fields.h"
#include "frontend/initializer.h"
#include "frontend/layer_context.h"
#include "frontend/limits.h"
#include "frontend/read_parts.h"
#include "frontend/training_def.h"
#include "ir/ops/precision.h"

namespace heddle::frontend {
namespace {

struct Family {
  std::string kind;  // "loss"
  std::vector<std::string> names;
  std::function<std::span<const SettingDef>(const std::string& op)> settings_of = {};
};

void check_op(const Part& part, const Family& family) {
  if (std::find(family.names.begin(), family.names.end(), part.op) != family.names.end()) return;
  throw UserError(part.op_where, fmt::format("there is no {} {}", family.kind, quote(part.op)),
                  suggest(part.op, family.names));
}

// Throws where a key was meant to be `needed`, which is not there: then the key is the fault.
void refuse_misspelt(const std::string& needed, const std::vector<Json>& given, std::span<const SettingDef> defs,
                     const std::string& title) {
  for (const Json& member : given) {
    if (std::ranges::find(defs, member.key, &SettingDef::name) != defs.end()) continue;
    const std::string hint = suggest_word(member.key, {needed});
    if (!hint.empty())
      throw UserError(member.key_where, fmt::format("{} has no setting {}", title, quote(member.key)), hint);
  }
}

// "accuracy" or {"op": "accuracy", "in": [...], ...}; `in` leaves the settings.
Part read_measure(const Json& json, const Family& family) {
  Part part = read_part(json, family.kind);
  check_op(part, family);
  const auto in = std::find_if(part.settings.begin(), part.settings.end(), [](const Json& s) { return s.key == "in"; });
  if (in == part.settings.end()) {
    refuse_misspelt("in", part.settings, family.settings_of(part.op), fmt::format("{} {}", family.kind, part.op));
    throw UserError(part.where, fmt::format("the {} {} needs 'in'", family.kind, part.op),
                    "for example \"in\": [\"logits\", \"label\"]");
  }
  part.in = read_in(*in, fmt::format("{} {}: 'in'", family.kind, part.op));
  part.settings.erase(in);
  return part;
}

// "weights": "NAME" leaves the settings, too.
void read_row_weights(Part& part) {
  const auto at =
      std::find_if(part.settings.begin(), part.settings.end(), [](const Json& s) { return s.key == "weights"; });
  if (at == part.settings.end()) return;
  const std::string title = "loss " + part.op;
  if (!find_loss(part.op)->weighs_rows)
    throw UserError(at->key_where, fmt::format("{} has no rows that 'weights' could weigh", title));
  part.weights.emplace();
  part.weights->name = as_text(*at, title + ": 'weights'");
  part.weights->where = at->where;
  part.settings.erase(at);
}

Part read_loss(const Json& json, const Model& model) {
  Part part = read_measure(json, {"loss", loss_names(), [](const std::string& op) {
                                    return std::span<const SettingDef>(find_loss(op)->settings);
                                  }});
  read_row_weights(part);
  const std::vector<SettingDef>& defs = find_loss(part.op)->settings;
  const std::string title = "loss " + part.op;
  Diagnostics found;
  check_settings({part.settings, part.nulls}, defs, title, part.op_where, {"in", "weights"}, found);
  found.throw_if_any();
  Settings(part.settings, defs, model.let, title, part.op_where).positive_real("weight");
  return part;
}

// One, or a list of them.
void read_losses(const Json& json, const Model& model, Train& train, Diagnostics& errors) {
  if (json.kind != Json::Kind::list) {
    train.losses.push_back(read_loss(json, model));
    return;
  }
  if (json.items.empty()) throw UserError(json.where, "train: 'loss' is an empty list");
  for (const Json& item : json.items) guarded(errors, [&] { train.losses.push_back(read_loss(item, model)); });
}

Part read_metric(const Json& json, Diagnostics& errors) {
  const Family family = {"metric", metric_names(),
                         [](const std::string& op) { return std::span<const SettingDef>(find_metric(op)->settings); }};
  Part part = read_measure(json, family);
  check_settings({part.settings, part.nulls}, find_metric(part.op)->settings, "metric " + part.op, part.op_where,
                 {"in"}, errors);
  return part;
}

std::vector<Named> read_globs(const Json& json, const std::string& what) {
  std::vector<Named> globs;
  if (json.kind == Json::Kind::text) return {{json.text, json.where}};
  for (const Json& item : as_list(json, what).items) globs.push_back({as_text(item, what), item.where});
  if (globs.empty()) throw UserError(json.where, what + " is an empty list");
  return globs;
}

// {"match": "*.bias", "weight_decay": 0}
OptimizerGroup read_group(const Json& json, const Optimizer& optimizer, Diagnostics& errors) {
  const std::string title = fmt::format("optimizer {}: group", optimizer.op);
  if (json.kind != Json::Kind::object)
    throw UserError(json.where, fmt::format("{}: expected an object, found {}", title, describe(json)),
                    "for example {\"match\": \"*.bias\", \"weight_decay\": 0}");
  OptimizerGroup group;
  group.where = json.where;
  for (const Json& member : json.items) {
    if (member.key == "match") {
      group.match = read_globs(member, title + ": 'match'");
    } else {
      group.settings.push_back(member);
    }
  }
  if (group.match.empty()) {
    refuse_misspelt("match", group.settings, find_optimizer(optimizer.op)->settings, title);
    throw UserError(json.where, title + " needs 'match': paths of parameters, with * and ?",
                    "for example {\"match\": \"*.bias\", \"weight_decay\": 0}");
  }
  check_settings({group.settings, json.nulls}, find_optimizer(optimizer.op)->settings, title, json.where, {"match"},
                 errors);
  group.has_lr = json.find("lr") != nullptr;
  for (const Json& setting : optimizer.settings)
    if (json.find(setting.key) == nullptr) group.settings.push_back(setting);
  return group;
}

Optimizer read_optimizer(const Json& json, Diagnostics& errors) {
  const Family family = {"optimizer", optimizer_names()};
  Optimizer optimizer;
  static_cast<Part&>(optimizer) = read_part(json, "optimizer");
  check_op(optimizer, family);
  std::vector<Json>& settings = optimizer.settings;
  const auto at = std::find_if(settings.begin(), settings.end(), [](const Json& s) { return s.key == "groups"; });
  std::optional<Json> groups;
  if (at != settings.end()) {
    groups = std::move(*at);
    settings.erase(at);
  }
  check_settings({settings, optimizer.nulls}, find_optimizer(optimizer.op)->settings, "optimizer " + optimizer.op,
                 optimizer.op_where, {"groups"}, errors);
  if (!groups) return optimizer;
  for (const Json& item : as_list(*groups, fmt::format("optimizer {}: 'groups'", optimizer.op)).items)
    guarded(errors, [&] { optimizer.groups.push_back(read_group(item, optimizer, errors)); });
  return optimizer;
}

// {"N": 128}: sizes of free dimensions; a number is that of the batch dimension.
void read_batch(const Json& json, const Model& model, Train& train, Diagnostics& errors) {
  if (json.kind == Json::Kind::integer && !model.batch_dimension.empty()) {
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
    errors.error(json.where, fmt::format("train: 'batch' does not say how many rows '{}' is", model.batch_dimension),
                 fmt::format("write \"batch\": {{\"{}\": 32}}", model.batch_dimension));
}

void read_length(Fields& fields, const Model& model, Train& train) {
  constexpr int64_t kLongest = int64_t{1} << 40;
  train.epochs = fields.integer("epochs", model.let, 1, kLongest);
  train.steps = fields.integer("steps", model.let, 1, kLongest);
  train.seed = fields.integer("seed", model.let, 0, kMaxExactInteger).value_or(0);
  train.drop_last = fields.flag("drop_last").value_or(false);
  const Json* accumulate = fields.take("accumulate");
  if (accumulate != nullptr && !(accumulate->kind == Json::Kind::integer && accumulate->integer == 1)) {
    fields.unsupported({"accumulate"});  // over one batch it is what happens anyway
  }
}

void read_freeze(const Json& json, Train& train) {
  for (const Json& item : as_list(json, "train: 'freeze'").items) {
    train.freeze.push_back({as_text(item, "train: 'freeze'"), item.where});
  }
}

// {"compute": "tf32"}: a permission, for which GPUs have faster units.
void read_precision(const Json& json, Train& train, Diagnostics& errors) {
  const std::vector<std::string> names(ir::kPrecisions.begin(), ir::kPrecisions.end());
  if (json.kind != Json::Kind::object)
    throw UserError(json.where, fmt::format("train: 'precision': expected an object, found {}", describe(json)),
                    "write \"precision\": {\"compute\": \"tf32\"}");
  Fields fields(json, "train: precision", errors);
  if (const Json* compute = fields.take("compute")) {
    train.precision = as_text(*compute, "train: precision: 'compute'");
    if (std::find(names.begin(), names.end(), train.precision) == names.end())
      throw UserError(compute->where, fmt::format("there is no precision {}", quote(train.precision)),
                      suggest(train.precision, names));
  }
  fields.unsupported({"params", "loss_scale"});
  fields.finish();
}

// {"decay": 0.999}
void read_average(const Json& json, const Model& model, Train& train, Diagnostics& errors) {
  if (json.kind != Json::Kind::object)
    throw UserError(json.where, fmt::format("train: 'average': expected an object, found {}", describe(json)),
                    "write \"average\": {\"decay\": 0.999}");
  Fields fields(json, "train: average", errors);
  Average& average = train.average.emplace();
  average.decay = fields.real("decay", model.let).value_or(average.decay);
  if (!(average.decay >= 0 && average.decay < 1))
    errors.error(fields.take("decay")->where,
                 fmt::format("train: average: 'decay' must lie in [0, 1), is {}", average.decay));
  average.start = fields.integer("start", model.let, 0, kMaxExactInteger).value_or(0);
  fields.finish();
}

void read_regularisation(Fields& fields, const Model& model, Train& train) {
  train.clip_norm = fields.real("clip_norm", model.let);
  if (train.clip_norm && !(*train.clip_norm > 0 && fits(*train.clip_norm, ir::DType::f32))) {
    fields.guard([&] {
      throw UserError(fields.take("clip_norm")->where,
                      fmt::format("train: 'clip_norm' must be an f32 above 0, is {}", *train.clip_norm));
    });
  }
  train.gradient_norm = fields.flag("gradient_norm").value_or(false);
  if (const Json* freeze = fields.take("freeze")) fields.guard([&] { read_freeze(*freeze, train); });
  if (const Json* init = fields.take("init")) {
    fields.guard([&] {
      train.init = read_part(*init, "train: 'init'");
      make_initializer(*train.init, model.let);  // for its checks
    });
  }
}

}  // namespace

Train read_train(const Json& json, const Model& model, Diagnostics& errors) {
  Train train;
  train.where = json.where;
  Fields fields(json, "train", errors);
  if (json.kind != Json::Kind::object) return train;
  if (const Json* batch = fields.require("batch")) read_batch(*batch, model, train, errors);
  read_length(fields, model, train);
  if (const Json* loss = fields.take("loss")) fields.guard([&] { read_losses(*loss, model, train, errors); });
  if (const Json* metrics = fields.take("metrics")) {
    fields.guard([&] { as_list(*metrics, "train: 'metrics'"); });
    for (const Json& item : metrics->items) {
      if (metrics->kind == Json::Kind::list) fields.guard([&] { train.metrics.push_back(read_metric(item, errors)); });
    }
  }
  if (const Json* optimizer = fields.take("optimizer")) {
    fields.guard([&] { train.optimizer = read_optimizer(*optimizer, errors); });
  }
  read_regularisation(fields, model, train);
  if (const Json* average = fields.take("average")) fields.guard([&] { read_average(*average, model, train, errors); });
  if (const Json* precision = fields.take("precision"))
    fields.guard([&] { read_precision(*precision, train, errors); });
  if (const Json* stop = fields.take("early_stop"))
    fields.guard([&] { train.early_stop = read_early_stop(*stop, model, errors); });
  if (const Json* checkpoint = fields.take("checkpoint"))
    fields.guard([&] { train.checkpoint = read_checkpoint_rule(*checkpoint, model, errors); });
  fields.unsupported({"parallel", "memory"});
  fields.finish();
  return train;
}

}  // namespace heddle::frontend
