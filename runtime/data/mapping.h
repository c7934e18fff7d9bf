// Mapping: a part of a file that is mapped into memory. The system reads pages as they are used and may drop them
// again, so a column may be larger than memory.
//
//   Mapping rows(path, "x.npy", where, /*begin=*/128, /*size=*/4000);
//   Mapping last = rows.part(3000, 1000);     // of its own: outlives `rows`
//   Mapping room = Mapping::scratch(1 << 30); // zeros that can be written, in a temporary file without a name
//
// The file must not become shorter while it is mapped: the system ends a process that reads beyond the file's end.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "ir/diagnostic.h"

namespace heddle::runtime::data {

// Alignment in bytes of the first row in memory, as malloc gives it. Kernels need it to load several elements at once.
inline constexpr int64_t kAlignment = 16;

class Mapping {
 public:
  Mapping() = default;
  Mapping(const std::filesystem::path& file, const std::string& name, const Location& where, int64_t begin,
          int64_t size);
  static Mapping scratch(int64_t size);
  Mapping(const Mapping& other);
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping other) noexcept;
  ~Mapping();

  bool empty() const { return size_ == 0; }
  std::span<const std::byte> bytes() const { return {data_, static_cast<size_t>(size_)}; }
  std::byte* writable() { return data_; }  // of scratch only
  bool can_write() const { return writable_; }
  Mapping part(int64_t begin, int64_t size) const;

 private:
  // Takes ownership of the descriptor.
  Mapping(int descriptor, int64_t begin, int64_t size, bool writable);
  int64_t page_offset() const;

  int descriptor_ = -1;
  int64_t begin_ = 0, size_ = 0;  // of the file
  bool writable_ = false;
  std::byte* data_ = nullptr;
};

}  // namespace heddle::runtime::data
