// What is counted of a kernel from its graph and its schedule, against what the interpreter counts of its PTX.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>

#include "ir/builder.h"
#include "ir/kernel/count/kernel_counts.h"
#include "ir/kernel/plan_primitive.h"
#include "runtime/cuda/nvrtc.h"
#include "tests/ptx/planned_model.h"
#include "tests/ptx/program_run.h"
#include "tests/support/each_nth.h"

namespace heddle::testing {
namespace {

constexpr double kTolerance = 0.25;

// Launches of each kernel in one run of every entry.
std::map<std::string, uint64_t> run_entries(const PlannedModel& model, PtxDevice& device) {
  const codegen::Program& program = model.program;
  std::map<std::string, uint64_t> launches;
  ProgramRun run(program, device);
  for (const codegen::Entry& entry : program.entries) {
    run.write(entry, spread_batch(model, entry, 0));
    run.run(entry);
    codegen::for_each_step(entry.steps, [&](const codegen::Step& step, int64_t times) {
      if (const auto* launch = std::get_if<codegen::Launch>(&step.what))
        launches[program.kernels[static_cast<size_t>(launch->kernel)].name] += static_cast<uint64_t>(times);
    });
  }
  return launches;
}

class Comparison {
 public:
  Comparison(const codegen::Kernel& kernel, uint64_t launches) : kernel_(kernel), launches_(launches) {}

  void expect(const char* what, uint64_t counted, double predicted) {
    const double c = static_cast<double>(counted) / static_cast<double>(launches_);
    EXPECT_LE(std::abs(predicted - c), kTolerance * c) << kernel_.name << " (" << kernel_.schedule << "): " << what
                                                       << ": counted " << c << ", predicted " << predicted;
    if (c > 0) line_ += fmt::format(" {} {:.2f}", what, predicted / c);
  }
  // Of a launch, however many there were.
  void expect_waits(uint64_t counted, double predicted) {
    const auto c = static_cast<double>(counted);
    EXPECT_LE(std::abs(predicted - c), kTolerance * c)
        << kernel_.name << ": loads after the last row: counted " << c << ", predicted " << predicted;
  }
  std::string line() const { return fmt::format("{:<48} {:<9}{}\n", kernel_.name, kernel_.schedule, line_); }

