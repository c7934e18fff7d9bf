#include <fmt/format.h>

#include "ir/map_def.h"

namespace heddle::ir {
namespace {

std::vector<double> inverses(const DataMap& map) {
  std::vector<double> out;
  for (const double deviation : map.all("std")) out.push_back(1 / deviation);
  return out;
}

void require(const DataMap& map) {
  if (map.has("mean") != map.has("std"))
    throw UserError(map.where, "normalize has one of 'mean' and 'std', not the other",
                    "give both, or neither: then they are those of the training rows");
  if (!map.has("mean")) return;
  const Location where = map.places.contains("std") ? map.places.at("std") : map.where;
  for (const double deviation : map.all("std"))
    if (!(deviation > 0))
      throw UserError(where, fmt::format("normalize: a standard deviation is {}", deviation),
                      "it is above 0; {\"op\": \"scale\", \"by\": -1} turns a sign");
}

// The mean first: the difference of two near numbers is exact.
const RegisterMap normalize({
    .name = "normalize",
    .doc = "minus `mean`, divided by `std`; without both, those of the training rows",
    .keys = {{.name = "mean", .type = KeyType::real, .count = Count::several, .doc = "what is subtracted"},
             {.name = "std", .type = KeyType::real, .count = Count::several, .doc = "what is divided by"}},
    .statistics = true,
    .require = require,
    .value = [](const MapText& t) -> std::vector<std::string> {
      return {fmt::format("{0} = ({0} - {1}) * {2};", t.x, t.each(t.map.all("mean")), t.each(inverses(t.map)))};
    },
    .evaluate =
        [](const DataMap& map, size_t channel, double x, double (*round)(double)) {
          const double inverse = round(1 / map.of_channel("std", channel));
          return round(round(x - round(map.of_channel("mean", channel))) * inverse);
        },
    .largest =
        [](const DataMap& map, double before) {
          return (before + largest_magnitude(map.all("mean"))) * largest_magnitude(inverses(map));
        },
});

}  // namespace
}  // namespace heddle::ir
