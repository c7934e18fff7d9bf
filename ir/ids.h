// Typed 4-byte ids into a graph's arrays: copyable, hashable, ordered, and a ValueId is never taken for a NodeId.
#pragma once
#include <compare>
#include <cstdint>

namespace heddle::ir {

template <class Tag>
struct Id {
  int32_t index = -1;
  bool valid() const { return index >= 0; }
  auto operator<=>(const Id&) const = default;
};
using ValueId = Id<struct ValueTag>;
using NodeId = Id<struct NodeTag>;

}  // namespace heddle::ir
