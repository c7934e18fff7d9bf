// Typed 4-byte ids into a graph's arrays: copyable, ordered, and a ValueId cannot be passed as a NodeId.
#pragma once
#include <compare>
#include <cstddef>
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

// The index of a valid id, for a vector with one entry per id.
template <class Tag>
size_t index_of(Id<Tag> id) {
  return static_cast<size_t>(id.index);
}

}  // namespace heddle::ir
