#include "runtime/cuda/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "ir/diagnostic.h"
#include "runtime/cuda/open_library.h"

namespace heddle::runtime {
namespace {

constexpr int kOldestDriver = 13000;  // of release 580: what loads the machine code and the PTX of NVRTC 13
constexpr int kOldestMajor = 8;       // products are copied into shared memory as they run

struct Found {
  Driver driver;
  bool ok = false;
  std::string reason;
};

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

// What was opened stays open: the driver cannot be unloaded safely.
Found open_driver() {
  Found found;
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    found.reason = "there is no NVIDIA driver (libcuda.so.1)";
    return found;
  }
  std::string missing;
#define HEDDLE_RESOLVE(exported, field, parameters) \
  if (!resolve(library, #exported, found.driver.field) && missing.empty()) missing = #exported;
  HEDDLE_DRIVER_FUNCTIONS(HEDDLE_RESOLVE)
#undef HEDDLE_RESOLVE
  if (!missing.empty()) {
    found.reason = fmt::format("the NVIDIA driver is too old: it has no {}", missing);
    return found;
  }
  int version = 0;
  if (found.driver.DriverGetVersion(&version) != cuda::kSuccess || version < kOldestDriver) {
    found.reason = fmt::format("the NVIDIA driver is too old: it runs CUDA {}, {} is needed", version_text(version),
                               version_text(kOldestDriver));
    return found;
  }
  if (const cuda::Status status = found.driver.Init(0); status != cuda::kSuccess) {
    found.reason = status == cuda::kNoDevice ? "the NVIDIA driver sees no GPU"
                                             : "the NVIDIA driver does not start: " + found.driver.error_text(status);
    return found;
  }
  found.ok = true;
  return found;
}

CudaInfo describe(const Driver& driver, int number, int version) {
  cuda::DeviceNumber device = 0;
  driver.check(driver.DeviceGet(&device, number), "cuDeviceGet");
  CudaInfo info;
  char name[256] = {};
  driver.check(driver.DeviceGetName(name, sizeof name, device), "cuDeviceGetName");
  info.name = name;
  const auto attribute = [&](int which) {
    int value = 0;
    driver.check(driver.DeviceGetAttribute(&value, which, device), "cuDeviceGetAttribute");
    return value;
  };
  info.major = attribute(cuda::kCapabilityMajor);
  info.minor = attribute(cuda::kCapabilityMinor);
  info.multiprocessors = attribute(cuda::kMultiprocessors);
  info.sm_threads = attribute(cuda::kMultiprocessorThreads);
  info.sm_shared_bytes = attribute(cuda::kMultiprocessorShared);
  info.compute_mode = attribute(cuda::kComputeMode);
  size_t bytes = 0;
  driver.check(driver.DeviceTotalMem(&bytes, device), "cuDeviceTotalMem");
  info.memory_bytes = static_cast<int64_t>(bytes);
  info.driver_version = version_text(version);
  return info;
}

}  // namespace

std::string Driver::error_text(cuda::Status status) const {
  const char *name = nullptr, *text = nullptr;
  if (GetErrorName(status, &name) != cuda::kSuccess || name == nullptr) return fmt::format("error {}", status);
  if (GetErrorString(status, &text) != cuda::kSuccess || text == nullptr) return name;
  return fmt::format("{}: {}", name, text);
}

void Driver::check(cuda::Status status, const char* call) const {
  if (status == cuda::kSuccess) return;
  const std::string message = fmt::format("{}: {}", call, error_text(status));
  if (status == cuda::kOutOfMemory)
    throw UserError(ExitCode::limit, message, "use a smaller batch, or free the GPU of other programs");
  throw UserError(ExitCode::failed, message, "heddle doctor shows the driver and its GPUs");
}

std::string CudaInfo::refusal() const {
  if (compute_mode == cuda::kProhibited) return name + " is in compute mode 'prohibited': no process may use it";
  if (major >= kOldestMajor) return {};
  return fmt::format("{} has compute capability {}.{}, {}.0 is needed", name, major, minor, kOldestMajor);
}

const Driver* find_driver(std::string* reason) {
  static const Found found = open_driver();
  if (!found.ok && reason != nullptr) *reason = found.reason;
  return found.ok ? &found.driver : nullptr;
}

std::vector<CudaInfo> cuda_devices() {
  constexpr const char* kRemedy = "leave --device out: the host device runs the model; heddle doctor says more";
  std::string reason;
  const Driver* driver = find_driver(&reason);
  if (driver == nullptr) throw UserError(ExitCode::missing, "no CUDA device: " + reason, kRemedy);
  int count = 0, version = 0;
  driver->check(driver->DeviceGetCount(&count), "cuDeviceGetCount");
  driver->check(driver->DriverGetVersion(&version), "cuDriverGetVersion");
  if (count == 0) throw UserError(ExitCode::missing, "no CUDA device: the NVIDIA driver sees no GPU", kRemedy);
  std::vector<CudaInfo> all;
  all.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) all.push_back(describe(*driver, i, version));
  return all;
}

}  // namespace heddle::runtime
