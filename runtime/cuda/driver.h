// Driver: the functions of NVIDIA's driver library that Heddle calls. They are looked up when one is first needed.
//
//   const Driver* driver = find_driver();       // nullptr where there is no libcuda.so.1
//   driver->check(driver->MemAlloc(&at, bytes), "cuMemAlloc");
//
// The library is not linked, and no CUDA header is needed: the types below repeat its C interface. A test compares them
// with the header where one is installed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::runtime {

namespace cuda {
using Status = int;  // CUresult: 0 is success
using DeviceNumber = int;
using Address = unsigned long long;  // CUdeviceptr
using Context = struct CUctx_st*;
using Module = struct CUmod_st*;
using Function = struct CUfunc_st*;
using Stream = struct CUstream_st*;
using Event = struct CUevent_st*;
using Graph = struct CUgraph_st*;
using GraphExec = struct CUgraphExec_st*;

constexpr Status kSuccess = 0, kOutOfMemory = 2, kNotFound = 500, kNotReady = 600;
constexpr Status kNoDevice = 100;
// CUdevice_attribute
constexpr int kMultiprocessors = 16, kMultiprocessorThreads = 39, kCapabilityMajor = 75, kCapabilityMinor = 76;
constexpr int kMultiprocessorShared = 81, kComputeMode = 20;
// CUcomputemode: the GPU serves any number of processes, none, or one
constexpr int kShared = 0, kProhibited = 2, kOneProcess = 3;
// CUfunction_attribute
constexpr int kMaxDynamicSharedBytes = 8;
constexpr unsigned kHostMapped = 0x03;       // CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP
constexpr unsigned kStreamNonBlocking = 1;   // CU_STREAM_NON_BLOCKING
constexpr unsigned kEventDisableTiming = 2;  // CU_EVENT_DISABLE_TIMING
constexpr int kCaptureThreadLocal = 1;       // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
}  // namespace cuda

