#include "runtime/train/run_log.h"

#include <cerrno>
#include <cstring>

#include "ir/diagnostic.h"

namespace heddle::runtime {

RunLog::RunLog(const std::string& path)
    : file_(path.empty() ? nullptr : std::fopen(path.c_str(), "w"), std::fclose),
      begin_(std::chrono::steady_clock::now()) {
  if (!path.empty() && !file_) throw UserError(ExitCode::failed, path + ": cannot be written: " + std::strerror(errno));
}

void RunLog::event(const std::string& name, JsonObject fields) {
  if (!file_) return;
  JsonObject line;
  line.text("event", name);
  fields.number("at", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count());
  const std::string rest = fields.str();
  const std::string head = line.str();
  const std::string text = head.substr(0, head.size() - 1) + ", " + rest.substr(1) + "\n";
  std::fwrite(text.data(), 1, text.size(), file_.get());
}

void RunLog::step(const StepEvent& e) {
  event("step", JsonObject().integer("step", e.total_step).integer("epoch", e.epoch).number("loss", e.loss));
}

void RunLog::epoch(const EpochEvent& e) {
  JsonObject fields;
  fields.integer("epoch", e.epoch).integer("step", e.total_step).raw("train", metrics_json(e.train));
  if (e.validation) fields.raw("validation", metrics_json(*e.validation));
  event("epoch", fields);
  if (file_) std::fflush(file_.get());
}

std::string metrics_json(const MetricValues& values) {
  JsonObject object;
  for (const MetricValue& v : values) object.number(v.name, v.value);
  return object.str();
}

}  // namespace heddle::runtime
