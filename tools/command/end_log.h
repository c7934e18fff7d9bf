// Writes the event "end" of a training's log. The run may have ended at its length, or by a rule, a signal or an error.
//
//   {"event": "end", "error": "the loss is nan at step 12", "steps": 12, "at": 0.9}
#pragma once
#include <exception>
#include <optional>
#include <string>

#include "runtime/json_text.h"
#include "runtime/train/run_log.h"
#include "runtime/train/trainer.h"

namespace heddle::tools {

// `results`: what --json prints; nothing where a signal ended the run. `failure`: which file could not be saved, or "".
void end_log(runtime::RunLog& log, const std::optional<runtime::JsonObject>& results,
             const runtime::TrainResult& result, const std::string& failure);
// For a run that ends by an error, which the caller throws on. If the log is incomplete, prints a note here, unless
// this is already known (`known_to_be_lost`).
void end_log(runtime::RunLog& log, const std::exception& error, bool known_to_be_lost = false);
// The same from another thread, just before the process ends. `where`: "m.json:5:23", or "".
void end_log(runtime::RunLog& log, const std::string& error, const std::string& where = {});

}  // namespace heddle::tools
