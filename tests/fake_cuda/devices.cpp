// The driver itself, its one GPU and its context.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/fake_cuda/stream.h"

namespace heddle::fake_cuda {
namespace {

constexpr int kVersion = 13000;
int context_marker;

int setting(const char* name, int otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::atoi(value);
}

// The memory of an H200.
size_t memory_bytes() {
  const char* value = std::getenv("HEDDLE_FAKE_CUDA_MEMORY");
  return value == nullptr ? size_t{141} * 1000 * 1000 * 1000 : std::strtoull(value, nullptr, 10);
}

}  // namespace

size_t free_bytes() {
  size_t taken = 0;
  for (const auto& allocation : world().memory.allocations())
    if (allocation->owned) taken += allocation->bytes;
  return memory_bytes() - std::min(taken, memory_bytes());
}

int multiprocessor_shared() { return setting("HEDDLE_FAKE_CUDA_SHARED", 233472); }
int multiprocessors() { return setting("HEDDLE_FAKE_CUDA_MULTIPROCESSORS", 132); }

extern "C" {

Status cuInit(unsigned) {
  if (setting("HEDDLE_FAKE_CUDA_GPUS", 1) == 0) return 100;  // CUDA_ERROR_NO_DEVICE
  world().initialised = true;
  return kSuccess;
}

// NVRTC opens libcuda.so.1 too, where there is one, and asks for tables that nobody documents: there are none.
Status cuGetExportTable(const void** table, const void*) {
  *table = nullptr;
  return kNotFound;
}

Status cuDriverGetVersion(int* version) {
  *version = setting("HEDDLE_FAKE_CUDA_VERSION", kVersion);
  return kSuccess;
}

Status cuGetErrorName(Status status, const char** name) {
  switch (status) {
    case kInvalidValue: *name = "CUDA_ERROR_INVALID_VALUE"; break;
    case kOutOfMemory: *name = "CUDA_ERROR_OUT_OF_MEMORY"; break;
    case kInvalidImage: *name = "CUDA_ERROR_INVALID_IMAGE"; break;
    case kIllegalAddress: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; break;
    case kLaunchFailed: *name = "CUDA_ERROR_LAUNCH_FAILED"; break;
    default: *name = "CUDA_ERROR_OF_THE_FAKE"; break;
  }
  return kSuccess;
}
Status cuGetErrorString(Status status, const char** text) {
  *text = status == kOutOfMemory ? "out of memory" : "as the fake driver says";
  return kSuccess;
}

Status cuDeviceGetCount(int* count) {
  *count = setting("HEDDLE_FAKE_CUDA_GPUS", 1);
  return kSuccess;
}
Status cuDeviceGet(int* device, int number) {
  *device = number;
  return number == 0 ? kSuccess : kInvalidValue;
}
Status cuDeviceGetName(char* name, int size, int) {
  const char* given = std::getenv("HEDDLE_FAKE_CUDA_NAME");
  std::snprintf(name, static_cast<size_t>(size), "%s", given == nullptr ? "NVIDIA H200 NVL" : given);
  return kSuccess;
}
Status cuDeviceGetAttribute(int* value, int attribute, int) {
  const int capability = setting("HEDDLE_FAKE_CUDA_CAPABILITY", 90);
  switch (attribute) {
    case 16: *value = multiprocessors(); break;
    case 20: *value = setting("HEDDLE_FAKE_CUDA_MODE", 0); break;
    case 39: *value = kMultiprocessorThreads; break;
    case 75: *value = capability / 10; break;
    case 76: *value = capability % 10; break;
    case 81: *value = multiprocessor_shared(); break;
    default: *value = 0; return kInvalidValue;
  }
  return kSuccess;
}
Status cuDeviceTotalMem_v2(size_t* bytes, int) {
  *bytes = memory_bytes();
  return kSuccess;
}
Status cuMemGetInfo_v2(size_t* free, size_t* all) {
  const Call call("cuMemGetInfo");
  *all = memory_bytes(), *free = free_bytes();
  return call.status();
}

Status cuDevicePrimaryCtxRetain(void** context, int) {
  const Call call("cuDevicePrimaryCtxRetain");
  if (call.status() != kSuccess) return call.status();
  *context = &context_marker;
  ++world().alive["context"];
  return kSuccess;
}
Status cuDevicePrimaryCtxRelease_v2(int) {
  const Call call("cuDevicePrimaryCtxRelease");
  --world().alive["context"];
  return call.status();
}
Status cuCtxSetCurrent(void* context) {
  const Call call("cuCtxSetCurrent");
  if (context != &context_marker) world().violate("cuCtxSetCurrent of a context that is not there");
  return call.status();
}

}  // extern "C"

}  // namespace heddle::fake_cuda
