#include "runtime/cuda/cuda_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>
#include <variant>

#include "ir/check.h"
#include "ir/diagnostic.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/nvrtc.h"

namespace heddle::runtime {
namespace {

constexpr std::array<int64_t, 3> kGraphSteps = {64, 8, 1};
constexpr uint64_t kEvents = 8;                // submissions that can be told apart
constexpr int64_t kStaticSharedBytes = 49152;  // of a block, without asking for more

cuda::Address address(const void* p) { return std::bit_cast<uintptr_t>(p); }

struct Launch {
  cuda::Function function = nullptr;
  unsigned grid = 1, block = 1, shared = 0;
  std::vector<uint64_t> values;   // addresses, then scalars
  std::vector<void*> parameters;  // of `values`, which move with the launch and are never copied
};
struct Copy {
  cuda::Address to = 0, from = 0;
  size_t bytes = 0;
};
struct Step {
  std::variant<Launch, Copy> what;
  std::string title;
};

struct LoadedEntry {
  std::vector<Step> steps;
  std::map<int64_t, GraphExecHandle> graphs;  // by the number of steps
};

}  // namespace

std::string cuda_arch(const CudaInfo& info) {
  return fmt::format("sm_{}{}{}", info.major, info.minor, info.major == 9 && info.minor == 0 ? "a" : "");
}

struct CudaDevice::Impl {
  CudaDeviceOptions options;
  CudaInfo info;
  const Driver& driver;
  cuda::DeviceNumber device = 0;
  cuda::Context context = nullptr;
  StreamHandle stream, copies;
  std::vector<EventHandle> executed;  // of submission n at n % kEvents
  EventHandle copied;
  bool copy_pending = false;
  uint64_t submitted = 0, done = 0;
  std::map<void*, Memory> allocations;
  Segments segments{};
  std::vector<ModuleHandle> modules;
  std::vector<LoadedEntry> entries;

