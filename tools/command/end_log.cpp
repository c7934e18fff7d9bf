#include "tools/command/end_log.h"

#include <signal.h>

#include "ir/diagnostic.h"
#include "tools/command/output.h"
#include "tools/command/signals.h"

namespace heddle::tools {
namespace {

std::string signal_name(int number) {
  return number == SIGINT ? "SIGINT" : number == SIGTERM ? "SIGTERM" : number == SIGHUP ? "SIGHUP" : "signal";
}

std::string message_of(const std::exception& error) {
  if (const auto* user = dynamic_cast<const UserError*>(&error)) return user->diagnostics().front().message;
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ? "out of memory" : error.what();
}

}  // namespace

void end_log(runtime::RunLog& log, const std::optional<runtime::JsonObject>& results,
             const runtime::TrainResult& result, const std::string& failure) {
  runtime::JsonObject event = results.value_or(runtime::JsonObject());
  if (!results) {
    event.integer("steps", result.steps).integer("epochs", result.epochs).number("train_seconds", result.seconds);
    event.text("interrupted", signal_name(InterruptGuard::signal()));
  } else if (result.stopped != runtime::Stopped::no) {
    event.text("stopped", to_string(result.stopped));
  }
  if (!failure.empty()) event.text("error", failure);
  log.event("end", event);
}

void end_log(runtime::RunLog& log, const std::string& error, const std::string& where) {
  runtime::JsonObject event;
  event.text("error", error);
  if (!where.empty()) event.text("where", where);
  log.end(event);
  log.finish();
}

void end_log(runtime::RunLog& log, const std::exception& error, bool known_to_be_lost) {
  try {
    const auto* user = dynamic_cast<const UserError*>(&error);
    end_log(log, message_of(error), user == nullptr ? std::string() : to_string(user->diagnostics().front().where));
  } catch (const UserError& lost) {
    if (!known_to_be_lost) print_note("note: {}: the log is not complete\n", message_of(lost));
  }
}

}  // namespace heddle::tools
