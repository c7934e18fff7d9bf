// Does the interpreter bite? Each fault of mutants/mutants.txt is planted in a sample's CUDA text,
// compiled and executed: it must be found, or change a result, or cost memory traffic or
// instructions.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "runtime/cuda/nvrtc.h"
#include "runtime/host/host_device.h"
#include "tests/ptx/agreement.h"
#include "tests/ptx/samples.h"
#include "tests/support/each_nth.h"
#include "tests/support/source_dir.h"
#include "tests/support/text_files.h"

namespace heddle::testing {
namespace {

struct Mutant {
  std::string name, sample, before, after;
  int occurrence = 0;      // of `before` in the text; 0: the only one
  std::string equivalent;  // why nothing can tell it from the original; else empty
};

void PrintTo(const Mutant& m, std::ostream* out) { *out << m.name; }

void add_line(std::string& to, const std::string& line) { to += (to.empty() ? "" : "\n") + line; }

// "name @ sample [#occurrence]", lines "- before", "+ after", "= why it is equivalent"; a blank line behind each.
std::vector<Mutant> read_mutants() {
  std::vector<Mutant> all;
  std::istringstream in(read_text((source_dir() / "tests/ptx/mutants/mutants.txt").string()));
  bool open = false;
  for (std::string line; std::getline(in, line);) {
    const std::string rest = line.size() > 2 ? line.substr(2) : "";
    if (line.empty() || line.starts_with("//")) {
      open = false;
    } else if (!open) {
      std::istringstream head(line);
      std::string at, number;
      Mutant m;
      head >> m.name >> at >> m.sample >> number;
      if (!number.empty()) m.occurrence = std::stoi(number.substr(1));
      all.push_back(m);
      open = true;
    } else if (line[0] == '-') {
      add_line(all.back().before, rest);
    } else if (line[0] == '+') {
      add_line(all.back().after, rest);
    } else {
      add_line(all.back().equivalent, rest);
    }
  }
  return all;
}

// HEDDLE_PTX_ALL: all of them instead of each fourteenth.
std::vector<Mutant> some_mutants() { return each_nth(14, read_mutants(), "HEDDLE_PTX_ALL"); }

// So that each takes more than one tile, or more points than it has threads.
PtxOptions few_blocks() {
  PtxOptions options;
  options.most_blocks = 3;
  return options;
}

// A sample as it is.
struct Original {
  Sample sample;
  Images host, own;  // results on the host and in the interpreter
  std::map<std::string, ptx::Counters> counters;
  uint64_t instructions = 0;
};

std::string difference(const Images& expected, const Images& got, bool bits) {
  for (const auto& [name, tensor] : expected) {
    const ir::Tensor& other = got.at(name);
    const Agreement a = agreement(tensor, other);
    if (!a.fault.empty()) return name + ": " + a.fault;
    if (a.nmse > (bits ? 0 : most_nmse(tensor.type.dtype))) return fmt::format("{}: NMSE {:.2g}", name, a.nmse);
  }
  return {};
}

Original run_original(const std::string& name) {
  Original o{.sample = sample(name), .host = {}, .own = {}, .counters = {}};
  runtime::HostDevice host({.threads = 1, .kernel_cache = {}});
  o.host = o.sample.run(o.sample.program, host);
  PtxDevice device(few_blocks());
  o.own = o.sample.run(o.sample.program, device);
  for (const ptx::Finding& f : device.findings()) ADD_FAILURE() << to_string(f);
  EXPECT_EQ(difference(o.host, o.own, /*bits=*/false), "") << name;
  o.counters = device.counters();
  o.instructions = device.total().instructions;
  return o;
}
const Original& original(const std::string& name) {
  static std::map<std::string, Original> all;
  const auto it = all.find(name);
  return it != all.end() ? it->second : all.emplace(name, run_original(name)).first->second;
}

// More of what costs time, by a tenth.
std::string cost(const Original& o, const PtxDevice& device) {
  for (const auto& [kernel, c] : device.counters()) {
    const ptx::Counters& before = o.counters.at(kernel);
    const std::pair<const char*, std::pair<uint64_t, uint64_t>> all[] = {
        {"sectors",
         {before.global_load_sectors + before.global_store_sectors, c.global_load_sectors + c.global_store_sectors}},
        {"requests", {before.global_loads + before.global_stores, c.global_loads + c.global_stores}},
        {"wavefronts of shared memory",
         {before.shared_load_wavefronts + before.shared_store_wavefronts,
          c.shared_load_wavefronts + c.shared_store_wavefronts}},
        {"barriers", {before.barriers, c.barriers}},
        {"instructions", {before.instructions, c.instructions}}};
    for (const auto& [what, numbers] : all)
      if (numbers.second > numbers.first + numbers.first / 10)
        return fmt::format("{}: {} {} instead of {}", kernel, numbers.second, what, numbers.first);
  }
  return {};
}

// How the mutant shows; "": not at all.
std::string shown(const Original& o, const std::string& source) {
  codegen::Program program = o.sample.program;
  program.source = source;
  PtxOptions options = few_blocks();
  options.launch.most_instructions = 10 * o.instructions;
  PtxDevice device(options);
  Images got;
  try {
    got = o.sample.run(program, device);
  } catch (const ptx::MemoryError& e) {
    return fmt::format("the host: {}", e.what());
  }
  if (!device.findings().empty()) return "finding: " + to_string(device.findings()[0]);
  if (const std::string d = difference(o.host, got, /*bits=*/false); !d.empty()) return "result: " + d;
  if (const std::string d = difference(o.own, got, /*bits=*/true); !d.empty()) return "bits: " + d;
  const std::string c = cost(o, device);
  return c.empty() ? "" : "cost: " + c;
}

size_t place(const std::string& text, const Mutant& m) {
  size_t at = text.find(m.before);
  for (int i = 1; i < m.occurrence && at != std::string::npos; ++i) at = text.find(m.before, at + 1);
  EXPECT_NE(at, std::string::npos) << "the text does not hold it: " << m.before;
  if (m.occurrence == 0 && at != std::string::npos) {
    EXPECT_EQ(text.find(m.before, at + 1), std::string::npos) << "the text holds it more than once";
  }
  return at;
}

class PtxMutants : public ::testing::TestWithParam<Mutant> {};

TEST_P(PtxMutants, IsCaught) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  const Mutant& m = GetParam();
  const Original& o = original(m.sample);
  std::string text = o.sample.program.source;
  const size_t at = place(text, m);
  if (at == std::string::npos) return;
  text.replace(at, m.before.size(), m.after);
  const std::string how = shown(o, text);
  fmt::print("{}: {}\n", m.name, how.empty() ? "nothing" : how);
  if (m.equivalent.empty())
    EXPECT_NE(how, "") << "survives:\n" << m.before << "\n->\n" << m.after;
  else
    EXPECT_EQ(how, "") << "is said to be equivalent: " << m.equivalent;
}

INSTANTIATE_TEST_SUITE_P(All, PtxMutants, ::testing::ValuesIn(some_mutants()), [](const auto& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(PtxMutantsList, NamesAreUnique) {
  std::map<std::string, int> times;
  for (const Mutant& m : read_mutants()) EXPECT_EQ(++times[m.name], 1) << m.name;
  EXPECT_GE(times.size(), 120U);
}

}  // namespace
}  // namespace heddle::testing
