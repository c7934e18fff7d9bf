#include "runtime/train/progress.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::runtime {
namespace {

std::string clock_text(double seconds) {
  const int64_t s = std::llround(seconds);
  return s >= 3600 ? fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
                   : fmt::format("{}:{:02}", s / 60, s % 60);
}

std::string epoch_text(int64_t epoch, int64_t epochs) {
  return epochs > 0 ? fmt::format("epoch {}/{}", epoch, epochs) : fmt::format("epoch {}", epoch);
}

}  // namespace

Progress::Progress(std::FILE* out) : Progress(out, ::isatty(::fileno(out)) == 1) {}
Progress::Progress(std::FILE* out, bool terminal) : out_(out), terminal_(terminal) {}

void Progress::step(const StepEvent& event) {
  if (!terminal_ || event.metrics == nullptr) return;
  const Clock::time_point now = Clock::now();
  if (window_step_ < 0) window_ = now, window_step_ = event.total_step;
  if (now - last_ < std::chrono::milliseconds(100) && event.step != event.steps) return;
  last_ = now;
  const double elapsed = std::chrono::duration<double>(now - window_).count();
  if (event.total_step > window_step_ && (elapsed > 0.5 || rate_ == 0)) {
    const double rate = static_cast<double>(event.total_step - window_step_) / std::max(elapsed, 1e-6);
    rate_ = rate_ == 0 ? rate : 0.5 * rate_ + 0.5 * rate;
    window_ = now, window_step_ = event.total_step;
  }
  std::string line = fmt::format("{}  {}/{}", epoch_text(event.epoch, event.epochs), event.step, event.steps);
  if (rate_ > 0) line += fmt::format("  {:.4g} steps/s", rate_);
  if (rate_ > 0 && event.all_steps < std::numeric_limits<int64_t>::max())
    line += fmt::format("  eta {}", clock_text(static_cast<double>(event.all_steps - event.total_step) / rate_));
  line +=
      fmt::format("  {}  {} MB", metrics_text(event.metrics->values(), "", "  "), peak_resident_bytes() / 1'000'000);
  show(line);
}

void Progress::epoch(const EpochEvent& event) {
  std::string line = fmt::format("{}: {:.3g} s, {}", epoch_text(event.epoch, event.epochs), event.seconds,
                                 metrics_text(event.train, "", ", "));
  if (event.validation) line += ", " + metrics_text(*event.validation, "validation ", ", ");
  if (terminal_) show(line);
  if (!terminal_) std::fputs(line.c_str(), out_);
  std::fputc('\n', out_);
  std::fflush(out_);
  line_open_ = false;
  window_step_ = -1;  // validation took its time
}

void Progress::finish() {
  if (line_open_) std::fputc('\n', out_);
  line_open_ = false;
}

void Progress::show(const std::string& line) {
  std::fputs(fmt::format("\r{}\x1b[K", line).c_str(), out_);
  std::fflush(out_);
  line_open_ = true;
}

std::string metrics_text(const MetricValues& values, const std::string& prefix, const std::string& separator) {
  std::string text;
  for (const MetricValue& v : values)
    if (v.dims.empty()) text += fmt::format("{}{}{} {:.4g}", text.empty() ? "" : separator, prefix, v.name, v.value);
  return text;
}

namespace {

// Columns as wide as their widest number.
std::string table(const MetricValue& v) {
  const auto columns = static_cast<size_t>(v.dims[1]);
  std::vector<std::string> numbers;
  size_t width = std::to_string(columns - 1).size();
  for (const double x : v.values) {
    numbers.push_back(fmt::format("{:.12g}", x));
    width = std::max(width, numbers.back().size());
  }
  const size_t head = fmt::format("{}[{}]", v.name, v.dims[0] - 1).size();
  std::string text = fmt::format("{:{}}", "", head);
  for (size_t j = 0; j < columns; ++j) text += fmt::format("  {:>{}}", j, width);
  size_t next = 0;
  for (int64_t row = 0; row < v.dims[0]; ++row) {
    text += fmt::format("\n{:>{}}", fmt::format("{}[{}]", v.name, row), head);
    for (size_t j = 0; j < columns; ++j) text += fmt::format("  {:>{}}", numbers.at(next++), width);
  }
  return text + "\n";
}

}  // namespace

std::string metric_tables(const MetricValues& values) {
  std::string text;
  for (const MetricValue& v : values) {
    if (v.dims.size() == 2) text += table(v);
    for (size_t i = 0; v.dims.size() == 1 && i < v.values.size(); ++i)
      text += fmt::format("{}[{}] {:.4g}\n", v.name, i, v.values[i]);
  }
  return text;
}

int64_t peak_resident_bytes() {
  struct rusage usage {};
  return ::getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss * 1024 : 0;
}

}  // namespace heddle::runtime
