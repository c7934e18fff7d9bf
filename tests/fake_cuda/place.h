// Where an argument of a library's call lies in the fake device's memory.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "tests/fake_cuda/world.h"

namespace heddle::fake_cuda {

struct Place {
  std::string name;
  uint64_t at = 0, bytes = 0;
};

inline bool overlap(const Place& x, const Place& y) { return x.at < y.at + y.bytes && y.at < x.at + x.bytes; }

// What is wrong with it, or "".
inline std::string wrong_place(const Place& p, uint64_t alignment) {
  if (p.at == 0) return fmt::format("{} is at no address", p.name);
  if (p.at % alignment != 0) return fmt::format("{} is not aligned to {} bytes", p.name, alignment);
  if (world().memory.find(p.at, p.bytes) == nullptr)
    return fmt::format("{} of {} bytes is not in memory", p.name, p.bytes);
  return {};
}

}  // namespace heddle::fake_cuda
