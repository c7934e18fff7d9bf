// Szegedy et al. 2015, "Going deeper with convolutions", arXiv:1409.4842, section 6; the window is drawn as torchvision
// documents it.
#include <fmt/format.h>

#include <cmath>

#include "ir/map_samples.h"

namespace heddle::ir {
namespace {

std::vector<std::string> draw(const SampleText& t) {
  const auto [least, most] = bounds_of(t.map, "scale", {0.08, 1});
  const auto [narrow, wide] = bounds_of(t.map, "ratio", {3 / 4.0, 4 / 3.0});
  const std::string ratios = fmt::format("{}, {}", as_float(std::log(narrow)), as_float(std::log(wide)));
  return {
      fmt::format("const hd::Window window_{0} = hd::window_or_middle(hd::drawn_window({1}, {2}, {3}, {4}, {5}, "
                  "true), {2}, {5});",
                  t.name, t.draw, t.sides(), as_float(least), as_float(most), ratios)};
}

std::string pixel(const SampleText& t) {
  return fmt::format("hd::resized<{}>({}, window_{}, {}, {}, py, px, c)", t.type, t.before, t.name, t.sides(),
                     is_nearest(t.map));
}

std::vector<Key> keys() {
  std::vector<Key> all = window_keys("the window's share of the area", "its width divided by its height");
  all.push_back(filter_key());
  return all;
}

const RegisterMap random_resized_crop({
    .name = "random_resized_crop",
    .doc = "a random window, made as large as the picture: a share `scale` ([0.08, 1]) of its area, whose width is "
           "`ratio` ([0.75, 1.333]) times the height",
    .keys = keys(),
    .training = true,
    .picture = true,
    .integers = true,
    .require = [](const DataMap& map) { require_bounds(map, "scale"), require_bounds(map, "ratio"); },
    .fault = filter_fault,
});
const RegisterSample sample("random_resized_crop", {.taps = filter_taps, .draw = draw, .pixel = pixel});

}  // namespace
}  // namespace heddle::ir
