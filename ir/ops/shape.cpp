#include "ir/ops/shape.h"

#include <fmt/format.h>

namespace heddle::ir {

Type checked_type(DType dtype, const Dims& dims) {
  constexpr int64_t kMaxElements = int64_t{1} << 40;
  if (dims.size() > kMaxRank) throw InferError(fmt::format("rank {} is above {}", dims.size(), kMaxRank));
  int64_t elements = 1;
  for (const int64_t dim : dims) {
    if (dim < 1) throw InferError(fmt::format("shape {} has a dimension below 1", to_string(dims)));
    if (dim > kMaxElements / elements)
      throw InferError(fmt::format("shape {} has more than 2^40 elements", to_string(dims)));
    elements *= dim;
  }
  return {dtype, dims};
}

DType checked_dtype(const std::string& text) {
  const std::optional<DType> dtype = parse_dtype(text);
  if (!dtype) throw InferError(fmt::format("'{}' is not a dtype", text));
  return *dtype;
}

void require_length(std::string_view what, const Dims& list, int64_t rank) {
  if (static_cast<int64_t>(list.size()) != rank)
    throw InferError(fmt::format("{} has {} entries for rank {}", what, list.size(), rank));
}

}  // namespace heddle::ir
