#include <fmt/format.h>

#include "ir/map_def.h"

namespace heddle::ir {
namespace {

std::vector<std::string> draw(const MapText& t) {
  const auto shift = [&](const char* name, char word, int64_t most) {
    return fmt::format("const int {0}_{1} = hd::below(draw_{1}.{2}, {3}) - {4};", name, t.name, word, 2 * most + 1,
                       most);
  };
  return {fmt::format("const hd::Words draw_{} = {};", t.name, t.draw), shift("down", 'x', t.map.integer("pad", 0)),
          shift("right", 'y', t.map.integer("pad", 1))};
}

std::vector<std::string> place(const MapText& t) {
  return {fmt::format("{1} += down_{0}, {2} += right_{0};", t.name, t.y, t.x),
          fmt::format("const bool out_{0} = {1} < 0 || {1} >= {2} || {3} < 0 || {3} >= {4};", t.name, t.y,
                      t.row.height(), t.x, t.row.width()),
          fmt::format("{1} = out_{0} ? 0 : {1}, {2} = out_{0} ? 0 : {2};", t.name, t.y, t.x)};
}

const RegisterMap crop({
    .name = "crop",
    .doc = "a random window of the picture with a border of `pad` pixels of `fill`: it moves by up to `pad`",
    .keys = {{.name = "pad",
              .type = KeyType::sides,
              .doc = "how far it moves",
              .required = true,
              .range = between(1, 1 << 20)},
             {.name = "fill", .type = KeyType::real, .doc = "the value outside of the picture", .fallback = 0.0}},
    .training = true,
    .picture = true,
    .integers = true,
    .fault = [](const DataMap& map, const MapRow& row) { return sides_fault(map, "pad", row); },
    .draw = draw,
    .place = place,
    .value = fill_where_out,
    .largest = largest_of_fill,
});

}  // namespace
}  // namespace heddle::ir
