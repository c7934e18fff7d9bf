// Attributes that an operator cannot be without: those of its first sample.
#pragma once
#include <algorithm>

#include "ir/op_def.h"

namespace heddle::testing {

inline ir::Attrs required_attrs(const ir::OpDef& op) {
  const bool any = std::ranges::any_of(op.attrs, &ir::Key::required);
  return any ? op.samples.at(0).attrs : ir::Attrs{};
}

}  // namespace heddle::testing
