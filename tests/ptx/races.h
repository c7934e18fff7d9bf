// Races of a launch: of a block in its shared memory, of all blocks in global memory.
#pragma once
#include <map>
#include <string>
#include <unordered_map>

#include "tests/ptx/memory.h"
#include "tests/ptx/shadow.h"

namespace heddle::ptx {

using PublishedAt = std::unordered_map<uint64_t, Published>;  // by address

struct BlockRaces {
  BlockRaces(uint32_t block, uint32_t threads, uint64_t shared_bytes)
      : order(block, threads), shared(shared_bytes, false) {}

  BlockOrder order;
  Shadow shared;
  ReaderSets sets;
  PublishedAt published;  // in shared memory
};

class GlobalRaces {
 public:
  Shadow& shadow_of(const Allocation& a);
  ReaderSets& sets() { return sets_; }
  PublishedAt& published() { return published_; }

 private:
  std::map<const Allocation*, Shadow> shadows_;
  const Allocation* last_ = nullptr;
  Shadow* last_shadow_ = nullptr;
  ReaderSets sets_;
  PublishedAt published_;
};

// "thread 3 of block 0 had written, and nothing lies between"
std::string describe(const Judgement& j);

}  // namespace heddle::ptx
