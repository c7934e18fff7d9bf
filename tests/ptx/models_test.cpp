// The training steps of every model in the interpreter: no finding, and the host's numbers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>

#include "ir/cursor.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/host/host_device.h"
#include "tests/numeric/harness.h"
#include "tests/ptx/agreement.h"
#include "tests/ptx/planned_model.h"
#include "tests/ptx/program_run.h"
#include "tests/support/each_nth.h"

namespace heddle::testing {
namespace {

constexpr int kSteps = 2;

PtxOptions options() {
  PtxOptions options;
  options.launch.chains = std::getenv("HEDDLE_PTX_COUNTERS") != nullptr;
  return options;
}

// One run of an entry in double precision.
Images exact_run(const ir::Module& module, const std::string& entry, const Images& before, ir::NamedTensors batch) {
  constexpr std::string_view kState = "state %";
  ir::NamedTensors states;
  for (const auto& [name, tensor] : before)
    if (name.starts_with(kState)) states[name.substr(kState.size())] = tensor;
  const ir::Graph& graph = *module.find_graph(entry);
  const ir::NamedTensors flat = ir::flatten_states(module, states);
  for (const ir::ValueId v : graph.inputs)
    if (const auto state = flat.find(graph[v].name); state != flat.end()) batch.insert(*state);
  ir::Evaluation done = ir::evaluate(module, graph, batch);
  for (auto& [name, tensor] : ir::unflatten_states(module, std::move(done.updated))) states[name] = tensor;
  Images images;
  for (size_t i = 0; i < done.outputs.size(); ++i) images[fmt::format("output {}", i)] = std::move(done.outputs[i]);
  for (const auto& [name, tensor] : states) images[std::string(kState) + name] = tensor;
  return images;
}

// What a device made of an entry, and what it would have made in double precision.
struct Made {
  Images before, after;
  std::optional<Images> exact;

  double off_by(const std::string& name, const ir::Module& module, const std::string& entry,
                const ir::NamedTensors& batch) {
    if (!exact) exact = exact_run(module, entry, before, batch);
    const Agreement a = agreement(exact->at(name), after.at(name));
    EXPECT_EQ(a.fault, "") << name << " after " << entry << ", beside the exact numbers";
    return a.nmse;
  }
};

class Comparison {
 public:
  explicit Comparison(const ir::Module& module) : module_(module) {}

  // In deep networks gradients are the small rest of large sums, and each device is off by more
  // than what two may differ by: there the interpreter is as near to the exact numbers as the host,
  // which may be nearer by chance in one entry than in others, of two biases say.
  void expect_agreement(Made& host, Made& got, const std::string& entry, const ir::NamedTensors& batch) {
    constexpr double kNoFarther = 16;  // of squares: errors four times as large
    for (const auto& [name, tensor] : host.after) {
      const Agreement a = agreement(tensor, got.after.at(name));
      EXPECT_EQ(a.fault, "") << name << " after " << entry;
      worst = std::max(worst, a.nmse);
      if (a.nmse <= most_nmse(tensor.type.dtype)) continue;
      ++above;
      double& of_host = of_host_[name];
      of_host = std::max(of_host, host.off_by(name, module_, entry, batch));
      const double most = std::max(most_nmse(tensor.type.dtype), kNoFarther * of_host);
      EXPECT_LE(got.off_by(name, module_, entry, batch), most)
          << name << " after " << entry << ": NMSE " << a.nmse << ", and farther from the exact numbers than the host";
    }
  }

  double worst = 0;  // NMSE
  int above = 0;     // tensors that differ by more than f32 may

