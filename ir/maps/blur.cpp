#include <fmt/format.h>

#include "ir/map_samples.h"

namespace heddle::ir {
namespace {

std::vector<std::string> draw(const SampleText& t) {
  const auto [least, most] = bounds_of(t.map, "sigma", {0.1, 2});
  return {fmt::format("const hd::Gaussian<{}> blur_{}(hd::between({}.x, {}, {}));", t.map.integer("kernel"), t.name,
                      t.draw, as_float(least), as_float(most))};
}

std::string pixel(const SampleText& t) {
  return fmt::format("hd::blurred<{}>({}, blur_{}, {}, py, px, c)", t.type, t.before, t.name, t.sides());
}

void require(const DataMap& map) {
  require_bounds(map, "sigma");
  if (map.integer("kernel") % 2 == 1) return;
  const auto place = map.places.find("kernel");
  throw UserError(place == map.places.end() ? map.where : place->second,
                  fmt::format("blur: 'kernel' is {}, and has no middle", map.integer("kernel")),
                  fmt::format("an odd number has one: {}", map.integer("kernel") + 1));
}

std::string fault(const DataMap& map, const MapRow& row) {
  if (map.integer("kernel") / 2 < std::min(row.height(), row.width())) return {};
  return fmt::format("of {} pixels is too wide for pictures of {} x {}", map.integer("kernel"), row.height(),
                     row.width());
}

const RegisterMap blur({
    .name = "blur",
    .doc = "a Gaussian of `kernel` x `kernel` pixels, whose deviation is out of `sigma` ([0.1, 2]); outside of the "
           "picture "
           "there is its mirror image",
    .keys = {{.name = "kernel",
              .type = KeyType::integer,
              .doc = "pixels of a side, an odd number",
              .required = true,
              .range = between(1, 63)},
             {.name = "sigma",
              .type = KeyType::real,
              .count = Count::list,
              .doc = "the smallest and the largest deviation",
              .range = between(1e-2, 1e3)}},
    .training = true,
    .picture = true,
    .require = require,
    .fault = fault,
});
const RegisterSample sample("blur",
                            {.taps = [](const DataMap& map) { return map.integer("kernel") * map.integer("kernel"); },
                             .draw = draw,
                             .pixel = pixel});

}  // namespace
}  // namespace heddle::ir
