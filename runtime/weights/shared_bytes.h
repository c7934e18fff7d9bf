// SharedBytes: bytes that copies share until one of them changes. A file of weights may be most of a machine's memory,
// and a program that is made of it changes its own copy. Hence the shared_ptr.
//
//   SharedBytes b = a;      // no byte is copied
//   b.own().resize(8);      // now b has bytes of its own
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace heddle::runtime {

class SharedBytes {
 public:
  SharedBytes() = default;
  explicit SharedBytes(std::vector<std::byte> bytes)
      : bytes_(std::make_shared<std::vector<std::byte>>(std::move(bytes))) {}
  std::span<const std::byte> view() const {
    return bytes_ ? std::span<const std::byte>(*bytes_) : std::span<const std::byte>();
  }
  size_t size() const { return view().size(); }
  // The bytes of this object alone, to be changed.
  std::vector<std::byte>& own() {
    if (!bytes_) bytes_ = std::make_shared<std::vector<std::byte>>();
    if (bytes_.use_count() > 1) bytes_ = std::make_shared<std::vector<std::byte>>(*bytes_);
    return *bytes_;
  }

 private:
  std::shared_ptr<std::vector<std::byte>> bytes_;
};

}  // namespace heddle::runtime
