// Layers that put elements in order.
#include <fmt/format.h>

#include <numeric>

#include "frontend/layer_context.h"

namespace heddle::frontend {
namespace {

using ir::Dims;

// The last axis and the one of the setting change places; nothing where they are one.
class AlongLast {
 public:
  explicit AlongLast(LayerContext& c) : c_(c) {
    const int64_t axis = c.read_axis();
    if (c.type(c.in[0]).dtype == ir::DType::boolean) c.fail("bool has no order", "cast it to i32");
    perm_.resize(c.dims(c.in[0]).size());
    std::iota(perm_.begin(), perm_.end(), 0);
    std::swap(perm_[static_cast<size_t>(axis)], perm_.back());
    moves_ = axis + 1 != std::ssize(perm_);
  }
  ir::ValueId turned(ir::ValueId v) const { return moves_ ? c_.emit("transpose", {v}, {{"perm", perm_}}) : v; }

 private:
  LayerContext& c_;
  Dims perm_;
  bool moves_ = false;
};

struct Ordered {
  ir::ValueId order, sorted;  // along the last axis
};
Ordered argsort(LayerContext& c, const AlongLast& along, bool descending) {
  const ir::Values both = c.b.multi("argsort", {along.turned(c.in[0])}, {{"descending", descending}},
                                    {c.path + ".order", c.path + ".sorted"});
  return {both[0], both[1]};
}

ir::Values build_sort(LayerContext& c) {
  const AlongLast along(c);
  return {along.turned(argsort(c, along, c.settings.flag("descending")).sorted)};
}

ir::Values build_argsort(LayerContext& c) {
  const AlongLast along(c);
  return {along.turned(argsort(c, along, c.settings.flag("descending")).order)};
}

ir::ValueId first_of_rows(LayerContext& c, ir::ValueId v, int64_t count, const std::string& suffix) {
  return count == c.dims(v).back() ? v : c.slice(v, c.type(v).rank() - 1, 0, count, suffix);
}

ir::Values build_top_k(LayerContext& c) {
  const AlongLast along(c);
  const int64_t k = c.settings.integer("k");
  const Ordered all = argsort(c, along, c.settings.flag("largest"));
  if (const int64_t size = c.dims(all.order).back(); k > size)
    c.fail_setting("k", fmt::format("'k' is {}, the axis has {} elements", k, size));
  return {along.turned(first_of_rows(c, all.sorted, k, "values")),
          along.turned(first_of_rows(c, all.order, k, "indices"))};
}

const Key kAxis = {.name = "axis", .doc = "counted from the end where negative", .fallback = int64_t{-1}};
const Key kDescending = {.name = "descending", .type = KeyType::flag, .doc = "the largest first", .fallback = false};

const RegisterLayer sort(
    {.name = "sort",
     .doc = "the elements from the smallest to the largest, nan last; equal ones stay in their order",
     .settings = {kAxis, kDescending},
     .build = build_sort});
const RegisterLayer argsort_layer({.name = "argsort",
                                   .doc = "the places, i32, that the elements of sort come from",
                                   .settings = {kAxis, kDescending},
                                   .build = build_argsort});
const RegisterLayer top_k(
    {.name = "top_k",
     .doc = "the k largest elements in order, and the places, i32, that they come from",
     .settings = {{.name = "k", .doc = "how many", .required = true, .range = ir::at_least(1)},
                  kAxis,
                  {.name = "largest", .type = KeyType::flag, .doc = "else the smallest", .fallback = true}},
     .results = [](const std::vector<Json>&) { return std::optional<size_t>(2); },
     .build = build_top_k});

}  // namespace
}  // namespace heddle::frontend
