// Which accesses happened before: vector clocks over the threads of a launch, kept by block.
//
// A block of 256 threads that meet at barriers needs one number, not 256: the time of the last barrier, before which
// all of its accesses lie. Single threads are listed beside it where they are ahead (FastTrack, Flanagan and Freund
// 2009, doi:10.1145/1542476.1542490, has the stamps).
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

namespace heddle::ptx {

// How an access takes part in synchronisation: not at all, or as a strong operation of a scope.
enum class Use : uint8_t { weak, strong_cta, strong_gpu, in_flight };

// Who accessed, and when by the clock of its warp. 0: nobody.
struct Stamp {
  static constexpr uint32_t kMany = 2047;  // several threads of the block

  uint64_t bits = 0;

  static Stamp make(uint32_t block, uint32_t thread, uint32_t time, Use use) {
    return {uint64_t{block} << 43 | uint64_t{thread} << 32 | uint64_t{time} << 2 | static_cast<uint64_t>(use)};
  }
  bool empty() const { return bits == 0; }
  uint32_t block() const { return static_cast<uint32_t>(bits >> 43); }
  uint32_t thread() const { return static_cast<uint32_t>(bits >> 32) & 2047U; }
  uint32_t time() const { return static_cast<uint32_t>(bits) >> 2; }
  Use use() const { return static_cast<Use>(bits & 3U); }
  bool operator==(const Stamp&) const = default;
};

class Clock {
 public:
  // All accesses of the block before `time` are known.
  void add(uint32_t block, uint32_t time);
  void add(uint32_t block, uint32_t thread, uint32_t time);  // those of one thread
  void merge(const Clock& other);
  bool covers(Stamp s) const;
  bool empty() const { return blocks_.empty(); }
  void clear() { blocks_.clear(); }

 private:
  struct OfBlock {
    uint32_t block = 0, all = 0;
    std::vector<std::pair<uint32_t, uint32_t>> threads;  // thread and time, by thread
  };
  OfBlock& of(uint32_t block);

  std::vector<OfBlock> blocks_;  // by block
};

}  // namespace heddle::ptx
