#include "tests/sums/check_sums.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/lower.h"
#include "ir/kernel/target.h"
#include "passes/pipeline.h"
#include "runtime/executable.h"
#include "runtime/host/host_device.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

class Check {
 public:
  Check(SumReport& report, uint64_t number, const SumCase& c) : report_(report), number_(number), case_(c) {}

  void run(runtime::Executable& executable, const codegen::Entry& entry) {
    write(executable, executable.program().states);
    write(executable, entry.inputs);
    executable.run(entry);
    for (size_t i = 0; i < case_.outputs.size(); ++i)
      compare(executable, fmt::format("output {}", i), entry.outputs.at(i), case_.outputs[i]);
    for (const codegen::Buffer& b : executable.program().states)
      if (const auto it = case_.states.find(b.name); it != case_.states.end())
        compare(executable, b.name, b, it->second);
  }

 private:
  void write(runtime::Executable& executable, const std::vector<codegen::Buffer>& buffers) const {
    for (const codegen::Buffer& b : buffers)
      if (const auto it = case_.inputs.find(b.name); it != case_.inputs.end())
        executable.write(b, it->second.bytes.data());
  }

  void compare(runtime::Executable& executable, const std::string& name, const codegen::Buffer& b, const Expected& e) {
    Column got{{ir::parse_dtype(b.dtype).value(), b.dims}, std::vector<std::byte>(static_cast<size_t>(b.bytes))};
    executable.read(b, got.bytes.data());
    if (got.type.dtype != e.dtype || got.type.elements() != std::ssize(e.value))
      return fault(fmt::format("{} is {}, expected {} numbers of {}", name, to_string(got.type), e.value.size(),
                               to_string(e.dtype)));
    report_.results += std::ssize(e.value);
    for (size_t i = 0; i < e.value.size(); ++i) {
      const double x = got.at(static_cast<int64_t>(i)), apart = e.value[i].distance(x), by = e.bound[i];
      if (by > 0 && apart <= by) report_.worst = std::max(report_.worst, apart / by);
      if (!(apart <= by))
        return fault(fmt::format("{}, element {} of {}: expected {}, got {}, {} times the bound {:.3g}", name, i,
                                 to_string(got.type), e.value[i].value(), x, apart / by, by));
    }
  }

  void fault(const std::string& text) {
    report_.faults.push_back({number_, fmt::format("case {}: {}: {}", number_, case_.title, text)});
  }

  SumReport& report_;
  uint64_t number_;
  const SumCase& case_;
};

std::string entry_name(uint64_t number) { return fmt::format("sums_{}", number); }

passes::Options pass_options(const SumOptions& options, bool library) {
  passes::Options all = host_options(library && !options.target.gpu);
  all.target = options.target;
  return all;
}

// The cases' graphs in one program: each program costs a call of a compiler.
void check_together(std::vector<std::pair<uint64_t, SumCase>>& cases, const SumOptions& options, bool library,
                    SumReport& report) {
  ir::Module all;
  for (auto& [number, c] : cases)
    for (ir::Graph& g : c.module.graphs) {
      if (g.name == "sums") g.name = c.entry = entry_name(number);
      all.graphs.push_back(std::move(g));
    }
  const passes::Options pass = pass_options(options, library);
  passes::run_pipeline(all, pass);
  const codegen::Program program = codegen::lower(all, "sums", pass.target);
  const std::unique_ptr<runtime::Device> device = options.device();
  runtime::Executable executable(program, *device);
  for (const auto& [number, c] : cases)
    Check(report, number, c).run(executable, testing::entry_named(program, c.entry));
  cases.clear();
}

int64_t bytes_of(const SumCase& c) {
  int64_t bytes = 0;
  for (const auto& [name, column] : c.inputs) bytes += std::ssize(column.bytes);
  return bytes;
}

}  // namespace

SumOptions on_host(int64_t most) {
  return {.draw = {.most = most}, .target = ir::host(), .device = [] {
            return std::make_unique<runtime::HostDevice>(runtime::HostOptions{.threads = 2, .kernel_cache = {}});
          }};
}

// Models are programs of their own, and so is what takes much memory.
SumReport check_sums(const std::vector<uint64_t>& numbers, const SumOptions& options) {
  constexpr size_t kTogether = 12;
  constexpr int64_t kLarge = int64_t{1} << 25;
  SumReport report;
  std::vector<std::pair<uint64_t, SumCase>> waiting[2];
  for (const uint64_t number : numbers) {
    SumCase c = draw_case(number, options.draw);
    const bool library = c.library, alone = c.entry != "sums" || bytes_of(c) > kLarge;
    std::vector<std::pair<uint64_t, SumCase>> one;
    auto& list = alone ? one : waiting[library ? 1 : 0];
    list.emplace_back(number, std::move(c));
    if (alone || list.size() == kTogether) check_together(list, options, library, report);
  }
  for (const bool library : {false, true})
    if (!waiting[library ? 1 : 0].empty()) check_together(waiting[library ? 1 : 0], options, library, report);
  return report;
}

}  // namespace heddle::testing
