#include <fmt/format.h>

#include "ir/map_samples.h"

namespace heddle::ir {
namespace {

// The largest move is a share of the side; moves are whole pixels.
std::vector<std::string> draw(const SampleText& t) {
  const std::string& n = t.name;
  const auto [small, large] = bounds_of(t.map, "scale", {1, 1});
  const auto [down, right] = bounds_of(t.map, "translate", {0, 0});
  const double angle = t.map.number("degrees"), shear = t.map.number("shear");
  const auto drawn = [](const std::string& word, double low, double high) {
    return fmt::format("hd::between({}, {}, {})", word, as_float(low), as_float(high));
  };
  const auto moved = [&](char word, double share, int64_t side) {
    const double most = share * static_cast<double>(side);
    return fmt::format("hd::rint({})", drawn(fmt::format("draw_{}.{}", n, word), -most, most));
  };
  return {fmt::format("const hd::Words draw_{0} = {1}, other_draw_{0} = hd::more_words(draw_{0}, 0);", n, t.draw),
          fmt::format("const float down_{0} = {1}, right_{0} = {2};", n, moved('y', down, t.row.height()),
                      moved('z', right, t.row.width())),
          fmt::format("const hd::Turn turn_{0} = hd::inverse_turn({1}, {2}, {3}, down_{0}, right_{0});", n,
                      drawn(fmt::format("draw_{}.x", n), -angle, angle),
                      drawn(fmt::format("other_draw_{}.x", n), -shear, shear),
                      drawn(fmt::format("draw_{}.w", n), small, large))};
}

std::vector<Key> keys() {
  std::vector<Key> all = {
      {.name = "degrees", .type = KeyType::real, .doc = "the largest angle", .fallback = 0.0, .range = between(0, 180)},
      {.name = "translate",
       .type = KeyType::real,
       .count = Count::list,
       .doc = "the largest move as shares of the sides: [down, right]",
       .range = between(0, 1)},
      {.name = "scale",
       .type = KeyType::real,
       .count = Count::list,
       .doc = "the smallest and the largest factor of the size",
       .range = between(1e-2, 1e2)},
      {.name = "shear",
       .type = KeyType::real,
       .doc = "the largest angle of columns, in degrees",
       .fallback = 0.0,
       .range = between(0, 80)}};
  for (const Key& key : turn_keys()) all.push_back(key);
  return all;
}

void require(const DataMap& map) {
  require_bounds(map, "scale");
  if (!map.has("translate") || map.all("translate").size() == 2) return;
  const auto place = map.places.find("translate");
  throw UserError(place == map.places.end() ? map.where : place->second,
                  "affine: 'translate' expects two numbers, the shares of the height and of the width",
                  R"("translate": [0.1, 0.1])");
}

const RegisterMap affine({
    .name = "affine",
    .doc =
        "turned by up to `degrees`, moved by up to the shares `translate` of height and width, a factor out of `scale` "
        "larger, and sheared by up to `shear` degrees, with `fill` where nothing comes from",
    .keys = keys(),
    .training = true,
    .picture = true,
    .integers = true,
    .require = require,
    .fault = turn_fault,
    .largest = largest_of_fill,
});
const RegisterSample sample("affine", {.taps = filter_taps, .draw = draw, .pixel = turned_pixel});

}  // namespace
}  // namespace heddle::ir
