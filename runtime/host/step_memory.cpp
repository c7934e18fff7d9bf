#include "runtime/host/step_memory.h"

#include <atomic>
#include <cstdint>

namespace heddle::runtime {
namespace {

struct alignas(64) Block {
  char bytes[StepMemory::kBytes];
};
// Zero pages of the executable until a thread uses its own.
Block blocks[StepMemory::kThreads];

struct Account {
  std::atomic<bool> taken{false};  // by a thread
  std::atomic<int32_t> live{0};    // objects not yet returned; any thread may return one
  size_t used = 0;                 // bytes; the owner's alone
};
Account accounts[StepMemory::kThreads];

// The executable's own thread-local storage exists with the thread: reading it allocates nothing.
constinit thread_local int scopes = 0;
constinit thread_local int mine = -1;  // the thread's block, once it has one

// A block that no thread has, or -1.
int claim_block() {
  for (int i = 0; i < StepMemory::kThreads; ++i) {
    if (!accounts[i].taken.exchange(true, std::memory_order_acquire)) return i;
  }
  return -1;
}

void* take_of_block(size_t bytes, size_t align) {
  if (mine < 0) mine = claim_block();
  if (mine < 0) return nullptr;
  Account& account = accounts[mine];
  if (account.live.load(std::memory_order_acquire) == 0) account.used = 0;
  const size_t begin = (account.used + align - 1) / align * align;
  if (align > alignof(Block) || bytes > StepMemory::kBytes || begin > StepMemory::kBytes - bytes) return nullptr;
  account.used = begin + bytes;
  account.live.fetch_add(1, std::memory_order_relaxed);
  return blocks[mine].bytes + begin;
}

}  // namespace

const bool StepMemory::active = HEDDLE_SANITIZED == 0;
StepMemory::StepMemory() { ++scopes; }
StepMemory::~StepMemory() { --scopes; }

bool StepMemory::give_back(void* p) {
  const auto offset = reinterpret_cast<uintptr_t>(p) - reinterpret_cast<uintptr_t>(blocks);
  if (offset >= sizeof blocks) return false;
  accounts[offset / sizeof(Block)].live.fetch_sub(1, std::memory_order_release);
  return true;
}

void* StepMemory::take(size_t bytes, size_t align) { return scopes > 0 ? take_of_block(bytes, align) : nullptr; }

void StepMemory::leave_thread() {
  if (mine >= 0) accounts[mine].taken.store(false, std::memory_order_release);
  mine = -1;
}

}  // namespace heddle::runtime
