// Device memory in an address space of its own: an address means nothing to the host, which faults when it touches one.
//
//   DeviceMemory memory;
//   uint64_t a = memory.allocate(4096);   // 0x00d0000000001000: not an address that a processor accepts
//   memory.write(a, values.data(), 16);
//
// Allocations lie far apart: what a kernel touches beyond the end of one belongs to no other.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

namespace heddle::ptx {

// Where the windows of generic addresses begin. None is canonical on a 64-bit processor.
constexpr uint64_t kSharedWindow = 0x00a0'0000'0000'0000;
constexpr uint64_t kLocalWindow = 0x00b0'0000'0000'0000;
constexpr uint64_t kGlobalWindow = 0x00d0'0000'0000'0000;
constexpr uint64_t kWindowBytes = 0x0000'0100'0000'0000;

// The host asked for what is not there.
struct MemoryError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Allocation {
  uint64_t address = 0;
  uint64_t bytes = 0;
  std::unique_ptr<std::byte[]> owned;
  std::byte* data = nullptr;  // `owned`, or memory of the host
  // A byte per byte: whether it was written, by the host or by a kernel. Empty: not followed.
  std::vector<uint8_t> written;

  bool holds(uint64_t at, uint64_t n) const { return at >= address && n <= bytes && at - address <= bytes - n; }
};

class DeviceMemory {
 public:
  static constexpr uint64_t kAlignment = 512;

  // `follow_writes`: reads of bytes that nobody wrote can be found. The bytes are zero.
  explicit DeviceMemory(bool follow_writes = false) : follow_writes_(follow_writes) {}

  uint64_t allocate(uint64_t bytes);
  // Memory of the host that the device may use at the same address.
  void map(void* host, uint64_t bytes);
  void release(uint64_t address);  // what `allocate` returned

  // By the host. They throw MemoryError where a byte is outside of an allocation.
  void write(uint64_t to, const void* from, uint64_t bytes);
  void read(void* to, uint64_t from, uint64_t bytes) const;
  void fill(uint64_t to, uint8_t value, uint64_t bytes);
  void copy(uint64_t to, uint64_t from, uint64_t bytes);

  // The allocation that holds all these bytes, or nullptr.
  Allocation* find(uint64_t address, uint64_t bytes);
  const std::vector<std::unique_ptr<Allocation>>& allocations() const { return all_; }

 private:
  Allocation& at(uint64_t address, uint64_t bytes) const;

  std::vector<std::unique_ptr<Allocation>> all_;  // by address
  uint64_t next_ = kGlobalWindow + 0x1000;
  bool follow_writes_;
};

}  // namespace heddle::ptx