 private:
  const ir::Module& module_;
  std::map<std::string, double> of_host_;  // its errors, the largest of the entries until now
};

// HEDDLE_PTX_COUNTERS: what a profiler would say of each kernel.
void print_counters(const PtxDevice& device) {
  for (const auto& [kernel, c] : device.counters()) {
    const auto of = [](uint64_t bytes, uint64_t sectors) {
      return sectors == 0 ? 1.0 : static_cast<double>(bytes) / (32.0 * static_cast<double>(sectors));
    };
    fmt::print(
        "  {:<42} {:>10} instructions, loads {:>8} sectors {:.2f} used, stores {:>8} sectors {:.2f} used, chain {} + "
        "{}\n",
        kernel, c.instructions, c.global_load_sectors, of(c.global_load_bytes, c.global_load_sectors),
        c.global_store_sectors, of(c.global_store_bytes, c.global_store_sectors), c.longest_chain,
        c.longest_chain_after_arrival);
  }
}

bool pools_whole_sectors(const ir::Graph& kernel) {
  constexpr int64_t kSectorBits = 256;
  const ir::Node& first = kernel[kernel.order.front()];
  if (first.op->name != "max_pool2d") return false;
  const ir::Type& image = kernel[first.operands[0]].type;
  return image.dims.back() * bits(image.dtype) % kSectorBits == 0;
}

void check_training(const std::string& name, bool small, const PtxOptions& options,
                    const std::vector<std::string>& set = {}) {
  const PlannedModel model = plan_model(name, small, ir::h200(), set);
  const codegen::Program& program = model.program;
  runtime::HostDevice host({.threads = 1, .kernel_cache = {}});
  PtxDevice device(options);
  ProgramRun expected(program, host), got(program, device);
  Comparison comparison(model.module);
  const auto step = [&](const codegen::Entry& entry, uint64_t seed) {
    const ir::NamedTensors batch = random_batch(entry, seed);
    const auto make = [&](ProgramRun& run) {
      Made made{run.read(entry), {}, {}};
      run.write(entry, batch);
      run.run(entry);
      made.after = run.read(entry);
      return made;
    };
    Made of_host = make(expected), of_device = make(got);
    comparison.expect_agreement(of_host, of_device, entry.name, batch);
  };
  step(*program.find_entry(ir::Phase::init), 0);
  for (int i = 0; i < kSteps; ++i) step(*program.find_entry(ir::Phase::train), static_cast<uint64_t>(i));
  for (const ptx::Finding& f : device.findings()) ADD_FAILURE() << to_string(f);
  // Windows are read in packets: a warp uses what it fetches, where a pixel's channels fill a sector.
  for (const codegen::Kernel& kernel : program.kernels) {
    const auto ran = device.counters().find(kernel.name);
    if (ran == device.counters().end() || !pools_whole_sectors(*model.module.find_kernel(kernel.title))) continue;
    const ptx::Counters& c = ran->second;
    EXPECT_GE(static_cast<double>(c.global_load_bytes), 31.0 * static_cast<double>(c.global_load_sectors))
        << kernel.name;
  }
  if (options.launch.chains) print_counters(device);
  fmt::print("{}: worst NMSE {:.2g}, of {} tensors above the bound, {:.1f} million thread instructions\n", name,
             comparison.worst, comparison.above, static_cast<double>(device.total().thread_instructions) / 1e6);
}

// Some gradients of these are zero but for rounding (a scale before a norm of the same channels, a
// bias before a difference). Their own optimizer divides such a number by its own size and keeps
// nothing but its sign; sgd leaves it as small as it is.
const std::set<std::string> kDeadGradients = {"alexnet_small", "mobilenet_small", "siamese", "unet", "vgg_small"};

class PtxModels : public ::testing::TestWithParam<std::string> {};

TEST_P(PtxModels, SmallStepsAgreeWithTheHost) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  check_training(GetParam(), true, options());
}

INSTANTIATE_TEST_SUITE_P(All, PtxModels, ::testing::ValuesIn(each_nth(3, model_names(kDeadGradients))),
                         [](const auto& info) { return info.param; });

class PtxModelsOfDeadGradients : public ::testing::TestWithParam<std::string> {};

TEST_P(PtxModelsOfDeadGradients, SmallStepsAgreeWithTheHost) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  check_training(GetParam(), true, options(), {R"(train.optimizer={"op": "sgd", "lr": 0.1})"});
}

INSTANTIATE_TEST_SUITE_P(All, PtxModelsOfDeadGradients, ::testing::ValuesIn(kDeadGradients),
                         [](const auto& info) { return info.param; });

