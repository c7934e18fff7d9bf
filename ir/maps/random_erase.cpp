// Zhong et al. 2017, "Random erasing data augmentation", arXiv:1708.04896; the window is drawn as torchvision documents
// it.
#include <fmt/format.h>

#include <cmath>

#include "ir/map_samples.h"

namespace heddle::ir {
namespace {

std::vector<std::string> draw(const MapText& t) {
  const auto [least, most] = bounds_of(t.map, "scale", {0.02, 0.33});
  const auto [narrow, wide] = bounds_of(t.map, "ratio", {0.3, 3.3});
  const std::string& n = t.name;
  return {fmt::format("const hd::Words draw_{} = {};", n, t.draw),
          fmt::format("const hd::Window hole_{0} = hd::unit<float>(draw_{0}.x) < {1} ? hd::drawn_window(draw_{0}, {2}, "
                      "{3}, {4}, {5}, {6}, {7}, false) : hd::Window{{0, 0, 0, 0}};",
                      n, as_float(t.map.number("probability")), t.row.height(), t.row.width(), as_float(least),
                      as_float(most), as_float(std::log(narrow)), as_float(std::log(wide)))};
}

std::vector<std::string> place(const MapText& t) {
  return {
      fmt::format("const bool out_{0} = {1} >= hole_{0}.top && {1} < hole_{0}.top + hole_{0}.height && {2} >= "
                  "hole_{0}.left && {2} < hole_{0}.left + hole_{0}.width;",
                  t.name, t.y, t.x)};
}

std::vector<Key> keys() {
  std::vector<Key> all = window_keys("the hole's share of the area", "its height divided by its width");
  all.insert(all.begin(), {.name = "probability",
                           .type = KeyType::real,
                           .doc = "the share of the rows",
                           .fallback = 0.5,
                           .range = between(0, 1)});
  all.push_back({.name = "fill", .type = KeyType::real, .doc = "its value", .fallback = 0.0});
  return all;
}

const RegisterMap random_erase({
    .name = "random_erase",
    .doc =
        "in that share of the rows a hole, filled with `fill`, inside of the picture: a share `scale` ([0.02, 0.33]) "
        "of its area, whose height is `ratio` ([0.3, 3.3]) times the width",
    .keys = keys(),
    .training = true,
    .picture = true,
    .integers = true,
    .require = [](const DataMap& map) { require_bounds(map, "scale"), require_bounds(map, "ratio"); },
    .fault = fill_fault,
    .draw = draw,
    .place = place,
    .value = fill_where_out,
    .largest = largest_of_fill,
});

}  // namespace
}  // namespace heddle::ir
