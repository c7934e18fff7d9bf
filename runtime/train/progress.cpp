#include "runtime/train/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "runtime/process/process_memory.h"
#include "runtime/process/terminal.h"

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

// A line that stays is printed in full: it wraps where the terminal is too narrow.
std::string in_lines(const std::string& text, size_t columns) {
  std::string out, line;
  for (size_t begin = 0; begin < text.size();) {
    const size_t space = text.find(' ', begin);
    const size_t end = space == std::string::npos ? text.size() : space + 1;
    const std::string part = text.substr(begin, end - begin);
    const size_t shown = part.ends_with(' ') ? part.size() - 1 : part.size();
    if (!line.empty() && line.size() + shown > columns) {
      if (line.ends_with(' ')) line.pop_back();
      out += fmt::format("{}\x1b[K\n", line);
      line = "  ";
    }
    line += part;
    begin = end;
  }
  return out + line;
}

}  // namespace

std::string progress_line(const std::vector<ProgressPart>& parts, size_t columns, bool colours) {
  // The last column stays free: some terminals begin a new line there.
  const size_t room = columns - std::min<size_t>(columns, 1);
  const auto full = [](const ProgressPart& p) { return p.label.empty() ? p.value : p.label + " " + p.value; };
  const auto text = [&](const ProgressPart& p, bool narrow) {
    return narrow && !p.short_value.empty() ? p.short_value : full(p);
  };
  const auto width = [&](int rank, bool narrow) {
    size_t sum = 0;
    for (const ProgressPart& p : parts)
      if (p.rank <= rank) sum += (sum > 0 ? (narrow ? 1 : 2) : 0) + text(p, narrow).size();
    return sum;
  };
  int most = 0;
  for (const ProgressPart& p : parts) most = std::max(most, p.rank);
  int rank = most;
  bool narrow = false;
  while (rank > 0 && width(rank, narrow) > room) {
    if (narrow) --rank;
    narrow = true;
  }
  std::string line;
  size_t taken = 0;
  for (const ProgressPart& p : parts) {
    if (p.rank > rank) continue;
    const std::string shown = cut(text(p, narrow), room - taken - (line.empty() ? 0 : 1));
    const bool faint = colours && shown == full(p) && !p.label.empty();
    const std::string gap = line.empty() ? "" : narrow ? " " : "  ";
    taken += gap.size() + shown.size();
    line += gap + (faint ? fmt::format("\x1b[2m{}\x1b[22m {}", p.label, p.value) : shown);
  }
  return line;
}

Progress::Progress(std::FILE* out, Rate rate) : Progress(out, renews_lines(out), takes_colours(out), std::move(rate)) {}
Progress::Progress(std::FILE* out, bool terminal, bool colours, Rate rate)
    : out_(out), terminal_(terminal), colours_(colours), learning_rate_(std::move(rate)) {}

void Progress::measure_speed(const StepEvent& event, Clock::time_point now) {
  const double elapsed = std::chrono::duration<double>(now - window_).count();
  if (event.total_step <= window_step_ || (elapsed <= 0.5 && rate_ != 0)) return;
  const double rate = static_cast<double>(event.total_step - window_step_) / std::max(elapsed, 1e-6);
  rate_ = rate_ == 0 ? rate : 0.5 * rate_ + 0.5 * rate;
  window_ = now, window_step_ = event.total_step;
}

// Ranks: what is left out first has the highest.
std::vector<ProgressPart> Progress::parts(const StepEvent& e) const {
  const std::string epoch = e.epochs > 0 ? fmt::format("{}/{}", e.epoch, e.epochs) : fmt::format("{}", e.epoch);
  std::vector<ProgressPart> parts{{"epoch", epoch, epoch, 2}, {"", fmt::format("{}/{}", e.step, e.steps), {}, 3}};
  if (rate_ > 0) parts.push_back({"", fmt::format("{:.4g} steps/s", rate_), {}, 6});
  if (rate_ > 0 && e.all_steps < std::numeric_limits<int64_t>::max()) {
    const std::string left = clock_text(static_cast<double>(e.all_steps - e.total_step) / rate_);
    parts.push_back({"eta", left, {}, 4});
  }
  int rank = 1;  // the loss stays longest, metrics go together
  for (const MetricValue& v : e.metrics->values()) {
    if (v.dims.empty()) parts.push_back({v.name, fmt::format("{:.4g}", v.value), {}, rank});
    rank = 5;
  }
  if (learning_rate_)
    parts.push_back(
        {"lr", fmt::format("{:.3g}", learning_rate_(e.optimizer_step - (e.skipped ? 1 : 0), e.all_steps)), {}, 7});
  if (e.gradient_norm) parts.push_back({"gradient_norm", fmt::format("{:.3g}", *e.gradient_norm), {}, 7});
  if (e.loss_scale) parts.push_back({"loss_scale", fmt::format("{:.3g}", *e.loss_scale), {}, 7});
  parts.push_back({"", fmt::format("{} MB", peak_resident_bytes() / 1'000'000), {}, 8});
  return parts;
}

void Progress::step(const StepEvent& event) {
  if (!terminal_ || event.metrics == nullptr) return;
  const Clock::time_point now = Clock::now();
  if (window_step_ < 0) window_ = now, window_step_ = event.total_step;
  if (now - last_ < std::chrono::milliseconds(100) && event.step != event.steps) return;
  last_ = now;
  measure_speed(event, now);
  show(progress_line(parts(event), static_cast<size_t>(terminal_columns(out_)), colours_));
}

void Progress::epoch(const EpochEvent& event) {
  std::string line = fmt::format("{}: {:.3g} s, {}", epoch_text(event.epoch, event.epochs), event.seconds,
                                 event.skipped ? "every step was skipped" : metrics_text(event.train, "", ", "));
  if (event.validation) line += ", " + metrics_text(*event.validation, "validation ", ", ");
  if (terminal_) show(in_lines(line, static_cast<size_t>(terminal_columns(out_))));
  if (!terminal_) std::fputs(line.c_str(), out_);
  std::fputc('\n', out_);
  std::fflush(out_);
  line_is_open() = false;
  window_step_ = -1;  // validation took its time
}

void Progress::finish() {
  if (line_is_open().exchange(false)) std::fputc('\n', out_);
}

void Progress::show(const std::string& line) {
  std::fputs(fmt::format("\r{}\x1b[K", line).c_str(), out_);
  std::fflush(out_);
  line_is_open() = true;
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

}  // namespace heddle::runtime
