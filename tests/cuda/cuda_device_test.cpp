// The CUDA device on the fake driver: the same bits however steps are submitted and data come,
// nothing but a graph launch in the steady state, and no use that a driver may punish.
#include "runtime/cuda/cuda_device.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <map>
#include <sstream>

#include "codegen/lower.h"
#include "frontend/build_graph.h"
#include "frontend/read/read_model.h"
#include "ir/diagnostic.h"
#include "passes/pipeline.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/data/keyed_random.h"
#include "runtime/host/host_device.h"
#include "runtime/train/trainer.h"
#include "tests/support/source_dir.h"

namespace heddle {
namespace {

// What the fake has seen: violations in words, and counts.
struct Report {
  std::vector<std::string> violations;
  std::map<std::string, int64_t> counts;
};

void* fake() { return dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD); }

Report report() {
  using Text = const char*();
  auto* text = reinterpret_cast<Text*>(dlsym(fake(), "fake_cuda_report"));
  Report out;
  std::istringstream lines(text());
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("violation: ")) out.violations.push_back(line);
    if (!line.starts_with("count: ")) continue;
    const size_t end = line.rfind(' ');
    out.counts[line.substr(7, end - 7)] = std::stoll(line.substr(end + 1));
  }
  return out;
}

class Cuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC";
    ASSERT_NE(runtime::find_driver(), nullptr) << "LD_LIBRARY_PATH leads to the fake driver";
    ASSERT_NE(dlsym(fake(), "fake_cuda_report"), nullptr) << "a real driver: these tests are for the fake";
    using Forget = void();
    reinterpret_cast<Forget*>(dlsym(fake(), "fake_cuda_forget"))();
  }
  void TearDown() override {
    if (IsSkipped()) return;
    EXPECT_EQ(report().violations, std::vector<std::string>{});
  }
};

codegen::Program compile(const ir::Target& target, int64_t batch, int64_t last) {
  frontend::Sources sources;
  const frontend::Model model =
      frontend::read_model(sources, testing::source_dir() / "models" / "tiny_mlp.json", {.set = {}, .small = false});
  ir::Module m = frontend::build_module(
      model, {.train = batch, .train_last = last, .eval = batch, .eval_last = last, .total_steps = 100});
  passes::Options options;
  options.target = target;
  options.columns = {{"x", ir::DType::f32, {}}, {"target", ir::DType::f32, {}}};
  passes::run_pipeline(m, options);
  return codegen::lower(m, model.name, target);
}

runtime::data::Column column(const std::string& name, int64_t rows, int64_t elements) {
  runtime::data::KeyedRandom random(/*seed=*/7, static_cast<uint64_t>(elements));
  runtime::data::Column c{.input = name, .type = runtime::data::ElementType::f32, .dims = {elements}, .bytes = {}};
  for (int64_t i = 0; i < rows * elements; ++i) {
    const float value = random.uniform(-1, 1);
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    c.bytes.insert(c.bytes.end(), bytes, bytes + sizeof value);
  }
  return c;
}

runtime::Split rows_of(int64_t rows) {
  return {"training", {.rows = rows, .columns = {column("x", rows, 3), column("target", rows, 2)}}};
}

struct Trained {
  std::vector<float> parameters;
  std::vector<double> losses;
  double validation = 0;
};

Trained train(const codegen::Program& program, runtime::Device& device, const runtime::Split& rows,
              const runtime::StepsOptions& steps) {
  runtime::Executable executable(program, device);
  executable.run(*program.find_entry(ir::Phase::init));
  Trained out;
  runtime::Watcher watcher;
  watcher.step = [&](const runtime::StepEvent& e) { out.losses.push_back(e.loss); };
  runtime::TrainOptions options;
  options.epochs = 3, options.seed = 5, options.steps_options = steps;
  out.validation = runtime::train(executable, options, rows, &rows, watcher).validation->at(0).value;
  for (const codegen::Buffer& b : program.states) {
    if (b.role != codegen::BufferRole::param) continue;
    std::vector<float> values(static_cast<size_t>(b.bytes) / sizeof(float));
    executable.read(b, values.data());
    out.parameters.insert(out.parameters.end(), values.begin(), values.end());
  }
  return out;
}

