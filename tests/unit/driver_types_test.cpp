// The driver's table against CUDA's own header, where there is one.
#include <gtest/gtest.h>

#include <type_traits>

#include "runtime/cuda/driver.h"
#include "tests/support/alike.h"

#if __has_include(<cuda.h>)
#include <cuda.h>
#define HEDDLE_HAS_CUDA_H 1
#endif

namespace heddle::runtime {
namespace {

#ifdef HEDDLE_HAS_CUDA_H

#define HEDDLE_CHECK_TYPE(exported, field, parameters) \
  static_assert(testing::Alike<decltype(Driver::field), decltype(&::exported)>::value, #exported);
HEDDLE_DRIVER_FUNCTIONS(HEDDLE_CHECK_TYPE)

static_assert(cuda::kOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY && cuda::kNotReady == CUDA_ERROR_NOT_READY);
static_assert(cuda::kNotFound == CUDA_ERROR_NOT_FOUND);
static_assert(cuda::kNoDevice == CUDA_ERROR_NO_DEVICE);
static_assert(cuda::kMultiprocessors == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(cuda::kMultiprocessorThreads == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
static_assert(cuda::kMultiprocessorShared == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
static_assert(cuda::kCapabilityMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(cuda::kCapabilityMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(cuda::kMaxDynamicSharedBytes == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(cuda::kHostMapped == (CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
static_assert(cuda::kStreamNonBlocking == CU_STREAM_NON_BLOCKING);
static_assert(cuda::kEventDisableTiming == CU_EVENT_DISABLE_TIMING);
static_assert(cuda::kCaptureThreadLocal == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);

TEST(Driver, TypesAreThoseOfTheHeader) { SUCCEED() << "checked while this file was compiled"; }

#else

TEST(Driver, TypesAreThoseOfTheHeader) { GTEST_SKIP() << "no cuda.h"; }

#endif

}  // namespace
}  // namespace heddle::runtime
