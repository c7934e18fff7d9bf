// DeVries and Taylor 2017, arXiv:1708.04552: the hole's middle is anywhere, so the border may cut it.
#include <fmt/format.h>

#include "ir/map_def.h"

namespace heddle::ir {
namespace {

std::vector<std::string> draw(const MapText& t) {
  const auto corner = [&](const char* name, char word, int64_t side, int64_t hole) {
    return fmt::format("const int {0}_{1} = hd::below(draw_{1}.{2}, {3}) - {4};", name, t.name, word, side, hole / 2);
  };
  return {fmt::format("const hd::Words draw_{} = {};", t.name, t.draw),
          corner("top", 'x', t.row.height(), t.map.integer("size", 0)),
          corner("left", 'y', t.row.width(), t.map.integer("size", 1))};
}

std::vector<std::string> place(const MapText& t) {
  return {fmt::format(
      "const bool out_{0} = {1} >= top_{0} && {1} < top_{0} + {2} && {3} >= left_{0} && {3} < left_{0} + {4};", t.name,
      t.y, t.map.integer("size", 0), t.x, t.map.integer("size", 1))};
}

const RegisterMap cutout({
    .name = "cutout",
    .doc = "a hole of `size`, filled with `fill`, whose middle may be any pixel",
    .keys =
        {{.name = "size", .type = KeyType::sides, .doc = "of the hole", .required = true, .range = between(1, 1 << 20)},
         {.name = "fill", .type = KeyType::real, .doc = "its value", .fallback = 0.0}},
    .training = true,
    .picture = true,
    .integers = true,
    .fault = [](const DataMap& map, const MapRow& row) { return sides_fault(map, "size", row); },
    .draw = draw,
    .place = place,
    .value = fill_where_out,
    .largest = largest_of_fill,
});

}  // namespace
}  // namespace heddle::ir
