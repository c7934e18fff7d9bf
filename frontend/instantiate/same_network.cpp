#include "frontend/instantiate/same_network.h"

#include <fmt/format.h>

#include <string_view>

namespace heddle::frontend {
namespace {

std::string remedy(const Instance& e, int64_t length) {
  if (e.length != length) return "a number, or another name of \"let\", keeps it the same for all rows";
  return fmt::format("put a number or a name of \"let\" in the place of \"{}\"", e.batch_name);
}

}  // namespace

void SameNetwork::require(const Instance& e) {
  for (const Parameter& p : e.parameters) require_type(p, e);
  for (size_t i = 0; i < e.repeats.size() && i < repeats_.size(); ++i) require_times(e.repeats[i], repeats_[i], e);
  if (batch_ == 0) repeats_ = e.repeats, batch_ = e.batch, length_ = e.length;
}

void SameNetwork::require_type(const Parameter& p, const Instance& e) {
  const ir::Type& known = types_.try_emplace(p.path, p.type).first->second;
  if (known == p.type) return;
  if (e.length != length_)
    throw UserError(p.where,
                    fmt::format("parameter '{}' is {}, and {} where rows are {} long: its shape may not depend on the "
                                "length of rows",
                                p.path, to_string(known), to_string(p.type), e.length),
                    remedy(e, length_));
  throw UserError(
      p.where,
      fmt::format(
          "parameter '{}' is {} with a batch of {} and {} with one of {}: its shape may not depend on the batch",
          p.path, to_string(known), batch_, to_string(p.type), e.batch),
      remedy(e, length_));
}

void SameNetwork::require_times(const Repeat& now, const Repeat& known, const Instance& e) const {
  if (now.times == known.times) return;
  if (e.length != length_) {
    if (std::string_view(now.key) == "count") return;  // of a scan: its parameters are those of one step
    throw UserError(now.where,
                    fmt::format("'{}' is {}, and {} where rows are {} long: it may not depend on the length of rows",
                                now.key, known.times, now.times, e.length),
                    remedy(e, length_));
  }
  throw UserError(now.where,
                  fmt::format("'{}' is {} with a batch of {} and {} with one of {}: it may not depend on the batch",
                              now.key, known.times, batch_, now.times, e.batch),
                  remedy(e, length_));
}

}  // namespace heddle::frontend
