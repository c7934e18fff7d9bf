// Memory and copies. A copy from memory that is not pinned reads it at the call, one from pinned
// memory when its turn comes: whoever changes it meanwhile copies the changed bytes.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "tests/fake_cuda/stream.h"

namespace heddle::fake_cuda {
namespace {

constexpr uint8_t kRubbish = 0xA5;  // in new memory

// The pinned allocation that holds these bytes.
bool is_pinned(const void* p, size_t bytes) {
  const auto& all = world().pinned;
  auto after = all.upper_bound(const_cast<void*>(p));
  if (after == all.begin()) return false;
  const auto& [begin, size] = *std::prev(after);
  const auto offset = static_cast<size_t>(static_cast<const char*>(p) - static_cast<const char*>(begin));
  return offset <= size && bytes <= size - offset;
}

// Does `what`, and notes where memory is touched that is not there.
template <class F>
void touch(const std::string& name, const F& what) {
  try {
    what();
  } catch (const ptx::MemoryError& e) {
    world().violate(fmt::format("{}: {}", name, e.what()));
  }
}

// What no recording may contain, and what waits for all that was asked for.
Status refuse_in_capture(const char* call) {
  Stream* s = capturing();
  if (s == nullptr) return kSuccess;
  world().violate(fmt::format("{} while a stream is recorded", call));
  s->capture_broken = true;
  return kCaptureUnsupported;
}

void require_idle(const char* call) {
  if (!busy()) return;
  world().violate(fmt::format("{} while work is queued that may use it", call));
  complete_all();
}

}  // namespace

extern "C" {

Status cuMemAlloc_v2(uint64_t* to, size_t bytes) {
  const Call call("cuMemAlloc");
  if (call.status() != kSuccess) return call.status();
  if (const Status s = refuse_in_capture("cuMemAlloc"); s != kSuccess) return s;
  if (bytes == 0) return kInvalidValue;
  if (bytes > free_bytes()) return kOutOfMemory;
  *to = world().memory.allocate(bytes);
  world().memory.fill(*to, kRubbish, bytes);
  return kSuccess;
}

Status cuMemFree_v2(uint64_t at) {
  const Call call("cuMemFree");
  if (const Status s = refuse_in_capture("cuMemFree"); s != kSuccess) return s;
  require_idle("cuMemFree");
  touch("cuMemFree", [&] { world().memory.release(at); });
  return call.status();
}

Status cuMemHostAlloc(void** to, size_t bytes, unsigned) {
  const Call call("cuMemHostAlloc");
  if (call.status() != kSuccess) return call.status();
  if (const Status s = refuse_in_capture("cuMemHostAlloc"); s != kSuccess) return s;
  constexpr size_t kPage = 4096;
  *to = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  std::memset(*to, kRubbish, bytes);
  world().pinned[*to] = bytes;
  world().memory.map(*to, bytes);
  return kSuccess;
}

Status cuMemFreeHost(void* at) {
  const Call call("cuMemFreeHost");
  if (const Status s = refuse_in_capture("cuMemFreeHost"); s != kSuccess) return s;
  require_idle("cuMemFreeHost");
  if (world().pinned.erase(at) == 0) {
    world().violate("cuMemFreeHost of memory that it did not make");
    return kInvalidValue;
  }
  world().memory.release(reinterpret_cast<uintptr_t>(at));
  std::free(at);
  return call.status();
}

Status cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void* stream) {
  const Call call("cuMemsetD8Async");
  if (call.status() != kSuccess) return call.status();
  Stream* s = find_stream(stream, "cuMemsetD8Async");
  if (s == nullptr) return kInvalidHandle;
  s->push({[=] { touch("cuMemsetD8Async", [&] { world().memory.fill(to, value, bytes); }); }, "memset"});
  return kSuccess;
}

Status cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void* stream) {
  const Call call("cuMemcpyHtoDAsync");
  if (call.status() != kSuccess) return call.status();
  Stream* s = find_stream(stream, "cuMemcpyHtoDAsync");
  if (s == nullptr) return kInvalidHandle;
  const std::string name = "cuMemcpyHtoDAsync";
  if (is_pinned(from, bytes)) {
    s->push({[=] { touch(name, [&] { world().memory.write(to, from, bytes); }); }, "copy to the device"});
    return kSuccess;
  }
  if (s->capture) {
    world().violate(name + " from memory that is not pinned while the stream is recorded");
    s->capture_broken = true;
    return kCaptureUnsupported;
  }
  // A stream for copies alone is there so that they take place beside the kernels: these do not.
  if (!s->runs_kernels)
    world().violate(fmt::format("{} from memory that is not pinned on a stream that runs no kernels", name));
  const auto* begin = static_cast<const std::byte*>(from);
  s->push({[to, now = std::vector<std::byte>(begin, begin + bytes), name] {
             touch(name, [&] { world().memory.write(to, now.data(), now.size()); });
           },
           "copy to the device"});
  return kSuccess;
}

Status cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void* stream) {
  const Call call("cuMemcpyDtoHAsync");
  if (call.status() != kSuccess) return call.status();
  Stream* s = find_stream(stream, "cuMemcpyDtoHAsync");
  if (s == nullptr) return kInvalidHandle;
  s->push({[=] { touch("cuMemcpyDtoHAsync", [&] { world().memory.read(to, from, bytes); }); }, "copy to the host"});
  return kSuccess;
}

Status cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void* stream) {
  const Call call("cuMemcpyDtoDAsync");
  if (call.status() != kSuccess) return call.status();
  Stream* s = find_stream(stream, "cuMemcpyDtoDAsync");
  if (s == nullptr) return kInvalidHandle;
  s->push({[=] { touch("cuMemcpyDtoDAsync", [&] { world().memory.copy(to, from, bytes); }); }, "copy on the device"});
  return kSuccess;
}

}  // extern "C"

}  // namespace heddle::fake_cuda
