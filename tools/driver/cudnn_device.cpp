#include "tools/driver/cudnn_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace heddle::driver {
namespace {

int number_of(const std::string& arch) {  // 90 of "sm_90a", "compute_90"
  int number = 0;
  const size_t digits = std::min(arch.find('_'), arch.size() - 1) + 1;
  std::from_chars(arch.data() + digits, arch.data() + arch.size(), number);
  return number;
}

}  // namespace

// What all these devices have in common stands here: CUDA C++ programming guide, table of compute capabilities.
std::string cudnn_device(const ir::Target& target) {
  constexpr int64_t kReserved = 1024, kWithoutAsking = int64_t{48} << 10;  // bytes of a block's shared memory
  const auto clock = static_cast<int64_t>(target.sm_wavefronts / 1e3);     // kHz
  return fmt::format(
      R"({{"deviceName":"{}","cudaDeviceId":0,"deviceVer":{},"driverVer":13000,"pciDeviceId":0,"isTccDriver":0,)"
      R"("multiProcessorCount":{},"warpSize":{},"smClockRateKHz":{},"memClockRateKHz":{},"l2CacheSize":{},)"
      R"("maxCtasPerSM":32,"maxRegistersPerSM":{},"regsPerBlock":65536,"maxSharedMemoryPerBlock":{},)"
      R"("maxSharedMemoryPerBlockOptin":{},"reservedSharedMemoryPerBlock":{},"maxThreadsPerBlock":{},)"
      R"("maxThreadsPerSM":{},"supportCoopLaunch":1,"totalGlobalMem":{},"maxBlockSize":[1024,1024,64],)"
      R"("maxGridSize":[2147483647,65535,65535]}})",
      target.name, number_of(target.arch) * 10, target.sm_count, target.warp, clock, clock, target.cache_bytes,
      target.sm_registers, kWithoutAsking, target.sm_shared_bytes - kReserved, kReserved, target.max_threads,
      target.sm_threads, target.memory_bytes);
}

}  // namespace heddle::driver