 private:
  const codegen::Kernel& kernel_;
  uint64_t launches_;
  std::string line_;
};

// What a scatter over its own operand executes follows the rows that the data name, of auc's bins
// as few as scores lie near one another: its figures are an estimate. However they lie, its updates
// bound what it moves, whatever the table has: each looks at its index, the one before and the one
// behind, at its place in each turn over the columns, and at a row of x and of the updates; and
// writes a row.
void check_in_place(const ir::Graph& graph, const codegen::Kernel& kernel, const ptx::Counters& c, double launches) {
  const ir::Node& n = graph[graph.order[0]];
  const ir::Type &updates = graph[n.operands[3]].type, &sorted = graph[n.operands[1]].type;
  const auto count = static_cast<double>(sorted.elements());
  const double columns = static_cast<double>(updates.elements()) / count;
  constexpr double kSector = 32, kIndices = 3, kLanesOfTeam = 32;
  const double turns = std::ceil(columns / kLanesOfTeam);
  const double row = std::ceil(static_cast<double>(updates.bytes()) / count / kSector) + turns;
  const double read = static_cast<double>(c.global_load_sectors) / launches;
  const double written = static_cast<double>(c.global_store_sectors) / launches;
  EXPECT_LE(read, count * (kIndices + turns + 2 * row)) << kernel.name;
  EXPECT_LE(written, count * row) << kernel.name;
  EXPECT_GE(read, static_cast<double>(updates.bytes()) / kSector) << kernel.name << ": each update is read";
  EXPECT_GT(written, 0) << kernel.name;
}

void check_counts(const PlannedModel& model) {
  PtxOptions options;
  options.launch.races = false;
  options.launch.chains = true;
  PtxDevice device(options);
  const std::map<std::string, uint64_t> launches = run_entries(model, device);
  for (const codegen::Kernel& kernel : model.program.kernels) {
    const ir::Graph& graph = *model.module.find_kernel(kernel.title);
    const ptx::Counters& c = device.counters().at(kernel.name);
    if (std::holds_alternative<ir::schedules::Primitive>(graph.schedule->how) && ir::is_in_place(graph)) {
      check_in_place(graph, kernel, c, static_cast<double>(launches.at(kernel.name)));
      continue;
    }
    const ir::KernelCounts p = ir::count_kernel(graph, options.most_blocks);
    Comparison compare(kernel, launches.at(kernel.name));
    compare.expect("sectors read", c.global_load_sectors, p.sectors_read);
    compare.expect("sectors written", c.global_store_sectors, p.sectors_written);
    compare.expect("wavefronts", c.shared_load_wavefronts + c.shared_store_wavefronts, p.shared_wavefronts);
    compare.expect("ideal wavefronts", c.shared_ideal_wavefronts, p.ideal_wavefronts);
    compare.expect("instructions", c.instructions, p.instructions.total());
    // Products wait for copies, which no register holds.
    if (kernel.schedule == "rows") compare.expect_waits(c.longest_fresh_waits, p.dependent_after_last);
    fmt::print("{}", compare.line());
  }
}

// Their small forms have channels of two to six. They take minutes to compile, and are among the slow tests.
const std::set<std::string> kOfFewChannels = {"alexnet_small", "autoencoder", "detector", "mobilenet_small",
                                              "recommender",   "siamese",     "unet",     "vae",
                                              "vgg_small"};

// Models of sequences, of which the counts are off: attention in blocks is counted at a fraction of what it executes,
// and small kernels of loops at 0.7 to 1.5 times. So is the kernel that adds up the three losses of quantile_regression,
// vq_vae and wgan_gp: it reads three times as many sectors of scalars as it is said to. Gathered products of
// tabular_mixed and sums behind convolutions of volume_segmentation execute 0.66 to 1.39 times the instructions, and
// the products and norms of byol_small 0.7 to 1.4 times, with 0.3 to 0.6 of the sectors said. They are in no test of
// counts until that is mended.
const std::set<std::string> kMiscounted = {"addition_rnn",
                                           "bert_base",
                                           "byol_small",
                                           "char_gpt",
                                           "gpt2_124m",
                                           "llama_small",
                                           "dqn",
                                           "quantile_regression",
                                           "vq_vae",
                                           "question_answering",
                                           "rnn_adding",
                                           "sentiment",
                                           "speech_digits",
                                           "summary",
                                           "seq2seq_dates",
                                           "t5_small",
                                           "tabular_mixed",
                                           "text_gru",
                                           "translation",
                                           "vit_small",
                                           "volume_segmentation",
                                           "wgan_gp"};

std::set<std::string> together(std::set<std::string> a, const std::set<std::string>& b) {
  a.insert(b.begin(), b.end());
  return a;
}

class PtxCounts : public ::testing::TestWithParam<std::string> {};

TEST_P(PtxCounts, OfSmallModels) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  check_counts(plan_model(GetParam(), /*small=*/true));
}

INSTANTIATE_TEST_SUITE_P(All, PtxCounts,
                         ::testing::ValuesIn(each_nth(3, model_names(together(kOfFewChannels, kMiscounted)))),
                         [](const auto& info) { return info.param; });

// Schedules and shapes that no model has.
struct Shaped {
  std::string name;
  std::function<ir::Values(ir::Graph&, ir::Builder&)> build;
};

std::vector<Shaped> shapes() {
  using ir::DType;
  const auto input = [](ir::Graph& g, const char* name, ir::Dims dims, DType dtype = DType::f32) {
    return g.add_input(name, ir::Type{dtype, std::move(dims)}, ir::Role::input);
  };
  const auto product = [input](const ir::Dims& a, const ir::Dims& b, DType dtype) {
    return [=](ir::Graph& g, ir::Builder& make) -> ir::Values {
      return {make("matmul", {input(g, "a", a, dtype), input(g, "b", b, dtype)}, {}, "y")};
    };
  };
  const auto sum = [input](const ir::Dims& dims, const std::vector<int64_t>& axes) {
    return [=](ir::Graph& g, ir::Builder& make) -> ir::Values {
      return {make("reduce_sum", {input(g, "x", dims)}, {{"axes", axes}}, "y")};
    };
  };
  const auto convolution = [input](const ir::Dims& x, const ir::Dims& filter, const std::vector<int64_t>& strides) {
    return [=](ir::Graph& g, ir::Builder& make) -> ir::Values {
      return {make("conv2d", {input(g, "x", x), input(g, "w", filter)},
                   {{"pads", std::vector<int64_t>{1, 1, 1, 1}}, {"strides", strides}}, "y")};
    };
  };
  const auto order = [input](int64_t n, DType dtype) {
    return [=](ir::Graph& g, ir::Builder& make) -> ir::Values {
      return {make("argsort", {input(g, "x", {n}, dtype)}, {}, "order")};
    };
  };
  return {{"order_of_two", order(2, DType::i32)},
          {"order_of_five", order(5, DType::i64)},
          {"order_in_two_goes", order(2100, DType::f32)},
          {"padded_convolution", convolution({2, 8, 8, 2}, {2, 3, 3, 2}, {1, 1})},
          {"padded_convolution_of_sevens", convolution({3, 7, 7, 1}, {2, 3, 3, 1}, {1, 1})},
          {"strided_convolution", convolution({2, 14, 14, 2}, {4, 3, 3, 2}, {2, 2})},
          {"uneven_last_packet", product({5, 6}, {6, 1}, DType::f32)},
          {"transpose",
           [=](ir::Graph& g, ir::Builder& make) -> ir::Values {
             return {make("transpose", {input(g, "x", {300, 257})}, {{"perm", std::vector<int64_t>{1, 0}}}, "y")};
           }},
          {"even_transpose",
           [=](ir::Graph& g, ir::Builder& make) -> ir::Values {
             return {make("transpose", {input(g, "x", {4, 512, 128})}, {{"perm", std::vector<int64_t>{0, 2, 1}}}, "y")};
           }},
          {"long_rows",
           [=](ir::Graph& g, ir::Builder& make) -> ir::Values {
             return {make("softmax", {input(g, "x", {48, 5000})}, {{"axis", int64_t{-1}}}, "y")};
           }},
          {"rows",
           [=](ir::Graph& g, ir::Builder& make) -> ir::Values {
             return {make("softmax", {input(g, "x", {200, 256})}, {{"axis", int64_t{-1}}}, "y")};
           }},
          {"order",
           [=](ir::Graph& g, ir::Builder& make) -> ir::Values {
             return {make("argsort", {input(g, "x", {3000})}, {}, "order")};
           }},
          {"order_in_runs",
           [=](ir::Graph& g, ir::Builder& make) -> ir::Values {
             return {make("argsort", {input(g, "x", {20000})}, {}, "order")};
           }},
          {"descending_order_in_runs",
           [=](ir::Graph& g, ir::Builder& make) -> ir::Values {
             return {make("argsort", {input(g, "x", {3, 9000}, DType::f64)}, {{"descending", true}}, "order")};
           }},
          {"orders_of_many_rows",
           [=](ir::Graph& g, ir::Builder& make) -> ir::Values {
             return {make("argsort", {input(g, "x", {130, 700})}, {}, "order")};
           }},
          {"total", sum({100000}, {0})},
          {"long_row_sums", sum({4, 60000}, {1})},
          {"columns", sum({2000, 96}, {0})},
          {"long_columns", sum({40000, 2}, {0})},
          {"columns_in_groups", sum({1100, 512}, {0})},
          {"bf16_product", product({256, 512}, {512, 128}, DType::bf16)},
          {"batched_product", product({8, 96, 64}, {8, 64, 80}, DType::f32)},
          {"uneven_product", product({101, 203}, {203, 57}, DType::f32)}};
}

class PtxShapeCounts : public ::testing::TestWithParam<Shaped> {};

TEST_P(PtxShapeCounts, OfKernels) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  ir::Module module;
  ir::Graph& g = module.graphs.emplace_back();
  g.name = "shape";
  ir::Builder make(g);
  g.outputs = GetParam().build(g, make);
  check_counts(plan_module(std::move(module), GetParam().name));
}

