// The event "end" of a training's log, whatever ended the run: its length, a rule, a signal, or an error.
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

// `results` is what --json prints; none where a signal ended the run. `failure`: what could not be kept of it, or "".
void end_log(runtime::RunLog& log, const std::optional<runtime::JsonObject>& results,
             const runtime::TrainResult& result, const std::string& failure);
// Of a run that ends by an error, which the caller goes on with. A log that is not complete is told
// here, as nobody else will, but where it is `known_to_be_lost`.
void end_log(runtime::RunLog& log, const std::exception& error, bool known_to_be_lost = false);
// The same where the process ends at once, from another thread. `where`: "m.json:5:23", or "".
void end_log(runtime::RunLog& log, const std::string& error, const std::string& where = {});

}  // namespace heddle::tools
