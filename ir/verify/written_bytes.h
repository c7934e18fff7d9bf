// WrittenBytes: records which value wrote each byte of a segment. The memory verifier uses it to execute a plan without
// data.
//
//   write(0, {{16, %a, 0}}); write(8, {{4, %b, 0}}); read(0, 16)  ->  8 bytes of %a, 4 of %b, 4 of %a from its 12th on
#pragma once
#include <cstdint>
#include <map>
#include <vector>

namespace heddle::ir {

using Writer = int32_t;  // the number of a value of the verifier's execution
inline constexpr Writer kNobody = -1;

// Consecutive bytes that one value wrote: its bytes from `from` on.
struct Run {
  int64_t bytes = 0;
  Writer writer = kNobody;  // kNobody: not written, or a kernel's scratch
  int64_t from = 0;
  bool operator==(const Run&) const = default;
};
using Content = std::vector<Run>;

void append(Content& content, const Run& run);
Content slice(const Content& content, int64_t begin, int64_t bytes);

class WrittenBytes {
 public:
  void write(int64_t at, const Content& content);
  Content read(int64_t begin, int64_t bytes) const;

 private:
  void clear(int64_t begin, int64_t end);
  void cut(int64_t at);

  std::map<int64_t, Run> runs_;  // by first byte
};

}  // namespace heddle::ir
