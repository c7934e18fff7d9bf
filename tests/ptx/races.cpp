#include "tests/ptx/races.h"

#include <fmt/format.h>

namespace heddle::ptx {

Shadow& GlobalRaces::shadow_of(const Allocation& a) {
  if (last_ != &a) {
    last_ = &a;
    last_shadow_ = &shadows_.try_emplace(&a, a.bytes, true).first->second;
  }
  return *last_shadow_;
}

std::string describe(const Judgement& j) {
  const char* what = j.conflict == Conflict::write_after_read ? "read" : "wrote";
  const std::string who =
      j.other.thread() == Stamp::kMany ? "several threads" : fmt::format("thread {}", j.other.thread());
  switch (j.conflict) {
    case Conflict::unwritten: return "nobody has written it";
    case Conflict::in_flight: return fmt::format("cp.async of {} has not been waited for", who);
    default: return fmt::format("{} of block {} {} it, and nothing orders the two", who, j.other.block(), what);
  }
}

}  // namespace heddle::ptx
