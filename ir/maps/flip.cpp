#include <fmt/format.h>

#include "ir/map_def.h"

namespace heddle::ir {
namespace {

const RegisterMap flip({
    .name = "flip",
    .doc = "left and right change places, in that share of the rows",
    .keys = {{.name = "probability",
              .type = KeyType::real,
              .doc = "the share of the rows",
              .fallback = 0.5,
              .range = between(0, 1)}},
    .training = true,
    .picture = true,
    .integers = true,
    .draw = [](const MapText& t) -> std::vector<std::string> {
      return {fmt::format("const bool flip_{} = hd::unit<float>({}.x) < {:#}f;", t.name, t.draw,
                          static_cast<float>(t.map.number("probability")))};
    },
    .place = [](const MapText& t) -> std::vector<std::string> {
      return {fmt::format("{1} = flip_{0} ? {2} - {1} : {1};", t.name, t.x, t.row.width() - 1)};
    },
});

}  // namespace
}  // namespace heddle::ir
