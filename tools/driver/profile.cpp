#include "tools/driver/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "codegen/predict.h"
#include "ir/check.h"
#include "ir/op_def.h"

namespace heddle::driver {
namespace {

// "models/m.json:12:5" -> "m.json:12": the same from any folder, and one for what stands in one line.
std::string line_of(const std::string& place) {
  const size_t folder = place.rfind('/');
  std::string line = folder == std::string::npos ? place : place.substr(folder + 1);
  return line.substr(0, line.rfind(':'));
}

void add_once(std::vector<std::string>& list, std::string word) {
  if (!word.empty() && std::find(list.begin(), list.end(), word) == list.end()) list.push_back(std::move(word));
}

// A step that is no loop, and the loop around it.
struct Placed {
  const codegen::Step* step;
  int64_t executions;
  std::string loop;
};

void place(const std::vector<codegen::Step>& steps, int64_t executions, const std::string& loop,
           std::vector<Placed>& list) {
  for (const codegen::Step& step : steps) {
    if (const auto* inner = std::get_if<codegen::Loop>(&step.what))
      place(inner->steps, executions * inner->count, inner->title, list);
    else
      list.push_back({&step, executions, loop});
  }
}

double bound_seconds(double bytes, double flops, const Ceilings& c) {
  double rate = std::numeric_limits<double>::infinity();
  for (const runtime::Bandwidth& b : c.bandwidths) {
    rate = b.bytes_per_second;
    if (bytes <= static_cast<double>(b.up_to_bytes)) break;
  }
  return std::max(bytes / rate, c.flops > 0 ? flops / c.flops : 0);
}

// By the names that tools/driver/ncu.h gives what ncu counts.
std::map<std::string, double> counts_of(const codegen::KernelCounts& c) {
  return {{"sectors_read", c.sectors_read},
          {"sectors_written", c.sectors_written},
          {"shared_wavefronts", c.shared_wavefronts},
          {"instructions", c.instructions}};
}

// The rounds in the middle third, from the shortest to the longest. Where other programs run, each round is disturbed in
// some of its kernels: medians by kernel would leave that out, and those of whole steps would not.
std::vector<size_t> middle(const std::vector<double>& seconds) {
  std::vector<size_t> order(seconds.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return seconds[a] < seconds[b]; });
  const auto third = std::ssize(order) / 3;
  return {order.begin() + third, order.end() - third};
}

double mean(const std::vector<double>& values, const std::vector<size_t>& of) {
  double sum = 0;
  for (const size_t i : of) sum += values[i];
  return of.empty() ? 0 : sum / static_cast<double>(of.size());
}

std::vector<double> totals(const std::vector<std::vector<runtime::StepTime>>& rounds) {
  std::vector<double> sums;
  sums.reserve(rounds.size());
  for (const std::vector<runtime::StepTime>& round : rounds)
    sums.push_back(std::accumulate(round.begin(), round.end(), 0.0,
                                   [](double sum, const runtime::StepTime& t) { return sum + t.seconds; }));
  return sums;
}

class Joiner {
 public:
  Joiner(const Compiled& compiled, const ir::Target& target, const Ceilings& ceilings)
      : compiled_(compiled), target_(target), ceilings_(ceilings) {}

  // Equal layers share a kernel, whose operators then have the lines of only one of the layers.
  std::vector<ProfiledKernel> kernels(const codegen::Entry& entry) const {
    std::vector<Placed> all;
    place(entry.steps, 1, {}, all);
    std::map<std::string, int> callers;
    for (const Placed& p : all) ++callers[title_of(*p.step)];
    std::vector<ProfiledKernel> kernels;
    kernels.reserve(all.size());
    for (const Placed& p : all) kernels.push_back(kernel(p, callers[title_of(*p.step)] == 1));
    return kernels;
  }

 private:
  std::string title_of(const codegen::Step& step) const {
    if (const auto* launch = std::get_if<codegen::Launch>(&step.what)) return kernel_of(*launch).title;
    if (const auto* call = std::get_if<codegen::Library>(&step.what)) return call->title;
    return "copy";
  }
  const codegen::Kernel& kernel_of(const codegen::Launch& launch) const {
    return compiled_.program.kernels[static_cast<size_t>(launch.kernel)];
  }

