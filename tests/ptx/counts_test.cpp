// What is counted of a kernel from its graph and its form, against what the interpreter counts of its PTX.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "ir/kernel/count/kernel_counts.h"
#include "runtime/cuda/nvrtc.h"
#include "tests/ptx/planned_model.h"
#include "tests/ptx/program_run.h"

namespace heddle::testing {
namespace {

constexpr double kTolerance = 0.25;

// Launches of each kernel in one run of every entry.
std::map<std::string, uint64_t> run_entries(const codegen::Program& program, PtxDevice& device) {
  std::map<std::string, uint64_t> launches;
  ProgramRun run(program, device);
  for (const codegen::Entry& entry : program.entries) {
    run.write(entry, random_batch(entry, 0));
    run.run(entry);
    for (const codegen::Step& step : entry.steps)
      if (const auto* launch = std::get_if<codegen::Launch>(&step.what))
        ++launches[program.kernels[static_cast<size_t>(launch->kernel)].name];
  }
  return launches;
}

class Comparison {
 public:
  Comparison(const codegen::Kernel& kernel, uint64_t launches) : kernel_(kernel), launches_(launches) {}

  void expect(const char* what, uint64_t counted, double predicted) {
    const double c = static_cast<double>(counted) / static_cast<double>(launches_);
    EXPECT_LE(std::abs(predicted - c), kTolerance * c)
        << kernel_.name << " (" << kernel_.form << "): " << what << ": counted " << c << ", predicted " << predicted;
    if (c > 0) line_ += fmt::format(" {} {:.2f}", what, predicted / c);
  }
  // Of a launch, however many there were.
  void expect_waits(uint64_t counted, double predicted) {
    const auto c = static_cast<double>(counted);
    EXPECT_LE(std::abs(predicted - c), kTolerance * c)
        << kernel_.name << ": loads after the last row: counted " << c << ", predicted " << predicted;
  }
  std::string line() const { return fmt::format("{:<48} {:<9}{}\n", kernel_.name, kernel_.form, line_); }

 private:
  const codegen::Kernel& kernel_;
  uint64_t launches_;
  std::string line_;
};

void check_counts(const std::string& name, bool small) {
  const PlannedModel model = plan_model(name, small);
  PtxOptions options;
  options.launch.races = false;
  options.launch.chains = true;
  PtxDevice device(options);
  const std::map<std::string, uint64_t> launches = run_entries(model.program, device);
  for (const codegen::Kernel& kernel : model.program.kernels) {
    const ptx::Counters& c = device.counters().at(kernel.name);
    const ir::KernelCounts p = ir::count_kernel(*model.module.find_kernel(kernel.title), options.most_blocks);
    Comparison compare(kernel, launches.at(kernel.name));
    compare.expect("sectors read", c.global_load_sectors, p.sectors_read);
    compare.expect("sectors written", c.global_store_sectors, p.sectors_written);
    compare.expect("wavefronts", c.shared_load_wavefronts + c.shared_store_wavefronts, p.shared_wavefronts);
    compare.expect("ideal wavefronts", c.shared_ideal_wavefronts, p.ideal_wavefronts);
    compare.expect("instructions", c.instructions, p.instructions.total());
    // Products wait for copies, which no register holds.
    if (kernel.form == "rows") compare.expect_waits(c.longest_fresh_waits, p.dependent_after_last);
    fmt::print("{}", compare.line());
  }
}

class PtxCounts : public ::testing::TestWithParam<std::string> {};

TEST_P(PtxCounts, OfSmallModels) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  check_counts(GetParam(), /*small=*/true);
}

INSTANTIATE_TEST_SUITE_P(All, PtxCounts, ::testing::ValuesIn(model_names()),
                         [](const auto& info) { return info.param; });

// Half a minute: among the slow tests.
class PtxFullCounts : public ::testing::TestWithParam<std::string> {};

TEST_P(PtxFullCounts, OfModels) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  if (std::getenv("HEDDLE_PTX_ALL") == nullptr) GTEST_SKIP() << "HEDDLE_PTX_ALL is not set";
  check_counts(GetParam(), /*small=*/false);
}

INSTANTIATE_TEST_SUITE_P(All, PtxFullCounts, ::testing::ValuesIn(model_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace heddle::testing
