#include <fmt/format.h>

#include "ir/map_def.h"

namespace heddle::ir {
namespace {

enum Border { top, bottom, left, right };

Dims before(const DataMap& map, const MapRow& row) {
  Dims dims = row.dims;
  const size_t first = row.channels_first ? 1 : 0;
  dims[first] -= map.integer("pad", top) + map.integer("pad", bottom);
  dims[first + 1] -= map.integer("pad", left) + map.integer("pad", right);
  return dims;
}

std::string fault(const DataMap& map, const MapRow& row) {
  const MapRow inner{.dtype = row.dtype, .dims = before(map, row), .channels_first = row.channels_first};
  if (inner.height() < 1 || inner.width() < 1)
    return fmt::format("its borders leave nothing of the input's pictures of {} x {}", row.height(), row.width());
  return fill_fault(map, row);
}

std::vector<std::string> place(const MapText& t) {
  const MapRow inner{.dtype = t.row.dtype, .dims = before(t.map, t.row), .channels_first = t.row.channels_first};
  return {fmt::format("{0} -= {1}, {2} -= {3};", t.y, t.map.integer("pad", top), t.x, t.map.integer("pad", left)),
          fmt::format("const bool out_{0} = {1} < 0 || {1} >= {2} || {3} < 0 || {3} >= {4};", t.name, t.y,
                      inner.height(), t.x, inner.width()),
          fmt::format("{1} = out_{0} ? 0 : {1}, {2} = out_{0} ? 0 : {2};", t.name, t.y, t.x)};
}

// In evaluation, too: the pictures would have another size.
const RegisterMap pad({
    .name = "pad",
    .doc =
        "a border of `pad` pixels of `fill` around the file's pictures, which are that much smaller than the input's",
    .keys = {{.name = "pad",
              .type = KeyType::borders,
              .doc = "of the border",
              .required = true,
              .range = between(0, 1 << 20)},
             {.name = "fill", .type = KeyType::real, .doc = "its value", .fallback = 0.0}},
    .picture = true,
    .integers = true,
    .fault = fault,
    .before = before,
    .place = place,
    .value = fill_where_out,
    .find =
        [](const DataMap& map, const MapRow& row, int64_t& y, int64_t& x) {
          const MapRow inner{.dtype = row.dtype, .dims = before(map, row), .channels_first = row.channels_first};
          y -= map.integer("pad", top), x -= map.integer("pad", left);
          return y >= 0 && y < inner.height() && x >= 0 && x < inner.width();
        },
    .largest = largest_of_fill,
});

}  // namespace
}  // namespace heddle::ir
