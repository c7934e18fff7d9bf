// quantile, by torch.quantile with linear interpolation: the elements in order, so that the gradient goes back to those
// between which a quantile lies.
#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "frontend/layer_context.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

// With the elements in order along the last axis: [.., 1].
ValueId quantile_of(LayerContext& c, ValueId sorted, double q) {
  const int64_t axis = c.type(sorted).rank() - 1, size = c.dims(sorted).back();
  const double place = q * static_cast<double>(size - 1), below = std::floor(place);
  const auto first = static_cast<int64_t>(below);
  const ValueId low = c.slice(sorted, axis, first, first + 1, "below");
  if (place == below) return low;
  const ValueId gap = c.emit("sub", {c.slice(sorted, axis, first + 1, first + 2, "above"), low}, {}, "gap");
  return c.emit("add", {low, c.emit("mul", {gap, c.constant(place - below, c.type(gap))}, {}, "part_of_gap")}, {},
                "quantile");
}

std::vector<double> read_quantiles(LayerContext& c) {
  std::vector<double> quantiles = c.settings.reals("q");
  if (quantiles.empty()) c.fail_setting("q", "'q' is empty");
  return quantiles;
}

// [.., quantiles] of [.., elements].
ValueId along_last(LayerContext& c, ValueId x, const std::vector<double>& quantiles) {
  const ValueId sorted = c.b.multi("argsort", {x}, {}, {c.path + ".order", c.path + ".sorted"})[1];
  ir::Values each;
  for (const double q : quantiles) each.push_back(quantile_of(c, sorted, q));
  const int64_t last = c.type(x).rank() - 1;
  const ValueId all = each.size() == 1 ? each[0] : c.emit("concat", each, {{"axis", last}}, "quantiles");
  // nan lies last.
  const int64_t size = c.dims(x).back();
  const ValueId largest = c.broadcast(c.slice(sorted, last, size - 1, size, "largest"), c.dims(all));
  return c.emit("select", {c.emit("is_nan", {largest}, {}, "is_nan"), largest, all}, {}, "quantiles_or_nan");
}

ir::Values build(LayerContext& c) {
  c.require_floating(0);
  const std::vector<double> quantiles = read_quantiles(c);
  const bool one = c.settings.json("q")->kind != Json::Kind::list;
  const Dims dims = c.dims(c.in[0]);
  if (c.settings.json("axis") == nullptr) {
    const ValueId all = along_last(c, c.reshape(c.in[0], {ir::product(dims)}, "elements"), quantiles);
    if (!one) return {all};
    return {c.reshape(all, c.settings.flag("keepdims") ? Dims(dims.size(), 1) : Dims{})};
  }
  const auto axis = static_cast<size_t>(c.read_axis());
  Dims perm(dims.size());
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[axis], perm.back());
  const bool moves = axis + 1 != dims.size();
  const auto turned = [&](ValueId v) { return moves ? c.emit("transpose", {v}, {{"perm", perm}}) : v; };
  const ValueId found = turned(along_last(c, turned(c.in[0]), quantiles));
  if (!one || c.settings.flag("keepdims")) return {found};
  Dims rest = dims;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis));
  return {c.reshape(found, rest)};
}

const RegisterLayer quantile(
    {.name = "quantile",
     .doc = "the quantile q of the elements along an axis, between two of them in proportion; nan where one is nan",
     .settings = {{.name = "q",
                   .type = KeyType::real,
                   .count = Count::several,
                   .doc = "0.5 is the median; a list makes as many elements in the place of the axis",
                   .required = true,
                   .range = ir::between(0, 1)},
                  {.name = "axis", .doc = "counted from the end where negative: all elements as one axis"},
                  {.name = "keepdims", .type = KeyType::flag, .doc = "keep it as size 1", .fallback = false}},
     .build = build});

}  // namespace
}  // namespace heddle::frontend
