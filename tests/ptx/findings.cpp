#include <fmt/format.h>

#include "tests/ptx/machine.h"

namespace heddle::ptx {

const char* to_string(Check check) {
  switch (check) {
    case Check::out_of_bounds: return "out of bounds";
    case Check::not_declared: return "memory that the launch does not say it touches";
    case Check::misaligned: return "misaligned";
    case Check::shared_race: return "race in shared memory";
    case Check::global_race: return "race in global memory";
    case Check::unwritten_shared: return "shared memory that was not written";
    case Check::unwritten_global: return "global memory that was not written";
    case Check::read_only_written: return "ld.global.nc of data that the launch writes";
    case Check::divergent_barrier: return "barrier in divergent control flow";
    case Check::exited_at_barrier: return "barrier after threads have ended";
    case Check::member_mask: return "wrong member mask";
    case Check::deadlock: return "deadlock";
    case Check::trap: return "trap";
    case Check::too_long: return "too many instructions";
    default: return "launch refused";
  }
}

std::string to_string(const Finding& f) {
  std::string text = fmt::format("{}: {}: {}", f.kernel, to_string(f.check), f.detail);
  if (f.line > 0) text += fmt::format(" (line {}: {})", f.line, f.text);
  if (f.times > 1) text += fmt::format(", {} times", f.times);
  return text;
}

void note(Block& block, Check check, const Instruction& i, const std::string& detail) {
  Run& run = block.run;
  std::vector<Finding>& all = run.outcome.findings;
  const auto [it, fresh] = run.known_findings.try_emplace({check, &i}, all.size());
  if (!fresh) {
    ++all[it->second].times;
    return;
  }
  all.push_back({check, run.what.kernel, i.line, i.text, detail, 1});
  if (all.size() >= run.options.most_findings) throw Stop();
}

void stop(Block& block, Check check, const Instruction& i, const std::string& detail) {
  note(block, check, i, detail);
  throw Stop();
}

Counters& Counters::operator+=(const Counters& o) {
  instructions += o.instructions;
  thread_instructions += o.thread_instructions;
  divergent_branches += o.divergent_branches;
  barriers += o.barriers;
  shuffles += o.shuffles;
  global_loads += o.global_loads;
  global_load_sectors += o.global_load_sectors;
  global_load_bytes += o.global_load_bytes;
  global_stores += o.global_stores;
  global_store_sectors += o.global_store_sectors;
  global_store_bytes += o.global_store_bytes;
  global_wavefronts += o.global_wavefronts;
  global_atomics += o.global_atomics;
  shared_loads += o.shared_loads;
  shared_load_wavefronts += o.shared_load_wavefronts;
  shared_stores += o.shared_stores;
  shared_store_wavefronts += o.shared_store_wavefronts;
  shared_ideal_wavefronts += o.shared_ideal_wavefronts;
  longest_chain = std::max(longest_chain, o.longest_chain);
  longest_chain_after_arrival = std::max(longest_chain_after_arrival, o.longest_chain_after_arrival);
  longest_waits = std::max(longest_waits, o.longest_waits);
  longest_fresh_waits = std::max(longest_fresh_waits, o.longest_fresh_waits);
  return *this;
}

}  // namespace heddle::ptx