TEST_F(Cuda, NewMemoryIsZero) {
  runtime::CudaDevice device({.number = 0, .ptx = true, .kernel_cache = {}});
  const std::vector<char> zeros(1000);
  void* shared = device.allocate(1000, runtime::Memory::shared);
  EXPECT_EQ(std::memcmp(shared, zeros.data(), zeros.size()), 0);
  void* memory = device.allocate(1000);
  std::vector<char> read(1000, 'x');
  device.read(read.data(), memory, 1000);
  EXPECT_EQ(read, zeros);
  device.release(shared);
  device.release(memory);
}

// One, eight and 64 steps a submission, as launches or as one kernel; columns on the device, or through chunks of some
// batches.
TEST_F(Cuda, AnySubmissionGivesTheSameBits) {
  const codegen::Program program = compile(ir::h200(), 4, 3);
  const runtime::Split rows = rows_of(4 * 90 + 3);
  const int64_t all = std::numeric_limits<int64_t>::max();
  std::optional<Trained> first;
  struct Case {
    bool persistent;
    int64_t repeats, resident;
  };
  ASSERT_GE(program.find_entry(ir::Phase::train)->persistent, 0);
  for (const auto& [persistent, repeats, resident] : std::vector<Case>{{false, 1, all},
                                                                       {false, 8, all},
                                                                       {false, 64, all},
                                                                       {false, 64, 1},
                                                                       {false, 64, 3000},
                                                                       {true, 1, all},
                                                                       {true, 64, all},
                                                                       {true, 64, 1},
                                                                       {true, 64, 3000}}) {
    runtime::CudaDevice device({.number = 0, .ptx = true, .persistent = persistent, .kernel_cache = {}});
    const Trained now = train(program, device, rows, {.most_repeats = repeats, .feed = {.resident_bytes = resident}});
    SCOPED_TRACE(persistent ? "as one kernel" : "as launches");
    if (!first) first = now;
    EXPECT_EQ(now.losses.size(), 3 * 91U);
    EXPECT_EQ(now.parameters, first->parameters) << repeats << " steps, " << resident << " bytes";
    EXPECT_EQ(now.losses, first->losses) << repeats << " steps, " << resident << " bytes";
    EXPECT_EQ(now.validation, first->validation);
  }
  runtime::HostDevice host({.threads = 1, .kernel_cache = {}});
  const codegen::Program on_host = compile(ir::host(), 4, 3);
  const Trained wanted = train(on_host, host, rows, {});
  for (size_t i = 0; i < wanted.losses.size(); ++i) ASSERT_NEAR(first->losses[i], wanted.losses[i], 1e-5);
  for (size_t i = 0; i < wanted.parameters.size(); ++i) ASSERT_NEAR(first->parameters[i], wanted.parameters[i], 1e-5);
}

// 64 steps are one graph, or one kernel.
class SteadyState : public Cuda, public ::testing::WithParamInterface<bool> {};

TEST_P(SteadyState, IsOneLaunch) {
  const codegen::Program program = compile(ir::h200(), 4, 0);
  const runtime::Split rows = rows_of(4 * 64 * 3);
  runtime::CudaDevice device({.number = 0, .ptx = true, .persistent = GetParam(), .kernel_cache = {}});
  runtime::Executable executable(program, device);
  executable.run(*program.find_entry(ir::Phase::init));
  runtime::Feed feed(executable);
  feed.begin(rows.table, {});
  const codegen::Entry& entry = *program.find_entry(ir::Phase::train);
  std::map<std::string, int64_t> before = report().counts;
  uint64_t last = 0;
  for (int i = 0; i < 3; ++i) last = executable.submit(entry, 64);
  std::map<std::string, int64_t> after = report().counts;
  EXPECT_EQ(after["cuGraphLaunch"] - before["cuGraphLaunch"], GetParam() ? 0 : 3);
  EXPECT_EQ(after["cuLaunchCooperativeKernel"] - before["cuLaunchCooperativeKernel"], GetParam() ? 3 : 0);
  for (const char* call : {"cuMemAlloc", "cuMemHostAlloc", "cuMemFree", "cuStreamSynchronize", "cuEventSynchronize",
                           "cuLaunchKernel", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "kernels"})
    EXPECT_EQ(after[call], before[call]) << call;  // not even a kernel: nobody has waited
  executable.wait(last);
  EXPECT_EQ(feed.take(192).back().step, 191);
}

INSTANTIATE_TEST_SUITE_P(AsGraphAndAsKernel, SteadyState, ::testing::Bool());

