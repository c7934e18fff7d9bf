// train.early_stop and train.checkpoint: when a run ends before its length, and when it is saved.
#include <fmt/format.h>

#include "frontend/fields.h"
#include "frontend/limits.h"
#include "frontend/read_parts.h"

namespace heddle::frontend {
namespace {

void require_object(const Json& json, const std::string& what, const std::string& example) {
  if (json.kind != Json::Kind::object)
    throw UserError(json.where, fmt::format("{}: expected an object, found {}", what, describe(json)), example);
}

constexpr int64_t kMost = int64_t{1} << 40;

}  // namespace

// {"on": "accuracy", "patience": 5}
EarlyStop read_early_stop(const Json& json, const Model& model, Diagnostics& errors) {
  const std::string what = "train: early_stop";
  require_object(json, what, "write \"early_stop\": {\"patience\": 5}");
  EarlyStop stop;
  stop.where = json.where;
  Fields fields(json, what, errors);
  if (const Json* on = fields.take("on")) stop.on = as_text(*on, fields.named("on")), stop.where = on->where;
  if (const Json* mode = fields.take("mode")) {
    require_word(*mode, {"min", "max"}, fields.named("mode"));
    stop.mode = mode->text;
  }
  stop.patience = fields.integer("patience", model.let, 1, kMost).value_or(stop.patience);
  stop.min_delta = fields.real("min_delta", model.let).value_or(0);
  if (!(stop.min_delta >= 0))
    errors.error(fields.take("min_delta")->where,
                 fmt::format("{} must not be negative, is {}", fields.named("min_delta"), stop.min_delta));
  stop.restore_best = fields.flag("restore_best").value_or(true);
  fields.finish();
  return stop;
}

// {"every": {"minutes": 10}, "keep": 2}
CheckpointRule read_checkpoint_rule(const Json& json, const Model& model, Diagnostics& errors) {
  const std::string what = "train: checkpoint";
  const std::string example = R"(write "checkpoint": {"every": {"minutes": 10}}; steps and epochs count, too)";
  require_object(json, what, example);
  CheckpointRule rule;
  Fields fields(json, what, errors);
  if (const Json* every = fields.take("every")) {
    require_object(*every, fields.named("every"), example);
    Fields units(*every, what + ": every", errors);
    rule.steps = units.integer("steps", model.let, 1, kMost);
    rule.epochs = units.integer("epochs", model.let, 1, kMost);
    rule.minutes = units.real("minutes", model.let);
    if (rule.minutes && !(*rule.minutes > 0))
      errors.error(units.take("minutes")->where,
                   fmt::format("{} must be above 0, is {}", units.named("minutes"), *rule.minutes));
    units.finish();
    if (every->items.empty()) throw UserError(every->where, fields.named("every") + " is empty", example);
  }
  rule.keep = fields.integer("keep", model.let, 1, 1000).value_or(rule.keep);
  fields.finish();
  return rule;
}

}  // namespace heddle::frontend
