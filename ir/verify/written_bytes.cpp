#include "ir/verify/written_bytes.h"

#include <algorithm>

namespace heddle::ir {

void append(Content& content, const Run& run) {
  if (run.bytes == 0) return;
  if (!content.empty()) {
    Run& back = content.back();
    const bool goes_on = back.writer == run.writer && (run.writer == kNobody || back.from + back.bytes == run.from);
    if (goes_on) {
      back.bytes += run.bytes;
      return;
    }
  }
  content.push_back(run);
}

Content slice(const Content& content, int64_t begin, int64_t bytes) {
  Content part;
  int64_t at = 0;
  for (const Run& run : content) {
    const int64_t low = std::max(at, begin), high = std::min(at + run.bytes, begin + bytes);
    if (low < high) append(part, {high - low, run.writer, run.from + low - at});
    at += run.bytes;
  }
  return part;
}

void WrittenBytes::write(int64_t at, const Content& content) {
  for (const Run& run : content) {
    clear(at, at + run.bytes);
    runs_[at] = run;
    at += run.bytes;
  }
}

Content WrittenBytes::read(int64_t begin, int64_t bytes) const {
  Content content;
  const int64_t end = begin + bytes;
  int64_t at = begin;
  auto it = runs_.upper_bound(begin);
  if (it != runs_.begin()) --it;
  for (; it != runs_.end() && it->first < end; ++it) {
    const int64_t low = std::max(at, it->first), high = std::min(it->first + it->second.bytes, end);
    if (low >= high) continue;
    append(content, {low - at, kNobody, 0});
    append(content, {high - low, it->second.writer, it->second.from + low - it->first});
    at = high;
  }
  append(content, {end - at, kNobody, 0});
  return content;
}

// Cuts the runs at both ends, so that [begin, end) holds none.
void WrittenBytes::clear(int64_t begin, int64_t end) {
  cut(begin);
  cut(end);
  runs_.erase(runs_.lower_bound(begin), runs_.lower_bound(end));
}

void WrittenBytes::cut(int64_t at) {
  auto it = runs_.lower_bound(at);
  if (it == runs_.begin()) return;
  --it;
  const int64_t end = it->first + it->second.bytes;
  if (end <= at) return;
  const int64_t kept = at - it->first;
  runs_[at] = {end - at, it->second.writer, it->second.from + kept};
  it->second.bytes = kept;
}

}  // namespace heddle::ir
