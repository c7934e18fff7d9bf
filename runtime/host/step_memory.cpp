#include "runtime/host/step_memory.h"

#include <atomic>
#include <cstdint>

namespace heddle::runtime {
namespace {

struct alignas(64) Block {
  char bytes[StepMemory::kBytes];
};
struct Account {                 // of one block
  std::atomic<int32_t> live{0};  // objects not yet returned; any thread may return one
  size_t used = 0;               // bytes; the owner's alone
};
// Those of a thread follow one another. Zero pages of the executable until the thread uses them.
Block blocks[StepMemory::kThreads * StepMemory::kBlocks];
Account accounts[StepMemory::kThreads * StepMemory::kBlocks];
std::atomic<bool> taken[StepMemory::kThreads];

// The executable's own thread-local storage exists with the thread: reading it allocates nothing.
constinit thread_local int scopes = 0;
constinit thread_local int mine = -1;     // which of `taken` is this thread's, once it has one
constinit thread_local int current = -1;  // the block that serves

int claim() {
  for (int i = 0; i < StepMemory::kThreads; ++i) {
    if (!taken[i].exchange(true, std::memory_order_acquire)) return i;
  }
  return -1;
}

// nullptr: the block has no room.
void* take_of(int block, size_t bytes, size_t align) {
  Account& account = accounts[block];
  if (account.live.load(std::memory_order_acquire) == 0) account.used = 0;
  const size_t begin = (account.used + align - 1) / align * align;
  if (begin > StepMemory::kBytes - bytes) return nullptr;
  account.used = begin + bytes;
  account.live.fetch_add(1, std::memory_order_relaxed);
  return blocks[block].bytes + begin;
}

void* take_of_mine(size_t bytes, size_t align) {
  if (align > alignof(Block) || bytes > StepMemory::kBytes) return nullptr;
  if (mine < 0) {
    mine = claim();
    if (mine < 0) return nullptr;
    current = mine * StepMemory::kBlocks;
  }
  if (void* p = take_of(current, bytes, align)) return p;
  for (int i = 0; i < StepMemory::kBlocks; ++i) {
    const int block = mine * StepMemory::kBlocks + i;
    if (accounts[block].live.load(std::memory_order_acquire) > 0) continue;
    current = block;
    return take_of(block, bytes, align);
  }
  return nullptr;
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

void* StepMemory::take(size_t bytes, size_t align) { return scopes > 0 ? take_of_mine(bytes, align) : nullptr; }

void StepMemory::leave_thread() {
  if (mine >= 0) taken[mine].store(false, std::memory_order_release);
  mine = -1;
}

}  // namespace heddle::runtime
