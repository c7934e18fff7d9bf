// train.early_stop and train.checkpoint: when a run ends early, and when it is saved.
#include "frontend/keys/model_keys.h"
#include "frontend/read/read_parts.h"

namespace heddle::frontend {

// {"on": "accuracy", "patience": 5}
EarlyStop read_early_stop(const Fields& fields) {
  EarlyStop stop;
  stop.where = fields.json().where;
  fields.read("on", [&](const Json& on) { stop.on = on.text, stop.where = on.where; });
  fields.read("mode", stop.mode);
  fields.read("patience", stop.patience);
  fields.read("min_delta", stop.min_delta);
  fields.read("restore_best", stop.restore_best);
  return stop;
}

// {"every": {"minutes": 10}, "keep": 2}
CheckpointRule read_checkpoint_rule(const Fields& fields) {
  CheckpointRule rule;
  fields.object("every", [&](const Fields& units) {
    units.read("steps", rule.steps);
    units.read("epochs", rule.epochs);
    units.read("minutes", rule.minutes);
    if (units.json().items.empty())
      throw UserError(units.json().where, fields.named("every") + " is empty", kEveryHint);
  });
  fields.read("keep", rule.keep);
  return rule;
}

}  // namespace heddle::frontend
