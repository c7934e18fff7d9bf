#include "tests/cuda/fake_gpu.h"

#include <dlfcn.h>

#include <array>
#include <cstring>
#include <functional>
#include <numeric>

#include "runtime/data/keyed_random.h"
#include "tests/ptx/real.h"

namespace heddle::testing {

using namespace runtime;

void* fake_driver() { return dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD); }
std::string fake_report() {
  using Text = const char*();
  return reinterpret_cast<Text*>(dlsym(fake_driver(), "fake_cuda_report"))();
}
void forget_report() {
  using Forget = void();
  reinterpret_cast<Forget*>(dlsym(fake_driver(), "fake_cuda_forget"))();
}

FakeGpu::FakeGpu() : driver(*find_driver()), stream_(driver) {
  driver.DevicePrimaryCtxRetain(&context_, 0);
  driver.CtxSetCurrent(context_);
  driver.StreamCreate(stream_.put(), cuda::kStreamNonBlocking);
}
FakeGpu::~FakeGpu() {
  driver.StreamSynchronize(stream());
  for (const cuda::Address at : all_) driver.MemFree(at);
  driver.DevicePrimaryCtxRelease(0);
}

cuda::Address FakeGpu::allocate(size_t bytes) {
  driver.MemAlloc(&all_.emplace_back(), bytes);
  driver.MemsetD8Async(all_.back(), 0, bytes, stream());
  return all_.back();
}
cuda::Address FakeGpu::put(const std::vector<std::byte>& bytes) {
  const cuda::Address at = allocate(bytes.size());
  void* pinned = nullptr;
  driver.MemHostAlloc(&pinned, bytes.size(), cuda::kHostMapped);
  std::memcpy(pinned, bytes.data(), bytes.size());
  driver.MemcpyHtoDAsync(at, pinned, bytes.size(), stream());
  driver.StreamSynchronize(stream());
  driver.MemFreeHost(pinned);
  return at;
}
std::vector<std::byte> FakeGpu::get(cuda::Address at, size_t bytes) const {
  std::vector<std::byte> to(bytes);
  driver.MemcpyDtoHAsync(to.data(), at, bytes, stream());
  driver.StreamSynchronize(stream());
  return to;
}

size_t width_of(const std::string& dtype) { return dtype == "f32" ? 4 : 2; }

double number(const std::string& dtype, const std::byte* at) {
  if (dtype == "f32") {
    float x = 0;
    std::memcpy(&x, at, sizeof x);
    return static_cast<double>(x);
  }
  uint16_t bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  return static_cast<double>(dtype == "f16" ? ptx::from_f16(bits) : ptx::from_bf16(bits));
}

Numbers draw_numbers(const codegen::TensorDesc& t, uint64_t seed) {
  const int64_t count = std::accumulate(t.dims.begin(), t.dims.end(), int64_t{1}, std::multiplies<>());
  data::KeyedRandom random(seed, 1);
  Numbers n;
  for (int64_t i = 0; i < count; ++i) {
    const float x = random.uniform(-1, 1);
    std::array<std::byte, 4> as{};
    const uint16_t narrow = t.dtype == "f16" ? ptx::to_f16(static_cast<double>(x)) : ptx::to_bf16(x);
    t.dtype == "f32" ? std::memcpy(as.data(), &x, sizeof x) : std::memcpy(as.data(), &narrow, sizeof narrow);
    n.bytes.insert(n.bytes.end(), as.begin(), as.begin() + static_cast<std::ptrdiff_t>(width_of(t.dtype)));
    n.values.push_back(number(t.dtype, as.data()));
  }
  return n;
}

}  // namespace heddle::testing