// The name that the library exports, the field's name, the type. One list makes the fields, resolves and checks them.
#define HEDDLE_DRIVER_FUNCTIONS(X)                                                                                \
  X(cuInit, Init, (unsigned))                                                                                     \
  X(cuDriverGetVersion, DriverGetVersion, (int*))                                                                 \
  X(cuGetErrorName, GetErrorName, (cuda::Status, const char**))                                                   \
  X(cuGetErrorString, GetErrorString, (cuda::Status, const char**))                                               \
  X(cuDeviceGetCount, DeviceGetCount, (int*))                                                                     \
  X(cuDeviceGet, DeviceGet, (cuda::DeviceNumber*, int))                                                           \
  X(cuDeviceGetName, DeviceGetName, (char*, int, cuda::DeviceNumber))                                             \
  X(cuDeviceGetAttribute, DeviceGetAttribute, (int*, int, cuda::DeviceNumber))                                    \
  X(cuDeviceTotalMem_v2, DeviceTotalMem, (size_t*, cuda::DeviceNumber))                                           \
  X(cuDevicePrimaryCtxRetain, DevicePrimaryCtxRetain, (cuda::Context*, cuda::DeviceNumber))                       \
  X(cuDevicePrimaryCtxRelease_v2, DevicePrimaryCtxRelease, (cuda::DeviceNumber))                                  \
  X(cuCtxSetCurrent, CtxSetCurrent, (cuda::Context))                                                              \
  X(cuMemGetInfo_v2, MemGetInfo, (size_t*, size_t*))                                                              \
  X(cuMemAlloc_v2, MemAlloc, (cuda::Address*, size_t))                                                            \
  X(cuMemFree_v2, MemFree, (cuda::Address))                                                                       \
  X(cuMemHostAlloc, MemHostAlloc, (void**, size_t, unsigned))                                                     \
  X(cuMemFreeHost, MemFreeHost, (void*))                                                                          \
  X(cuMemsetD8Async, MemsetD8Async, (cuda::Address, unsigned char, size_t, cuda::Stream))                         \
  X(cuMemcpyHtoDAsync_v2, MemcpyHtoDAsync, (cuda::Address, const void*, size_t, cuda::Stream))                    \
  X(cuMemcpyDtoHAsync_v2, MemcpyDtoHAsync, (void*, cuda::Address, size_t, cuda::Stream))                          \
  X(cuMemcpyDtoDAsync_v2, MemcpyDtoDAsync, (cuda::Address, cuda::Address, size_t, cuda::Stream))                  \
  X(cuStreamCreate, StreamCreate, (cuda::Stream*, unsigned))                                                      \
  X(cuStreamDestroy_v2, StreamDestroy, (cuda::Stream))                                                            \
  X(cuStreamSynchronize, StreamSynchronize, (cuda::Stream))                                                       \
  X(cuStreamWaitEvent, StreamWaitEvent, (cuda::Stream, cuda::Event, unsigned))                                    \
  X(cuStreamBeginCapture_v2, StreamBeginCapture, (cuda::Stream, int))                                             \
  X(cuStreamEndCapture, StreamEndCapture, (cuda::Stream, cuda::Graph*))                                           \
  X(cuEventCreate, EventCreate, (cuda::Event*, unsigned))                                                         \
  X(cuEventDestroy_v2, EventDestroy, (cuda::Event))                                                               \
  X(cuEventRecord, EventRecord, (cuda::Event, cuda::Stream))                                                      \
  X(cuEventQuery, EventQuery, (cuda::Event))                                                                      \
  X(cuEventSynchronize, EventSynchronize, (cuda::Event))                                                          \
  X(cuEventElapsedTime, EventElapsedTime, (float*, cuda::Event, cuda::Event))                                     \
  X(cuModuleLoadData, ModuleLoadData, (cuda::Module*, const void*))                                               \
  X(cuModuleUnload, ModuleUnload, (cuda::Module))                                                                 \
  X(cuModuleGetFunction, ModuleGetFunction, (cuda::Function*, cuda::Module, const char*))                         \
  X(cuFuncSetAttribute, FuncSetAttribute, (cuda::Function, int, int))                                             \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, OccupancyMaxActiveBlocks, (int*, cuda::Function, int, size_t))   \
  X(cuLaunchKernel, LaunchKernel,                                                                                 \
    (cuda::Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cuda::Stream, void**,  \
     void**))                                                                                                     \
  X(cuLaunchCooperativeKernel, LaunchCooperativeKernel,                                                           \
    (cuda::Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cuda::Stream, void**)) \
  X(cuGraphInstantiateWithFlags, GraphInstantiate, (cuda::GraphExec*, cuda::Graph, unsigned long long))           \
  X(cuGraphUpload, GraphUpload, (cuda::GraphExec, cuda::Stream))                                                  \
  X(cuGraphLaunch, GraphLaunch, (cuda::GraphExec, cuda::Stream))                                                  \
  X(cuGraphExecDestroy, GraphExecDestroy, (cuda::GraphExec))                                                      \
  X(cuGraphDestroy, GraphDestroy, (cuda::Graph))

struct Driver {
// NOLINTBEGIN(bugprone-macro-parentheses): with parentheses it would declare nothing
#define HEDDLE_FIELD(exported, field, parameters) cuda::Status(*field) parameters = nullptr;
  HEDDLE_DRIVER_FUNCTIONS(HEDDLE_FIELD)
#undef HEDDLE_FIELD
  // NOLINTEND(bugprone-macro-parentheses)

  // Throws UserError where `status` is not success: "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY: out of memory". The exit
  // code is `limit` where memory is short, else `failed`.
  void check(cuda::Status status, const char* call) const;
  std::string error_text(cuda::Status status) const;
};

// Returns the driver, which is opened and initialised once. Returns nullptr where there is none; `reason` then says
// why: no library, an old one, or the error of cuInit.
const Driver* find_driver(std::string* reason = nullptr);

struct CudaInfo {
  std::string name;          // "NVIDIA H200"
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 0;
  int64_t sm_threads = 0, sm_shared_bytes = 0;  // per multiprocessor, as in ir::Target
  int64_t memory_bytes = 0;
  int compute_mode = cuda::kShared;
  std::string driver_version;  // "13.0": the newest CUDA that it runs

  // Why kernels cannot run on this GPU; empty where they can.
  std::string refusal() const;
};
// The GPUs that the driver sees. Throws UserError (exit 3, with the reason) where there is no driver or no GPU.
std::vector<CudaInfo> cuda_devices();

}  // namespace heddle::runtime
