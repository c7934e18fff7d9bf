// heddle bench: the time of an entry's step on random inputs; no data set is needed.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "runtime/json_text.h"
#include "runtime/process/process_memory.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/device_arguments.h"
#include "tools/command/output.h"
#include "tools/command/random_steps.h"
#include "tools/driver/profile.h"

namespace heddle::tools {
namespace {

struct BenchArguments {
  StepsRequest steps;
  double seconds = 1;
  int blocks = 9;
  bool json = false;
};

struct Measured {
  double cold_s = 0;
  int64_t steps_per_block = 0;
  std::vector<double> block_ms;  // per step
};

Measured measure(RandomSteps& bench, const BenchArguments& a) {
  Measured m;
  bench.block(1);
  m.cold_s = process_seconds();
  // Warm-up: at least three steps and a fifth of the time of a measurement; it also sizes the blocks.
  double best = bench.block(1), spent = 0;
  for (int i = 0; i < 2 || spent < 0.2 * a.seconds; ++i) {
    const double s = bench.block(1);
    best = std::min(best, s), spent += s;
  }
  m.steps_per_block = std::max<int64_t>(1, static_cast<int64_t>(a.seconds / a.blocks / best));
  for (int b = 0; b < a.blocks; ++b)
    m.block_ms.push_back(1e3 * bench.block(m.steps_per_block) / static_cast<double>(m.steps_per_block));
  return m;
}

std::string host_does(const BenchArguments& a) {
  return a.steps.pipelined ? "two submissions under way" : "waits after each submission";
}

void report(const BenchArguments& a, const codegen::Program& program, const Measured& m, int64_t batch,
            const std::string& device) {
  const double least = *std::min_element(m.block_ms.begin(), m.block_ms.end()), middle = driver::median(m.block_ms);
  print_note("{} {} on {}: batch {}, {} blocks of {} steps, min {:.4g} ms, median {:.4g} ms, {:.4g} samples/s, {}\n",
             program.name, a.steps.entry, device, batch, a.blocks, m.steps_per_block, least, middle,
             1e3 * static_cast<double>(batch) / middle, host_does(a));
  if (!a.json) return;
  std::vector<std::string> blocks;
  for (double b : m.block_ms) blocks.push_back(runtime::json_number(b));
  runtime::JsonObject out;
  out.text("model", program.name).text("entry", a.steps.entry).text("device", device).integer("batch", batch);
  out.number("step_ms_min", least).number("step_ms_median", middle).raw("blocks", runtime::json_list(blocks));
  out.integer("repeat", a.steps.repeat)
      .text("host", host_does(a))
      .integer("steps_per_block", m.steps_per_block)
      .number("samples_per_second", 1e3 * static_cast<double>(batch) / middle);
  out.number("cold_s", m.cold_s)
      .integer("arena_bytes", program.arena_bytes)
      .integer("peak_bytes", runtime::peak_resident_bytes());
  print_result("{}\n", out.str());
}

void bench(const BenchArguments& a) {
  RandomSteps steps(a.steps);
  const Measured m = measure(steps, a);
  report(a, steps.program(), m, steps.batch(), steps.device().description());
}

}  // namespace

void add_bench(CommandLine& line) {
  Command command = line.add_subcommand("bench", "time an entry's step on random inputs");
  const auto a = std::make_shared<BenchArguments>();
  add_steps_arguments(command, a->steps);
  command.add_option("--seconds", a->seconds, "seconds to measure, without the warm-up (default 1)")
      .between(0.01, 3600.0);
  command.add_option("--blocks", a->blocks, "timed blocks (default 9)").between(7, 1000);
  command.add_option("--repeat", a->steps.repeat, "steps of one submission to the device (default 64)")
      .between(1, 4096);
  command.add_flag("--pipelined", a->steps.pipelined,
                   "keep two submissions under way, as a training does (default: wait after each)");
  command.add_flag("--json", a->json, "print one JSON object on standard output");
  command.run([a] { bench(*a); });
}

}  // namespace heddle::tools