INSTANTIATE_TEST_SUITE_P(All, PtxShapeCounts, ::testing::ValuesIn(shapes()),
                         [](const auto& info) { return info.param.name; });

// Half a minute: among the slow tests.
class PtxFullCounts : public ::testing::TestWithParam<std::string> {};

TEST_P(PtxFullCounts, OfModels) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  if (std::getenv("HEDDLE_PTX_ALL") == nullptr) GTEST_SKIP() << "HEDDLE_PTX_ALL is not set";
  // Of a deep network the interpreter would execute a whole batch for an hour: rows change how often, not what.
  const std::vector<std::string> few =
      GetParam() == "resnet20" ? std::vector<std::string>{"train.batch.N=2"} : std::vector<std::string>{};
  check_counts(plan_model(GetParam(), /*small=*/false, ir::h200(), few));
}

// At its own size four kernels of the model with a loop execute 0.7 to 1.5 times the instructions that are counted.
const std::set<std::string> kOfLoops = {"lstm_names"};
INSTANTIATE_TEST_SUITE_P(All, PtxFullCounts, ::testing::ValuesIn(model_names(together(kOfLoops, kMiscounted))),
                         [](const auto& info) { return info.param; });

using PtxFullCountsOfFewChannels = PtxFullCounts;

TEST_P(PtxFullCountsOfFewChannels, OfSmallModels) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  if (std::getenv("HEDDLE_PTX_ALL") == nullptr) GTEST_SKIP() << "HEDDLE_PTX_ALL is not set";
  check_counts(plan_model(GetParam(), /*small=*/true));
}

INSTANTIATE_TEST_SUITE_P(All, PtxFullCountsOfFewChannels, ::testing::ValuesIn(kOfFewChannels),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace heddle::testing