// Tables of which a step renews the rows of its batch alone.
TEST(PtxSparse, StepsAgreeWithTheHost) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  for (const char* optimizer : {"adam", "adagrad"})
    check_training("recommender", true, options(),
                   {"nodes.users.sparse=true", "nodes.items.sparse=true", "let.d=36", "train.batch.N=33",
                    std::string("train.optimizer=") + optimizer});
}

// What a training step over random rows leaves; whatever the interpreter finds wrong with it is a failure.
Images first_step(const codegen::Program& program, const std::string& what) {
  PtxDevice device(options());
  ProgramRun run(program, device);
  run.run(*program.find_entry(ir::Phase::init));
  const codegen::Entry& entry = *program.find_entry(ir::Phase::train);
  run.write(entry, random_batch(entry, 1));
  run.run(entry);
  for (const ptx::Finding& f : device.findings()) ADD_FAILURE() << what << ": " << to_string(f);
  return run.read(entry);
}

// A model that allows it has products on the tensor cores, and a loss that is near that of exact ones but not it.
TEST(PtxPrecision, IsWhatTheModelAllows) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  std::map<std::string, double> losses;
  for (const std::string precision : {"f32", "tf32", "bf16"}) {
    const codegen::Program program =
        plan_model("digits_cnn", true, ir::h200(), {R"(train.precision={"compute": ")" + precision + R"("})"}).program;
    losses[precision] = first_step(program, precision).at("output 0").real.at(0);
  }
  EXPECT_NE(losses.at("tf32"), losses.at("f32"));
  EXPECT_NEAR(losses.at("tf32"), losses.at("f32"), 1e-3 * losses.at("f32"));
  EXPECT_NE(losses.at("bf16"), losses.at("tf32"));
  EXPECT_NEAR(losses.at("bf16"), losses.at("f32"), 1e-2 * losses.at("f32"));
}

// 16-bit types: the numbers of an f32 step but for rounding, on tensor cores that read them as they lie. The step in f16
// tells its loss scale, and is clean.
TEST(PtxPrecision, MixedStepsAreNearThoseOfF32) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  std::map<std::string, double> losses;
  for (const std::string mixed : {"", "bf16", "f16"}) {
    std::vector<std::string> set;
    if (!mixed.empty()) set.push_back(R"(train.precision={"mixed": ")" + mixed + R"(", "loss_scale": 1024})");
    const codegen::Program program = plan_model("digits_cnn", true, ir::h200(), set).program;
    EXPECT_EQ(program.source.find("const hd::half*") != std::string::npos, mixed == "f16");
    const codegen::Entry& entry = *program.find_entry(ir::Phase::train);
    const Images after = first_step(program, mixed);
    losses[mixed] = after.at("output 0").real.at(0);
    const auto told = std::ranges::find(entry.outputs, ir::kToldScale, &codegen::Buffer::name);
    ASSERT_EQ(told != entry.outputs.end(), !mixed.empty());
    if (told != entry.outputs.end()) {
      const auto i = told - entry.outputs.begin();
      EXPECT_EQ(after.at(fmt::format("output {}", i)).real.at(0), 1024) << mixed;
    }
  }
  EXPECT_NE(losses.at("bf16"), losses.at(""));
  EXPECT_NEAR(losses.at("bf16"), losses.at(""), 1e-2 * losses.at(""));
  EXPECT_NE(losses.at("f16"), losses.at(""));
  EXPECT_NEAR(losses.at("f16"), losses.at(""), 2e-3 * losses.at(""));
}

// Minutes: among the slow tests. HEDDLE_PTX_ALL says so.
class PtxFullModels : public ::testing::TestWithParam<std::string> {};

TEST_P(PtxFullModels, StepsAgreeWithTheHost) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  if (std::getenv("HEDDLE_PTX_ALL") == nullptr) GTEST_SKIP() << "HEDDLE_PTX_ALL is not set";
  check_training(GetParam(), false, options());
}

INSTANTIATE_TEST_SUITE_P(Mnist, PtxFullModels, ::testing::Values("mnist_mlp", "mnist_cnn"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace heddle::testing