  ProfiledKernel kernel(const Placed& p, bool only_caller) const {
    ProfiledKernel k;
    k.title = title_of(*p.step);
    k.loop = p.loop;
    k.executions = p.executions;
    if (!p.step->origin.empty()) k.lines.push_back(line_of(p.step->origin));
    double least = 0;
    if (const auto* launch = std::get_if<codegen::Launch>(&p.step->what)) {
      const codegen::Kernel& generated = kernel_of(*launch);
      k.made_by = "generated", k.symbol = generated.name;
      if (generated.counts) k.counts = counts_of(*generated.counts);
      k.bytes = generated.bytes_read + generated.bytes_written, k.flops = generated.flops;
      least = generated.least_seconds;
    } else if (const auto* call = std::get_if<codegen::Library>(&p.step->what)) {
      k.made_by = call->impl;
      k.bytes = call->bytes_read + call->bytes_written, k.flops = call->flops;
      least = call->least_seconds;
    } else {
      const auto& copy = std::get<codegen::Copy>(p.step->what);
      k.made_by = "copy", k.ops = {copy.reason};
      k.bytes = 2 * copy.bytes;  // read and written
      least = copy.predicted_seconds;
    }
    describe(k, only_caller);
    const auto times = static_cast<double>(p.executions);
    k.predicted_seconds = times * codegen::predicted_seconds(compiled_.program, *p.step);
    k.bound_seconds = times * (target_.gpu ? least : bound_seconds(static_cast<double>(k.bytes), k.flops, ceilings_));
    k.bytes *= p.executions, k.flops *= times;
    return k;
  }

  void describe(ProfiledKernel& k, bool only_caller) const {
    const ir::Graph* graph = compiled_.module.find_kernel(k.title);
    if (graph == nullptr) return;
    for (const ir::NodeId id : graph->order) {
      const ir::Node& node = (*graph)[id];
      k.ops.push_back(node.op->name);
      if (only_caller && node.loc.valid()) add_once(k.lines, line_of(to_string(node.loc)));
    }
    std::vector<std::string> results;
    for (const ir::ValueId v : graph->outputs) results.push_back(to_string((*graph)[v].type));
    k.results = fmt::format("{}", fmt::join(results, ", "));
  }

  const Compiled& compiled_;
  const ir::Target& target_;
  const Ceilings& ceilings_;
};

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double Profile::kernel_seconds() const {
  double sum = 0;
  for (const ProfiledKernel& k : kernels) sum += k.seconds;
  return sum;
}

Ceilings ceilings_of(const ir::Target& target) {
  return {.source = "data sheet of " + target.name,
          .flops = target.fma_flops > 0 ? target.fma_flops : target.flops,
          .bandwidths = {{target.cache_bytes, target.cache_bandwidth},
                         {std::numeric_limits<int64_t>::max(), target.bandwidth}}};
}

Profile join(const Compiled& compiled, const codegen::Entry& entry, const ir::Target& target,
             const MeasuredRounds& measured, const Ceilings& ceilings) {
  Profile p;
  p.model = compiled.program.name, p.entry = entry.name;
  p.rounds = std::ssize(measured.kernels), p.steps_per_round = measured.steps;
  p.step_seconds = mean(measured.step_seconds, middle(measured.step_seconds));
  p.ceilings = ceilings;
  p.kernels = Joiner(compiled, target, ceilings).kernels(entry);
  const std::vector<size_t> rounds = middle(totals(measured.kernels));
  for (size_t i = 0; i < p.kernels.size(); ++i) {
    std::vector<double> seconds;
    for (const std::vector<runtime::StepTime>& round : measured.kernels) {
      HEDDLE_CHECK(round.size() == p.kernels.size(), "a device times each step of the entry");
      seconds.push_back(round[i].seconds);
    }
    ProfiledKernel& k = p.kernels[i];
    if (seconds.empty()) continue;
    k.seconds = mean(seconds, rounds);
    k.least_seconds = *std::min_element(seconds.begin(), seconds.end());
    k.most_seconds = *std::max_element(seconds.begin(), seconds.end());
  }
  return p;
}

}  // namespace heddle::driver
