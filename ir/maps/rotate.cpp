#include <fmt/format.h>

#include "ir/map_samples.h"

namespace heddle::ir {
namespace {

std::vector<std::string> draw(const SampleText& t) {
  const double most = t.map.number("degrees");
  return {fmt::format("const hd::Turn turn_{} = hd::inverse_turn(hd::between({}.x, {}, {}), 0.0f, 1.0f, 0.0f, 0.0f);",
                      t.name, t.draw, as_float(most), as_float(-most))};
}

std::vector<Key> keys() {
  std::vector<Key> all = turn_keys();
  all.insert(all.begin(), {.name = "degrees",
                           .type = KeyType::real,
                           .doc = "the largest angle",
                           .required = true,
                           .range = {.low = 0, .high = 180, .above = true}});
  return all;
}

const RegisterMap rotate({
    .name = "rotate",
    .doc = "turned about its middle by up to `degrees` in either direction, with `fill` where nothing comes from",
    .keys = keys(),
    .training = true,
    .picture = true,
    .integers = true,
    .fault = turn_fault,
    .largest = largest_of_fill,
});
const RegisterSample sample("rotate", {.taps = filter_taps, .draw = draw, .pixel = turned_pixel});

}  // namespace
}  // namespace heddle::ir