// Work comes in the order in which it was asked for, also where it is asked about only.
TEST_F(Cuda, AskingIsEnough) {
  const codegen::Program program = compile(ir::h200(), 4, 0);
  const runtime::Split rows = rows_of(4 * 20);
  runtime::CudaDevice device({.number = 0, .ptx = true, .kernel_cache = {}});
  runtime::Executable executable(program, device);
  executable.run(*program.find_entry(ir::Phase::init));
  runtime::Feed feed(executable);
  feed.begin(rows.table, {});
  const codegen::Entry& entry = *program.find_entry(ir::Phase::train);
  const uint64_t one = executable.submit(entry, 9), two = executable.submit(entry, 11);
  EXPECT_LT(executable.poll(), one);
  int asked = 0;
  while (executable.poll() < two && asked < 1000) ++asked;
  EXPECT_GT(asked, 0);
  EXPECT_EQ(executable.poll(), two);
  EXPECT_EQ(feed.take(20).back().step, 19);
}

// More than the device tells apart by events of their own.
TEST_F(Cuda, ManySubmissionsAreWaitedForOneByOne) {
  const codegen::Program program = compile(ir::h200(), 4, 0);
  const runtime::Split rows = rows_of(4 * 30);
  runtime::CudaDevice device({.number = 0, .ptx = true, .kernel_cache = {}});
  runtime::Executable executable(program, device);
  executable.run(*program.find_entry(ir::Phase::init));
  runtime::Feed feed(executable);
  feed.begin(rows.table, {});
  std::vector<uint64_t> submissions;
  for (int i = 0; i < 30; ++i) submissions.push_back(executable.submit(*program.find_entry(ir::Phase::train), 1));
  for (size_t i = 0; i < submissions.size(); ++i) {
    executable.wait(submissions[i]);
    EXPECT_GE(executable.poll(), submissions[i]);
    EXPECT_EQ(feed.take(1).at(0).step, static_cast<int64_t>(i));
  }
  // The first has ended long ago: the driver is not asked, and what has ended since stays so.
  const int64_t waits = report().counts["cuEventSynchronize"];
  device.wait(submissions.front());
  EXPECT_EQ(report().counts["cuEventSynchronize"], waits);
  EXPECT_EQ(device.poll(), submissions.back());
}

// What loading queues has been done when it returns: it is not the first step's time.
TEST_F(Cuda, LoadingIsDoneWhenItReturns) {
  const codegen::Program program = compile(ir::h200(), 4, 0);
  runtime::CudaDevice device({.number = 0, .ptx = true, .persistent = false, .kernel_cache = {}});
  const runtime::Executable executable(program, device);
  std::map<std::string, int64_t> counts = report().counts;
  EXPECT_GT(counts["cuGraphUpload"], 0);
  EXPECT_EQ(counts["uploads"], counts["cuGraphUpload"]);
}

// Copies that nobody has waited for may be under way when memory goes, by itself or with the device.
TEST_F(Cuda, MemoryGoesWhenNothingUsesIt) {
  for (const bool released : {false, true}) {
    runtime::CudaDevice device({.number = 0, .ptx = true, .kernel_cache = {}});
    void *from = device.allocate(1000, runtime::Memory::shared), *to = device.allocate(1000);
    device.prefetch(to, from, 1000);
    if (!released) continue;
    device.release(from);
    device.release(to);
  }
}

TEST_F(Cuda, TheDeviceGivesBackWhatIsLeft) {
  const runtime::CudaDevice other({.number = 0, .ptx = true, .kernel_cache = {}});
  const int64_t before = other.free_bytes();
  {
    runtime::CudaDevice device({.number = 0, .ptx = true, .kernel_cache = {}});
    device.allocate(1000);
    device.allocate(1000, runtime::Memory::shared);
    EXPECT_LT(other.free_bytes(), before);
  }
  EXPECT_EQ(other.free_bytes(), before);
  EXPECT_EQ(report().counts["cuMemFreeHost"], 1);
}

// Nothing is left of the program that was loaded before.
TEST_F(Cuda, LoadsAnotherProgram) {
  const codegen::Program first = compile(ir::h200(), 4, 0), second = compile(ir::h200(), 7, 0);
  const runtime::Split rows = rows_of(28);
  runtime::CudaDevice device({.number = 0, .ptx = true, .kernel_cache = {}}),
      fresh({.number = 0, .ptx = true, .kernel_cache = {}});
  train(first, device, rows, {});
  EXPECT_EQ(train(second, device, rows, {}).losses, train(second, fresh, rows, {}).losses);
}

