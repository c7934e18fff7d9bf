#include <fmt/format.h>

#include "ir/map_def.h"

namespace heddle::ir {
namespace {

const RegisterMap shift({
    .name = "shift",
    .doc = "plus `by`",
    .keys = {{.name = "by", .type = KeyType::real, .count = Count::several, .doc = "what is added", .required = true}},
    .value = [](const MapText& t) -> std::vector<std::string> {
      return {fmt::format("{0} = {0} + {1};", t.x, t.each(t.map.all("by")))};
    },
    .evaluate = [](const DataMap& map, size_t channel, double x,
                   double (*round)(double)) { return round(x + round(map.of_channel("by", channel))); },
    .largest = [](const DataMap& map, double before) { return before + largest_magnitude(map.all("by")); },
});

}  // namespace
}  // namespace heddle::ir
