// What the threads of one block know to have happened before: by barriers, by synchronisation within warps, by fences
// and what was read after them (PTX ISA 9.0, chapter 8, the memory consistency model).
//
//   thread 1: x = 1;  fence.sc      bar.sync      thread 0: atom(c)         releases what the block did before the bar
//   other block, thread 0: atom(c)  bar.sync      thread 5: fence.sc; x     knows it from here on
//
// Fences that are sequentially consistent pass through barriers, since all of them lie in one order; an acquire-release
// fence synchronises through its own thread's accesses only.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "tests/ptx/clock.h"
#include "tests/ptx/module.h"

namespace heddle::ptx {

// What strong writes to an address have published.
struct Published {
  Clock everywhere;
  std::map<uint32_t, Clock> in_block;  // by operations of scope cta
};

class BlockOrder {
 public:
  BlockOrder(uint32_t block, uint32_t threads);

  Stamp stamp(uint32_t thread, Use use) const { return Stamp::make(block_, thread, time_[thread / kLanes], use); }
  // Whether the access happened before what the thread does now.
  bool ordered(Stamp before, uint32_t thread) const;

  void barrier(const std::vector<bool>& alive);  // of all threads
  void warp_barrier(uint32_t warp, Lanes lanes);
  void fence(uint32_t warp, Lanes lanes, Scope scope, bool sequential);
  // A strong write publishes what its thread knows; `exchange`: a read-modify-write, behind which
  // earlier writes stay visible.
  void publish(uint32_t thread, Order order, Scope scope, bool exchange, Published& at);
  // A strong read of what has been published.
  void observe(uint32_t thread, Order order, Scope scope, const Published& at);

 private:
  struct Fence {
    uint32_t time = 0;  // of its warp; 0: none since the last barrier
    Scope scope = Scope::none;
    bool sequential = false;
  };
  Clock known_to(uint32_t thread, uint32_t own_time) const;
  Clock released_by_fences(uint32_t thread, Scope& scope) const;
  void carry_fences(const std::vector<bool>& alive);

  uint32_t block_ = 0, threads_ = 0;
  uint32_t barrier_time_ = 1;
  std::vector<uint32_t> time_, warp_time_;  // by warp: now; of the last synchronisation of the whole warp
  std::unordered_map<uint32_t, std::array<std::array<uint32_t, kLanes>, kLanes>> lanes_;  // by warp, observer, observed
  Clock known_;                                                                           // to all threads
  std::unordered_map<uint32_t, Clock> own_, pending_;  // by thread: known beside that; read, but no fence behind it yet
  std::vector<Fence> fences_;                          // by thread
  std::unordered_map<uint32_t, Clock> earlier_;  // by thread: what acquire-release fences before the barrier release
  Clock released_, sequential_pending_;          // by sequential fences, for them, through barriers
  std::vector<bool> took_pending_;               // threads with such a fence behind the barrier
};

}  // namespace heddle::ptx
