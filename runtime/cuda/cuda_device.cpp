#include "runtime/cuda/cuda_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <optional>

#include "ir/check.h"
#include "ir/diagnostic.h"
#include "runtime/compile/kernel_cache.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/loaded_program.h"
#include "runtime/cuda/nvrtc.h"

namespace heddle::runtime {
namespace {

constexpr uint64_t kEvents = 8;  // submissions that can be told apart

cuda::Address address(const void* p) { return std::bit_cast<uintptr_t>(p); }

// Holds the primary context of a GPU.
class PrimaryContext {
 public:
  PrimaryContext(const Driver& driver, int number) : driver_(driver) {
    driver.check(driver.DeviceGet(&device_, number), "cuDeviceGet");
    driver.check(driver.DevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
  }
  ~PrimaryContext() { driver_.DevicePrimaryCtxRelease(device_); }
  PrimaryContext(const PrimaryContext&) = delete;
  PrimaryContext& operator=(const PrimaryContext&) = delete;
  cuda::Context get() const { return context_; }

 private:
  const Driver& driver_;
  cuda::DeviceNumber device_ = 0;
  cuda::Context context_ = nullptr;
};

}  // namespace

std::string cuda_arch(const CudaInfo& info) {
  const std::vector<int> known = find_nvrtc().capabilities;
  const int wanted = 10 * info.major + info.minor;
  const auto after = std::ranges::upper_bound(known, wanted);
  // PTX for an architecture with an "a" does not run on later ones.
  if (after != known.begin() && *std::prev(after) != wanted) return fmt::format("compute_{}", *std::prev(after));
  return fmt::format("sm_{}{}{}", info.major, info.minor, info.major == 9 && info.minor == 0 ? "a" : "");
}

bool is_ptx(const std::string& arch) { return arch.starts_with("compute_"); }

struct CudaDevice::Impl {
  CudaDeviceOptions options;
  CudaInfo info;
  const Driver& driver;
  PrimaryContext context;  // before what is made in it, so that it goes last
  StreamHandle stream, copies;
  std::vector<EventHandle> executed;  // of submission n at n % kEvents
  EventHandle copied;
  bool copy_pending = false;
  uint64_t submitted = 0, done = 0;
  std::map<void*, Memory> allocations;
  std::optional<LoadedProgram> program;

  Impl(CudaDeviceOptions o, CudaInfo i)
      : options(std::move(o)),
        info(std::move(i)),
        driver(*find_driver()),
        context(driver, options.number),
        stream(driver),
        copies(driver),
        copied(driver) {
    enter();
    check(driver.StreamCreate(stream.put(), cuda::kStreamNonBlocking), "cuStreamCreate");
    check(driver.StreamCreate(copies.put(), cuda::kStreamNonBlocking), "cuStreamCreate");
    check(driver.EventCreate(copied.put(), cuda::kEventDisableTiming), "cuEventCreate");
    for (uint64_t e = 0; e < kEvents; ++e)
      check(driver.EventCreate(executed.emplace_back(driver).put(), cuda::kEventDisableTiming), "cuEventCreate");
  }

  void check(cuda::Status status, const char* call) const { driver.check(status, call); }
  // A context is current per thread, and any thread may call.
  void enter() const { check(driver.CtxSetCurrent(context.get()), "cuCtxSetCurrent"); }