  Impl(CudaDeviceOptions o, CudaInfo i)
      : options(std::move(o)),
        info(std::move(i)),
        driver(*find_driver()),
        stream(driver),
        copies(driver),
        copied(driver) {
    check(driver.DeviceGet(&device, options.number), "cuDeviceGet");
    check(driver.DevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    enter();
    check(driver.StreamCreate(stream.put(), cuda::kStreamNonBlocking), "cuStreamCreate");
    check(driver.StreamCreate(copies.put(), cuda::kStreamNonBlocking), "cuStreamCreate");
    check(driver.EventCreate(copied.put(), cuda::kEventDisableTiming), "cuEventCreate");
    for (uint64_t e = 0; e < kEvents; ++e)
      check(driver.EventCreate(executed.emplace_back(driver).put(), cuda::kEventDisableTiming), "cuEventCreate");
  }

  void check(cuda::Status status, const char* call) const { driver.check(status, call); }
  // The context belongs to the thread: any may call.
  void enter() const { check(driver.CtxSetCurrent(context), "cuCtxSetCurrent"); }

  cuda::Address locate(const codegen::Address& a) const {
    return address(segments[static_cast<size_t>(a.segment)]) + static_cast<cuda::Address>(a.offset);
  }

  // --- loading ---

  std::vector<std::string> images(const codegen::Program& program) const {
    const KernelCache cache(options.kernel_cache.empty() ? kernel_cache_folder() : options.kernel_cache);
    CudaBinary binary = compile_for_cuda(
        program.source, {.arch = cuda_arch(info), .ptx = options.ptx, .parts = options.ptx ? 1 : kCompileParts}, cache);
    return options.ptx ? std::vector<std::string>{binary.ptx} : std::move(binary.images);
  }

  // By name, from whichever module has it.
  cuda::Function find(const std::string& name) const {
    for (const ModuleHandle& m : modules) {
      cuda::Function f = nullptr;
      if (driver.ModuleGetFunction(&f, m.get(), name.c_str()) == cuda::kSuccess) return f;
    }
    HEDDLE_CHECK(false, fmt::format("kernel '{}' is in no module of its program", name));
    return nullptr;
  }

  void allow_shared(cuda::Function f, const codegen::Kernel& k) const {
    if (k.shared_bytes <= kStaticSharedBytes) return;
    check(driver.FuncSetAttribute(f, cuda::kMaxDynamicSharedBytes, static_cast<int>(k.shared_bytes)),
          "cuFuncSetAttribute");
  }

  // A fixed number of blocks, or as many as run at once.
  unsigned grid_of(cuda::Function f, const codegen::Kernel& k) const {
    if (k.blocks > 0) return static_cast<unsigned>(k.blocks);
    int resident = 0;
    check(driver.OccupancyMaxActiveBlocks(&resident, f, static_cast<int>(k.block), static_cast<size_t>(k.shared_bytes)),
          "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    const int64_t most = std::max<int64_t>(1, int64_t{resident} * info.multiprocessors);
    return static_cast<unsigned>(std::clamp<int64_t>(k.max_blocks, 1, most));
  }

  Step bind(const codegen::Program& program, const codegen::Launch& l) const {
    const codegen::Kernel& k = program.kernels[static_cast<size_t>(l.kernel)];
    HEDDLE_CHECK(std::ssize(l.arguments) == k.arguments && l.scalars.size() == k.scalars.size(),
                 fmt::format("a launch has the arguments of its kernel '{}'", k.name));
    Launch launch;
    launch.function = find(k.name);
    allow_shared(launch.function, k);
    launch.grid = grid_of(launch.function, k);
    launch.block = static_cast<unsigned>(k.block);
    launch.shared = static_cast<unsigned>(k.shared_bytes);
    for (const codegen::Argument& a : l.arguments) launch.values.push_back(locate(a.at));
    for (const codegen::ScalarArgument& s : l.scalars) launch.values.push_back(s.bits);
    for (uint64_t& v : launch.values) launch.parameters.push_back(&v);
    return {std::move(launch), k.title};
  }
  Step bind(const codegen::Program&, const codegen::Copy& c) const {
    return {Copy{locate(c.to), locate(c.from), static_cast<size_t>(c.bytes)}, "copy"};
  }
  Step bind(const codegen::Program& program, const codegen::Library& call) const {
    throw UserError(ExitCode::missing,
                    fmt::format("'{}' calls {}, which the CUDA device does not have", call.title, call.impl),
                    fmt::format("compile the program for a GPU: it was made for '{}'", program.target));
  }

  // --- execution ---

  void launch(const Launch& l) const {
    // The driver reads the parameters and changes none.
    check(driver.LaunchKernel(l.function, l.grid, 1, 1, l.block, 1, 1, l.shared, stream.get(),
                              const_cast<void**>(l.parameters.data()), nullptr),  // NOLINT
          "cuLaunchKernel");
  }
  void launch(const Copy& c) const {
    check(driver.MemcpyDtoDAsync(c.to, c.from, c.bytes, stream.get()), "cuMemcpyDtoDAsync");
  }
  void launch(const Step& s) const {
    std::visit([&](const auto& what) { launch(what); }, s.what);
  }

  GraphExecHandle record(const LoadedEntry& entry, int64_t repeats) const {
    GraphHandle graph(driver);
    GraphExecHandle exec(driver);
    check(driver.StreamBeginCapture(stream.get(), cuda::kCaptureThreadLocal), "cuStreamBeginCapture");
    try {
      for (int64_t i = 0; i < repeats; ++i)
        for (const Step& s : entry.steps) launch(s);
    } catch (...) {
      driver.StreamEndCapture(stream.get(), graph.put());  // the stream is of use again
      throw;
    }
    check(driver.StreamEndCapture(stream.get(), graph.put()), "cuStreamEndCapture");
    check(driver.GraphInstantiate(exec.put(), graph.get(), 0), "cuGraphInstantiateWithFlags");
    check(driver.GraphUpload(exec.get(), stream.get()), "cuGraphUpload");
    return exec;
  }

  void synchronize() const { check(driver.StreamSynchronize(stream.get()), "cuStreamSynchronize"); }
};

CudaDevice::CudaDevice(CudaDeviceOptions options) {
  const std::vector<CudaInfo> all = cuda_devices();
  if (options.number < 0 || options.number >= std::ssize(all))
    throw UserError(ExitCode::missing,
                    fmt::format("there is no CUDA device {}: the driver sees {}", options.number, all.size()),
                    "devices count from cuda:0; heddle doctor lists them");
  const auto number = static_cast<size_t>(options.number);
  impl_ = std::make_unique<Impl>(std::move(options), all[number]);
}

CudaDevice::~CudaDevice() {
  const Driver& driver = impl_->driver;
  const cuda::DeviceNumber device = impl_->device;
  driver.CtxSetCurrent(impl_->context);
  driver.StreamSynchronize(impl_->stream.get());
  driver.StreamSynchronize(impl_->copies.get());
  for (const auto& [memory, kind] : impl_->allocations)
    kind == Memory::shared ? driver.MemFreeHost(memory) : driver.MemFree(address(memory));
  impl_.reset();
  driver.DevicePrimaryCtxRelease(device);
}

std::string CudaDevice::description() const {
  const CudaInfo& i = impl_->info;
  return fmt::format("cuda:{}: {}, {} multiprocessors, {:.0f} GB, CUDA {}", impl_->options.number, i.name,
                     i.multiprocessors, static_cast<double>(i.memory_bytes) / 1e9, i.driver_version);
}

void* CudaDevice::allocate(int64_t bytes, Memory kind) {
  Impl& d = *impl_;
  d.enter();
  const auto size = static_cast<size_t>(bytes);
  void* memory = nullptr;
  if (kind == Memory::shared) {
    d.check(d.driver.MemHostAlloc(&memory, size, cuda::kHostMapped), "cuMemHostAlloc");
    std::fill_n(static_cast<char*>(memory), size, '\0');
  } else {
    cuda::Address at = 0;
    d.check(d.driver.MemAlloc(&at, size), "cuMemAlloc");
    memory = std::bit_cast<void*>(static_cast<uintptr_t>(at));
    d.check(d.driver.MemsetD8Async(at, 0, size, d.stream.get()), "cuMemsetD8Async");
  }
  d.allocations.emplace(memory, kind);
  return memory;
}

void CudaDevice::release(void* memory) {
  Impl& d = *impl_;
  const auto it = d.allocations.find(memory);
  HEDDLE_CHECK(it != d.allocations.end(), "release of memory that was not allocated here");
  d.enter();
  d.synchronize();
  if (it->second == Memory::shared)
    d.check(d.driver.MemFreeHost(memory), "cuMemFreeHost");
  else
    d.check(d.driver.MemFree(address(memory)), "cuMemFree");
  d.allocations.erase(it);
}

void CudaDevice::write(void* to, const void* from, int64_t bytes) {
  Impl& d = *impl_;
  d.enter();
  // From memory that is not pinned: the driver has read it when the call returns.
  d.check(d.driver.MemcpyHtoDAsync(address(to), from, static_cast<size_t>(bytes), d.stream.get()), "cuMemcpyHtoDAsync");
}

void CudaDevice::prefetch(void* to, const void* from, int64_t bytes) {
  Impl& d = *impl_;
  d.enter();
  d.check(d.driver.MemcpyHtoDAsync(address(to), from, static_cast<size_t>(bytes), d.copies.get()), "cuMemcpyHtoDAsync");
  d.check(d.driver.EventRecord(d.copied.get(), d.copies.get()), "cuEventRecord");
  d.copy_pending = true;
}

void CudaDevice::read(void* to, const void* from, int64_t bytes) {
  Impl& d = *impl_;
  d.enter();
  d.check(d.driver.MemcpyDtoHAsync(to, address(from), static_cast<size_t>(bytes), d.stream.get()), "cuMemcpyDtoHAsync");
  d.synchronize();
}

void CudaDevice::load(const codegen::Program& program, const Segments& segments) {
  Impl& d = *impl_;
  d.enter();
  d.segments = segments;
  d.synchronize();  // what is queued may be of the program before
  d.entries.clear();
  d.modules.clear();
  if (!program.kernels.empty())
    for (const std::string& image : d.images(program))
      d.check(d.driver.ModuleLoadData(d.modules.emplace_back(d.driver).put(), image.c_str()), "cuModuleLoadData");
  for (const codegen::Entry& entry : program.entries) {
    LoadedEntry& loaded = d.entries.emplace_back();
    for (const codegen::Step& step : entry.steps)
      loaded.steps.push_back(std::visit([&](const auto& what) { return d.bind(program, what); }, step.what));
    if (loaded.steps.empty()) continue;
    for (const int64_t steps : kGraphSteps)
      if (steps == 1 || entry.fed_rows > 0) loaded.graphs.emplace(steps, d.record(loaded, steps));
  }
  d.synchronize();  // what loading takes is not the first step's
}

uint64_t CudaDevice::submit(size_t entry, int64_t repeats) {
  Impl& d = *impl_;
  d.enter();
  if (d.submitted - d.done == kEvents) wait(d.done + 1);  // its event is used again
  if (d.copy_pending) d.check(d.driver.StreamWaitEvent(d.stream.get(), d.copied.get(), 0), "cuStreamWaitEvent");
  d.copy_pending = false;
  const LoadedEntry& loaded = d.entries.at(entry);
  for (const int64_t steps : kGraphSteps) {
    const auto graph = loaded.graphs.find(steps);
    for (; graph != loaded.graphs.end() && repeats >= steps; repeats -= steps)
      d.check(d.driver.GraphLaunch(graph->second.get(), d.stream.get()), "cuGraphLaunch");
  }
  ++d.submitted;
  d.check(d.driver.EventRecord(d.executed[d.submitted % kEvents].get(), d.stream.get()), "cuEventRecord");
  return d.submitted;
}

uint64_t CudaDevice::poll() {
  Impl& d = *impl_;
  d.enter();
  while (d.done < d.submitted) {
    const cuda::Status status = d.driver.EventQuery(d.executed[(d.done + 1) % kEvents].get());
    if (status == cuda::kNotReady) break;
    d.check(status, "cuEventQuery");
    ++d.done;
  }
  return d.done;
}

void CudaDevice::wait(uint64_t submission) {
  Impl& d = *impl_;
  HEDDLE_CHECK(submission <= d.submitted, "wait for a submission that was made");
  if (submission <= d.done) return;
  d.enter();
  d.check(d.driver.EventSynchronize(d.executed[submission % kEvents].get()), "cuEventSynchronize");
  d.done = submission;
}

std::vector<StepTime> CudaDevice::profile(size_t entry, int repeats) {
  Impl& d = *impl_;
  d.enter();
  EventHandle begin(d.driver), end(d.driver);
  d.check(d.driver.EventCreate(begin.put(), 0), "cuEventCreate");
  d.check(d.driver.EventCreate(end.put(), 0), "cuEventCreate");
  std::vector<StepTime> times;
  for (const Step& s : d.entries.at(entry).steps) times.push_back({s.title, std::numeric_limits<double>::infinity()});
  for (int r = 0; r < repeats; ++r)
    for (size_t i = 0; i < times.size(); ++i) {
      d.check(d.driver.EventRecord(begin.get(), d.stream.get()), "cuEventRecord");
      d.launch(d.entries[entry].steps[i]);
      d.check(d.driver.EventRecord(end.get(), d.stream.get()), "cuEventRecord");
      d.check(d.driver.EventSynchronize(end.get()), "cuEventSynchronize");
      float milliseconds = 0;
      d.check(d.driver.EventElapsedTime(&milliseconds, begin.get(), end.get()), "cuEventElapsedTime");
      times[i].seconds = std::min(times[i].seconds, 1e-3 * static_cast<double>(milliseconds));
    }
  return times;
}

}  // namespace heddle::runtime