// A block gets 48 KB for both together without asking for more: 48 KB beside an array of the kernel's own are more.
TEST_F(Cuda, DynamicSharedMemoryLiesBesideAKernelsOwn) {
  codegen::Program program = compile(ir::h200(), 4, 0);
  const std::string text = R"(
HD_KERNEL(k_own, 32)(float* __restrict__ to) {
  __shared__ float own[32];
  extern __shared__ __align__(128) unsigned char more[];
  own[threadIdx.x] = 1.0f;
  more[49120 + threadIdx.x] = 2;
  __syncthreads();
  to[threadIdx.x] = own[31 - threadIdx.x] + (float)more[49151 - threadIdx.x];
}
)";
  program.source.insert(program.source.find("\n// kernel @"), text);
  program.kernels.push_back({.name = "k_own",
                             .title = "own",
                             .schedule = "pointwise",
                             .arguments = 1,
                             .scalars = {},
                             .block = 32,
                             .blocks = 1,
                             .shared_bytes = 49152,
                             .counts = {}});
  codegen::Entry& entry = program.entries[0];
  const codegen::Argument to{{codegen::Segment::arena, program.arena_bytes}, 128, codegen::Access::write};
  program.arena_bytes += 128;
  entry.steps.push_back({codegen::Launch{std::ssize(program.kernels) - 1, {to}, {}}, {}});
  runtime::CudaDevice device({.number = 0, .ptx = true, .kernel_cache = {}});
  runtime::Executable executable(program, device);
  executable.run(entry);
  codegen::Buffer result;
  result.at = to.at, result.bytes = to.bytes;
  std::vector<float> values(32);
  executable.read(result, reinterpret_cast<std::byte*>(values.data()));
  EXPECT_EQ(values, std::vector<float>(32, 3.0f));
}

// The fake refuses what a driver does: more dynamic shared memory than was asked for.
TEST_F(Cuda, ALaunchBeyondTheSharedMemoryAskedForIsRefused) {
  const runtime::Driver& driver = *runtime::find_driver();
  runtime::CudaDevice device({.number = 0, .ptx = true, .kernel_cache = {}});
  runtime::cuda::Module module = nullptr;
  runtime::cuda::Function function = nullptr;
  runtime::cuda::Stream stream = nullptr;
  device.release(device.allocate(1));  // makes the context this thread's
  driver.check(driver.StreamCreate(&stream, 0), "cuStreamCreate");
  driver.check(driver.ModuleLoadData(&module,
                                     ".version 8.0\n.target sm_90\n.address_size 64\n"
                                     ".visible .entry k() {\n .shared .align 4 .b8 own[1024];\n ret;\n}\n"),
               "cuModuleLoadData");
  driver.check(driver.ModuleGetFunction(&function, module, "k"), "cuModuleGetFunction");
  const auto launch = [&](unsigned shared) {
    return driver.LaunchKernel(function, 1, 1, 1, 32, 1, 1, shared, stream, nullptr, nullptr);
  };
  EXPECT_EQ(launch(49152 - 1024), runtime::cuda::kSuccess);
  EXPECT_NE(launch(49152), runtime::cuda::kSuccess);  // with its own 1024 more than 48 KB
  EXPECT_EQ(driver.FuncSetAttribute(function, runtime::cuda::kMaxDynamicSharedBytes, 49152), runtime::cuda::kSuccess);
  EXPECT_EQ(launch(49152), runtime::cuda::kSuccess);
  EXPECT_NE(launch(49153), runtime::cuda::kSuccess);
  EXPECT_NE(driver.FuncSetAttribute(function, runtime::cuda::kMaxDynamicSharedBytes, 232448), runtime::cuda::kSuccess);
  driver.StreamSynchronize(stream);
  driver.ModuleUnload(module);
  driver.StreamDestroy(stream);
  EXPECT_EQ(report().violations.size(), 2);
  using Forget = void();
  reinterpret_cast<Forget*>(dlsym(fake(), "fake_cuda_forget"))();
}

TEST_F(Cuda, LibraryCallsAreRefused) {
  codegen::Program program = compile(ir::h200(), 4, 0);
  codegen::Library call;
  call.impl = "onednn", call.title = "fc1";
  program.entries[0].steps.push_back({call, {}});
  runtime::CudaDevice device({.number = 0, .ptx = true, .kernel_cache = {}});
  EXPECT_THROW(runtime::Executable(program, device), UserError);
}

}  // namespace
}  // namespace heddle