  // Seconds from a graph's launch to its end: the least of several runs.
  double seconds_of(const GraphExecHandle& graph) const {
    constexpr int kRuns = 3;
    EventHandle begin(driver), end(driver);
    check(driver.EventCreate(begin.put(), 0), "cuEventCreate");
    check(driver.EventCreate(end.put(), 0), "cuEventCreate");
    double least = std::numeric_limits<double>::infinity();
    for (int run = 0; run < kRuns; ++run) {
      check(driver.EventRecord(begin.get(), stream.get()), "cuEventRecord");
      check(driver.GraphLaunch(graph.get(), stream.get()), "cuGraphLaunch");
      check(driver.EventRecord(end.get(), stream.get()), "cuEventRecord");
      check(driver.EventSynchronize(end.get()), "cuEventSynchronize");
      float milliseconds = 0;
      check(driver.EventElapsedTime(&milliseconds, begin.get(), end.get()), "cuEventElapsedTime");
      least = std::min(least, 1e-3 * static_cast<double>(milliseconds));
    }
    return least;
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
  if (const std::string refusal = all[number].refusal(); !refusal.empty())
    throw UserError(ExitCode::missing, fmt::format("no CUDA device: {}", refusal),
                    "leave --device out: the host device runs the model where no GPU can");
  impl_ = std::make_unique<Impl>(std::move(options), all[number]);
}

CudaDevice::~CudaDevice() {
  const Driver& driver = impl_->driver;
  driver.CtxSetCurrent(impl_->context.get());
  driver.StreamSynchronize(impl_->stream.get());
  driver.StreamSynchronize(impl_->copies.get());
  for (const auto& [memory, kind] : impl_->allocations)
    kind == Memory::shared ? driver.MemFreeHost(memory) : driver.MemFree(address(memory));
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
    d.allocations.emplace(memory, kind);
    std::fill_n(static_cast<char*>(memory), size, '\0');
  } else {
    cuda::Address at = 0;
    d.check(d.driver.MemAlloc(&at, size), "cuMemAlloc");
    memory = std::bit_cast<void*>(static_cast<uintptr_t>(at));
    d.allocations.emplace(memory, kind);  // before what may fail, so that it is given back
    d.check(d.driver.MemsetD8Async(at, 0, size, d.stream.get()), "cuMemsetD8Async");
  }
  return memory;
}

void CudaDevice::release(void* memory) {
  Impl& d = *impl_;
  const auto it = d.allocations.find(memory);
  HEDDLE_CHECK(it != d.allocations.end(), "release of memory that was not allocated here");
  // Destructors call this, so it does not throw. A driver that fails here reports the error at another call.
  d.driver.CtxSetCurrent(d.context.get());
  d.driver.StreamSynchronize(d.stream.get());
  d.driver.StreamSynchronize(d.copies.get());
  it->second == Memory::shared ? d.driver.MemFreeHost(memory) : d.driver.MemFree(address(memory));
  d.allocations.erase(it);
}

int64_t CudaDevice::free_bytes() const {
  impl_->enter();
  size_t free = 0, all = 0;
  impl_->check(impl_->driver.MemGetInfo(&free, &all), "cuMemGetInfo");
  return std::min(static_cast<int64_t>(free), impl_->options.most_free_bytes);
}

void CudaDevice::write(void* to, const void* from, int64_t bytes) {
  Impl& d = *impl_;
  d.enter();
  // The memory is not pinned, so the driver has read it when the call returns.
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
  if (d.options.packed) d.options.packed->require(program);
  d.enter();
  d.synchronize();  // what is queued may be of the program before
  const std::string arch = d.options.packed ? d.options.packed->folder : cuda_arch(d.info);
  d.program.reset();
  d.program.emplace(
      d.driver, program, segments,
      LoadOptions{.arch = arch,
                  .ptx = d.options.ptx || is_ptx(arch),
                  .persistent = d.options.persistent,
                  .kernel_cache = d.options.kernel_cache.empty() ? kernel_cache_folder() : d.options.kernel_cache,
                  .multiprocessors = d.info.multiprocessors,
                  .stream = d.stream.get(),
                  .packed = d.options.packed ? &*d.options.packed : nullptr});
  d.synchronize();  // what loading takes is not the first step's
}

uint64_t CudaDevice::submit(size_t entry, int64_t repeats) {
  Impl& d = *impl_;
  d.enter();
  if (d.submitted - d.done == kEvents) wait(d.done + 1);  // its event is used again
  if (d.copy_pending) d.check(d.driver.StreamWaitEvent(d.stream.get(), d.copied.get(), 0), "cuStreamWaitEvent");
  d.copy_pending = false;
  d.program->run(entry, repeats);
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

// The time between two events around one launch includes the host's latency, which may exceed the kernel's time. A
// graph of 2n copies of a step has the same latency as one of n copies, and takes n steps longer. So the difference is
// the time of n steps.
StepProfile CudaDevice::profile(size_t entry, int64_t repeats, bool) {
  constexpr double kEnough = 2e-4;  // seconds of a graph: hundreds of times what an event's clock tells apart
  constexpr double kMostCopies = 16;
  Impl& d = *impl_;
  d.enter();
  StepProfile profile;
  for (size_t i = 0; i < d.program->step_count(entry); ++i) {
    double sum = 0;
    for (int64_t r = 0; r < repeats; ++r) {
      const double with_latency = d.seconds_of(d.program->record_step(entry, i, 1));
      const auto n = static_cast<int64_t>(std::clamp(kEnough / std::max(with_latency, 1e-9), 1.0, kMostCopies));
      const double once = d.seconds_of(d.program->record_step(entry, i, n));
      const double twice = d.seconds_of(d.program->record_step(entry, i, 2 * n));
      sum += std::max(0.0, twice - once) / static_cast<double>(n);
    }
    const double each = sum / static_cast<double>(repeats);
    profile.steps.push_back({d.program->title(entry, i), each * static_cast<double>(d.program->executions(entry, i))});
  }
  return profile;
}

}  // namespace heddle::runtime
