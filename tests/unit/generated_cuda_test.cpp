// The machine code of generated kernels: every kernel of every model compiles without spilling a register, and loads
// 16 bytes at once where its sizes allow it. For one architecture always, for five where HEDDLE_ALL_ARCHITECTURES is
// set: among the slow tests.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "codegen/emit.h"
#include "codegen/lower.h"
#include "frontend/build_graph.h"
#include "frontend/read/read_model.h"
#include "ir/kernel/plan_kernel.h"
#include "ir/op_def.h"
#include "ir/text/parse.h"
#include "ir/visit.h"
#include "passes/pipeline.h"
#include "passes/select/onednn.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/files/temporary.h"
#include "tests/support/source_dir.h"

namespace heddle {
namespace {

using namespace ir;

constexpr const char* kArchitectures[] = {"sm_80", "sm_89", "sm_90a", "sm_100", "sm_120"};

std::vector<std::string> models() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(testing::source_dir() / "models"))
    if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Its elements are read where they are computed with: point by point, in the order of memory.
bool read_in_place(const Graph& k, const KernelPlan& plan, ValueId v) {
  if (k[v].type.elements() != plan.rows * plan.columns) return false;
  for (const NodeId id : k[v].uses) {
    const Node& n = k[id];
    const ReductionPlan reduction = plan.of(n.results[0]).reduction;
    if (reduction == ReductionPlan::row || reduction == ReductionPlan::column) return true;
    if (!std::holds_alternative<Elementwise>(n.op->kind)) continue;
    if (k.is_output(n.results[0]) || read_in_place(k, plan, n.results[0])) return true;
  }
  return false;
}

// Fewer points are spread over the multiprocessors by narrower packets: blocks have at least 64 threads.
int64_t spread_points() { return 4 * 64 * h200().sm_count; }

// With packets of four, the last of a fixed number of blocks would have no row: more threads share a row instead.
bool few_rows(const schedules::Rows& schedule, const KernelPlan& plan) {
  if (schedule.blocks == 0) return false;
  const int64_t team = std::max<int64_t>(schedule.team * schedule.vector_width / 4, 1);
  return (schedule.blocks - 1) * (schedule.threads / team) >= plan.rows;
}

// An operand of 4-byte elements, many of them, read in place, in rows of whole packets of four or in one row that may end in a part
// of one; and no other array of the kernel has wider elements, of which fewer would fill a packet.
bool allows_wide_loads(const Graph& k) {
  const bool point_by_point = visit_schedule(
      *k.schedule, [](const OneOf<schedules::Pointwise, schedules::Rows> auto&) { return true; },
      [](const OneOf<schedules::Tile, schedules::Primitive, schedules::Product, schedules::LibraryCall> auto&) {
        return false;
      });
  if (!point_by_point) return false;
  const KernelPlan plan = plan_kernel(k);
  if (plan.rows == 1 ? plan.columns < 4 : plan.columns % 4 != 0) return false;
  const bool spread = std::holds_alternative<schedules::Pointwise>(k.schedule->how);
  if (spread && plan.rows * plan.columns < spread_points()) return false;
  if (const auto* rows = std::get_if<schedules::Rows>(&k.schedule->how); rows && few_rows(*rows, plan)) return false;
  for (const std::vector<ValueId>* list : {&k.inputs, &k.outputs})
    for (const ValueId v : *list)
      if (k[v].type.elements() > 1 && bits(k[v].type.dtype) > 32) return false;
  return std::any_of(k.inputs.begin(), k.inputs.end(), [&](ValueId v) {
    return bits(k[v].type.dtype) == 32 && k[v].type.elements() > 1 && read_in_place(k, plan, v);
  });
}

// Names of the kernels in whose PTX an instruction loads four words of global memory.
std::set<std::string> kernels_with_wide_loads(const std::string& ptx) {
  std::set<std::string> names;
  std::string entry;
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    if (const size_t at = line.find(".entry "); at != std::string::npos)
      entry = line.substr(at + 7, line.find('(') - at - 7);
    if (line.find("ld.global") != std::string::npos && line.find(".v4") != std::string::npos) names.insert(entry);
  }
  return names;
}

std::map<std::string, runtime::KernelResources> by_name(const runtime::CudaBinary& binary) {
  std::map<std::string, runtime::KernelResources> map;
  for (const runtime::KernelResources& r : binary.kernels) map[r.name] = r;
  return map;
}

class GeneratedCuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  }
  runtime::CudaBinary compile(const std::string& source, const std::string& arch) {
    return runtime::compile_for_cuda(source, {.arch = arch, .ptx = true}, cache);
  }
  runtime::TemporaryFolder folder;
  runtime::KernelCache cache{folder.path()};
};

