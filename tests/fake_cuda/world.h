// The fake driver's world: what has been made and not given back, what was done wrong, and what was
// counted.
//
// It stands in for NVIDIA's libcuda.so.1 in tests: found by that name, with the functions that
// runtime/cuda/driver.h lists. Nothing is executed before somebody waits for it, so that whoever
// does not wait reads old data; kernels are PTX, which the interpreter executes and checks. A use
// that a driver may punish at any later time is a violation, reported at once.
//
//   HEDDLE_FAKE_CUDA_REPORT=FILE   violations and counts, a line each, when the process ends
//   HEDDLE_FAKE_CUDA_NAME=NAME     the GPU's name (default NVIDIA H200 NVL)
//   HEDDLE_FAKE_CUDA_CAPABILITY=86 its compute capability, here 8.6 (default 9.0)
//   HEDDLE_FAKE_CUDA_MODE=2        its compute mode: 0 shared by processes (default), 2 prohibited, 3 one process
//   HEDDLE_FAKE_CUDA_SHARED=BYTES  shared memory of a multiprocessor (default an H200's)
//   HEDDLE_FAKE_CUDA_FAIL=CALL:N   the N-th call of that function fails: out of memory, or an error of launches;
//                                  CALL:N+ and all calls after it, as after a kernel that touched what is not there
//   HEDDLE_FAKE_CUDA_RACES=0       kernels are not watched for races
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tests/ptx/launch.h"

namespace heddle::fake_cuda {

using Status = int;  // CUresult
constexpr Status kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kNotInitialized = 3, kInvalidImage = 200,
                 kInvalidHandle = 400, kNotFound = 500, kNotReady = 600, kIllegalAddress = 700, kLaunchFailed = 719,
                 kTooManyBlocks = 720, kCaptureUnsupported = 900, kCaptureInvalidated = 901;

// Of the GPU: what the environment variable HEDDLE_FAKE_CUDA_MULTIPROCESSORS says, or an H200's.
int multiprocessors();
constexpr int kMultiprocessorThreads = 2048;
int multiprocessor_shared();
size_t free_bytes();  // of the GPU

struct Stream;

struct World {
  std::recursive_mutex lock;
  bool initialised = false;
  ptx::DeviceMemory memory;
  std::map<void*, size_t> pinned;  // host memory that the device may use
  std::set<std::unique_ptr<Stream>> streams;
  std::map<std::string, int64_t> counts;  // "kernels", "graph launches", "allocations", "waits", ...
  std::vector<std::string> violations;
  std::map<std::string, int64_t> alive;  // "module", "stream", "event", "graph", "executable graph"
  Status sticky = kSuccess;              // after a kernel that ended at a finding, every call fails

  World();
  ~World();
  void violate(const std::string& what);
  std::string report() const;
  // Whether this call is the one that HEDDLE_FAKE_CUDA_FAIL names.
  bool fails(const std::string& call);
  bool fail_for_good() const { return fail_for_good_; }

 private:
  void report_leaks();

  std::string fail_call_;
  bool fail_for_good_ = false;
  int64_t fail_at_ = 0;
};

World& world();

// Each exported function begins with one: one call at a time, counted, refused after a sticky error
// or where the environment says so.
class Call {
 public:
  explicit Call(const char* name);
  Status status() const { return status_; }  // what the call must return at once, unless success

 private:
  std::scoped_lock<std::recursive_mutex> lock_;
  Status status_ = kSuccess;
};

}  // namespace heddle::fake_cuda
