#include "tools/command/profile_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "runtime/json_text.h"
#include "runtime/process/terminal.h"
#include "tools/driver/profile_difference.h"

namespace heddle::tools {
namespace {

using driver::ProfiledKernel;

// "1.25 M": four digits at most.
std::string short_number(double n) {
  constexpr const char* kUnits[] = {"", " k", " M", " G", " T"};
  size_t unit = 0;
  for (; n >= 9999.5 && unit + 1 < std::size(kUnits); ++unit) n /= 1e3;
  return fmt::format("{:.{}f}{}", n, unit == 0 ? 0 : 1, kUnits[unit]);
}

// "mul x3 add exp ...": each operator once, in the order in which they first come.
std::string short_ops(const std::vector<std::string>& ops) {
  constexpr size_t kMost = 6;
  std::vector<std::string> order;
  std::map<std::string, int> count;
  for (const std::string& op : ops)
    if (++count[op] == 1) order.push_back(op);
  std::vector<std::string> words;
  for (size_t i = 0; i < std::min(order.size(), kMost); ++i)
    words.push_back(count[order[i]] == 1 ? order[i] : fmt::format("{} x{}", order[i], count[order[i]]));
  if (order.size() > kMost) words.emplace_back("...");
  return fmt::format("{}", fmt::join(words, " "));
}

// "mnist_mlp.json:26,29": the file once.
std::string short_lines(const std::vector<std::string>& lines) {
  constexpr size_t kMost = 4;
  std::string text, file;
  for (size_t i = 0; i < std::min(lines.size(), kMost); ++i) {
    const size_t colon = std::min(lines[i].rfind(':'), lines[i].size());
    const std::string name = lines[i].substr(0, colon);
    text += (i == 0         ? name
             : name == file ? ","
                            : " " + name) +
            lines[i].substr(i > 0 && name == file ? std::min(colon + 1, lines[i].size()) : colon);
    file = name;
  }
  return text + (lines.size() > kMost ? ",..." : "");
}

// What a row says of a kernel, behind its figures. Profiles may come from anywhere: nothing in them moves a cursor.
std::string what(const ProfiledKernel& k) {
  std::string text = k.title;
  if (k.executions != 1) text += fmt::format(" x{}", k.executions);
  text += fmt::format("  [{}]", k.made_by);
  if (!k.lines.empty()) text += "  " + short_lines(k.lines);
  if (!k.ops.empty()) text += "  " + short_ops(k.ops);
  return runtime::visible(text);
}

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

std::string bandwidths_text(const driver::Ceilings& c) {
  std::vector<std::string> parts;
  for (const runtime::Bandwidth& b : c.bandwidths) {
    const bool any = b.up_to_bytes == std::numeric_limits<int64_t>::max();
    parts.push_back(
        fmt::format("{:.0f} GB/s {}", b.bytes_per_second / 1e9,
                    any ? "beyond" : fmt::format("up to {:.3g} MB", static_cast<double>(b.up_to_bytes) / 1e6)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string counters_text(const std::vector<const ProfiledKernel*>& kernels) {
  std::string text;
  for (const ProfiledKernel* k : kernels)
    for (const auto& [name, counted] : k->counters) {
      const auto ours = k->counts.find(name);
      if (name == "seconds")
        text += fmt::format("{:<40} {:<18} {:>9.2f} us, profiled {:.2f} us\n", runtime::visible(k->symbol), name,
                            counted * 1e6, k->seconds * 1e6 / static_cast<double>(std::max<int64_t>(k->executions, 1)));
      else
        text += fmt::format("{:<40} {:<18} {:>9}{}\n", runtime::visible(k->symbol), runtime::visible(name),
                            short_number(counted),
                            ours == k->counts.end() ? "" : ", counted here " + short_number(ours->second));
    }
  return text.empty() ? "" : "\nncu's counters of one execution:\n" + text;
}

std::string head(const driver::Profile& p) {
  return runtime::visible(fmt::format("{} {} on {}: batch {}", p.model, p.entry, p.device, p.batch));
}

}  // namespace

std::string profile_text(const driver::Profile& p) {
  std::vector<const ProfiledKernel*> kernels;
  for (const ProfiledKernel& k : p.kernels) kernels.push_back(&k);
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const auto* a, const auto* b) { return a->seconds > b->seconds; });
  std::string text = fmt::format("{}, the middle of {} rounds of {} {}\n", head(p), p.rounds, p.steps_per_round,
                                 p.steps_per_round == 1 ? "step" : "steps");
  if (!p.note.empty()) text += runtime::visible(p.note) + "\n";
  text += fmt::format("\n{:>10} {:>7} {:>6} {:>9} {:>9} {:>10}  {}\n", "us", "step", "bound", "bytes", "flops",
                      "predicted", "kernel");
  for (const ProfiledKernel* k : kernels)
    text += fmt::format("{:>10.1f} {:>5.1f} % {:>4.0f} % {:>9} {:>9} {:>7.1f} us  {}\n", k->seconds * 1e6,
                        percent(k->seconds, p.step_seconds), percent(k->bound_seconds, k->seconds),
                        short_number(static_cast<double>(k->bytes)), short_number(k->flops), k->predicted_seconds * 1e6,
                        what(*k));
  double bytes = 0, flops = 0, predicted = 0, bound = 0;
  for (const ProfiledKernel& k : p.kernels)
    bytes += static_cast<double>(k.bytes), flops += k.flops, predicted += k.predicted_seconds, bound += k.bound_seconds;
  text += fmt::format("{:>10.1f} {:>5.1f} % {:>6} {:>9} {:>9} {:>10}  outside kernels\n", p.outside_seconds() * 1e6,
                      percent(p.outside_seconds(), p.step_seconds), "", "", "", "");
  text += fmt::format("{:>10.1f} {:>5.1f} % {:>4.0f} % {:>9} {:>9} {:>7.1f} us  the step\n", p.step_seconds * 1e6,
                      100.0, percent(bound, p.step_seconds), short_number(bytes), short_number(flops), predicted * 1e6);
  std::vector<const ProfiledKernel*> counted;
  for (const ProfiledKernel* k : kernels)
    if (!k->counters.empty() &&
        std::none_of(counted.begin(), counted.end(), [&](const auto* c) { return c->symbol == k->symbol; }))
      counted.push_back(k);
  return text + counters_text(counted) +
         fmt::format("\nbound: the share of its time that a kernel needs at least: {}, {:.0f} Gflop/s, {}\n",
                     runtime::visible(p.ceilings.source), p.ceilings.flops / 1e9, bandwidths_text(p.ceilings));
}

std::string difference_text(const driver::Profile& before, const driver::Profile& after) {
  std::string text = fmt::format("before: {}\nafter:  {}\n\n", head(before), head(after));
  text += fmt::format("{:>10} {:>10} {:>10} {:>8}  {}\n", "change us", "before", "after", "ratio", "kernel");
  const auto row = [](double from, double to, const std::string& name) {
    const std::string ratio = from > 0 && to > 0 ? fmt::format("{:.2f}", to / from) : from > 0 ? "gone" : "new";
    return fmt::format("{:>+10.1f} {:>10.1f} {:>10.1f} {:>8}  {}\n", (to - from) * 1e6, from * 1e6, to * 1e6, ratio,
                       name);
  };
  for (const driver::KernelChange& c : driver::difference(before, after))
    text += row(c.before ? c.before->seconds : 0, c.after ? c.after->seconds : 0, what(c.kernel()));
  const double outside_before = before.outside_seconds(), outside_after = after.outside_seconds();
  text += fmt::format("{:>+10.1f} {:>10.1f} {:>10.1f} {:>8}  outside kernels\n", (outside_after - outside_before) * 1e6,
                      outside_before * 1e6, outside_after * 1e6, "");
  return text + row(before.step_seconds, after.step_seconds, "the step");
}

std::string difference_json(const driver::Profile& before, const driver::Profile& after) {
  std::vector<std::string> kernels;
  for (const driver::KernelChange& c : driver::difference(before, after)) {
    runtime::JsonObject out;
    out.number("change_seconds", c.seconds());
    c.before ? out.number("before_seconds", c.before->seconds).text("before", c.before->title)
             : out.raw("before_seconds", "null").raw("before", "null");
    c.after ? out.number("after_seconds", c.after->seconds).text("after", c.after->title)
            : out.raw("after_seconds", "null").raw("after", "null");
    kernels.push_back(
        out.raw("ops", runtime::json_texts(c.kernel().ops)).raw("lines", runtime::json_texts(c.kernel().lines)).str());
  }
  runtime::JsonObject out;
  out.text("format", "heddle-profile-difference/1").text("before", head(before)).text("after", head(after));
  out.number("before_step_seconds", before.step_seconds).number("after_step_seconds", after.step_seconds);
  return out.raw("kernels", runtime::json_list(kernels)).str();
}

}  // namespace heddle::tools