struct Compiled {
  Module module;
  codegen::Program program;
  int64_t largest_parameter = 0;  // elements
};

class EveryModel : public GeneratedCuda, public ::testing::WithParamInterface<std::string> {
 protected:
  // With a library, products and convolutions are its calls; without one they are generated text, too.
  static Compiled compile_model(bool library) {
    frontend::Sources sources;
    const frontend::Model model = frontend::read_model(sources, GetParam());
    Compiled c{frontend::build_module(model, frontend::default_build_options(model)), {}, 0};
    passes::Options options{.target = h200(), .libraries = {}, .remark = {}};
    if (library) options.libraries = {{&passes::onednn(), [](const Graph&) { return passes::LibraryAnswer{}; }}};
    const Graph& train = *c.module.find_graph("train");
    for (const ValueId v : train.inputs) {
      const Value& value = train[v];
      if (value.role == Role::input) options.columns.push_back({value.name, value.type.dtype, {}});
      if (value.role == Role::param) c.largest_parameter = std::max(c.largest_parameter, value.type.elements());
    }
    passes::run_pipeline(c.module, options);
    // With every persistent kernel that there can be.
    c.program = codegen::lower(c.module, model.name, options.target, codegen::OneKernel::where_possible);
    return c;
  }

  void expect_no_spills_and_wide_loads(const Compiled& c, const std::string& arch) {
    SCOPED_TRACE(arch);
    const runtime::CudaBinary binary = compile(c.program.source, arch);
    const auto resources = by_name(binary);
    const std::set<std::string> wide = kernels_with_wide_loads(fmt::format("{}", fmt::join(binary.ptx, "")));
    size_t expected = 0;
    for (const codegen::Kernel& k : c.program.kernels) {
      ASSERT_TRUE(resources.count(k.name)) << k.name << " is not in the machine code";
      EXPECT_EQ(resources.at(k.name).spill_bytes, 0) << k.name;
      const Graph* kernel = c.module.find_kernel(k.title);
      if (kernel == nullptr || !allows_wide_loads(*kernel)) continue;
      ++expected;
      EXPECT_TRUE(wide.count(k.name)) << k.name << " loads no packets";
    }
    const size_t least = c.largest_parameter >= spread_points() ? 1 : 0;
    EXPECT_GE(expected, least) << "the optimizer reads its parameters in place";
  }
};

TEST_P(EveryModel, SpillsNothingAndLoadsWide) {
  const Compiled c = compile_model(/*library=*/false);
  const bool all = std::getenv("HEDDLE_ALL_ARCHITECTURES") != nullptr;
  for (const std::string arch : kArchitectures)
    if (all || arch == "sm_90a") expect_no_spills_and_wide_loads(c, arch);
}

TEST_P(EveryModel, SpillsNothingAndLoadsWideBesideALibrary) {
  expect_no_spills_and_wide_loads(compile_model(/*library=*/true), "sm_90a");
}

INSTANTIATE_TEST_SUITE_P(Models, EveryModel, ::testing::ValuesIn(models()),
                         [](const auto& info) { return std::filesystem::path(info.param).stem().string(); });

// The kernels of tests/codegen/tile.hir. A tile is 32 rows of 33 items.
TEST_F(GeneratedCuda, TilesLieInSharedMemory) {
  std::ifstream in(testing::source_dir() / "tests/codegen/tile.hir");
  std::stringstream text;
  text << in.rdbuf();
  const SourceFile file{"tile.hir", text.str()};
  const Module m = parse(file);
  std::vector<const Graph*> kernels;
  for (const Graph& k : m.kernels) kernels.push_back(&k);
  std::string source = codegen::preamble() + codegen::emit_scalar_functions(kernels);
  for (const Graph* k : kernels) {
    const codegen::EmittedKernel emitted = codegen::emit_kernel(*k, k->name);
    EXPECT_EQ(emitted.facts.shared_bytes, (k->name == "two" ? 2 : 1) * 32 * 33 * 4) << k->name;
    source += emitted.text;
  }
  for (const char* arch : kArchitectures) {
    SCOPED_TRACE(arch);
    const auto resources = by_name(compile(source, arch));
    EXPECT_EQ(resources.size(), kernels.size());
    for (const auto& [name, r] : resources) {
      EXPECT_EQ(r.spill_bytes, 0) << name;
      EXPECT_EQ(r.shared_bytes, 0) << name;  // all of it is what the launch says
    }
  }
}

}  // namespace
}  // namespace heddle
