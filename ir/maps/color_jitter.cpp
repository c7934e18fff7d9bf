#include <fmt/format.h>

#include "ir/map_samples.h"

namespace heddle::ir {
namespace {

constexpr const char* kChanges[] = {"brightness", "contrast", "saturation", "hue"};

std::vector<std::string> draw(const SampleText& t) {
  const auto reach = [&](const char* key) { return as_float(t.map.number(key)); };
  const std::string& n = t.name;
  const int64_t pixels = t.row.height() * t.row.width();
  std::vector<std::string> lines = {fmt::format("const hd::Jitter jitter_{} = hd::drawn_jitter({}, {}, {}, {}, {});", n,
                                                t.draw, reach("brightness"), reach("contrast"), reach("saturation"),
                                                reach("hue"))};
  if (t.map.number("contrast") == 0) return lines;
  // The team shares the pixels; every thread of it gets the mean.
  lines.push_back(fmt::format("hd::Accumulator<hd::Sum<double>, {}> greys_{};", pixels, n));
  lines.push_back(
      fmt::format("HD_REDUCE(int, at_{0}, slot_{0}, {1}, {2}, 1) greys_{0}[HD_LANE].add(hd::bright_grey<{3}, {4}>({5}, "
                  "jitter_{0}, {6}, at_{0} / {7}, at_{0} % {7}));",
                  n, pixels, t.team, t.type, t.channels(), t.before, t.literal(t.map.number("white")), t.row.width()));
  lines.push_back(fmt::format("const {0} mean_{1} = ({0})(hd::combine<{2}>(greys_{1}).result() / {3});", t.type, n,
                              t.team, pixels));
  return lines;
}

std::string pixel(const SampleText& t) {
  const bool contrast = t.map.number("contrast") > 0;
  return fmt::format("hd::jittered<{}, {}>({}, jitter_{}, {}, {}, {}, {}, py, px, c)", t.type, t.channels(), t.before,
                     t.name, contrast ? "mean_" + t.name : t.literal(0), t.literal(t.map.number("white")), contrast,
                     t.map.number("hue") > 0);
}

std::string fault(const DataMap& map, const MapRow& row) {
  const int64_t channels = row.dims.size() == 2 ? 1 : row.channels();
  if (channels == 3) return {};
  if (map.number("saturation") > 0 || map.number("hue") > 0)
    return fmt::format("has 'saturation' or 'hue', and the pictures have {} channel{}", channels,
                       channels == 1 ? "" : "s");
  if (map.number("contrast") == 0 || channels == 1) return {};
  return fmt::format("has 'contrast', which counts from a grey that {} channels do not have", channels);
}

void require(const DataMap& map) {
  for (const char* key : kChanges)
    if (map.number(key) > 0) return;
  throw UserError(map.where, "color_jitter changes nothing",
                  R"(write one of its keys, such as "brightness": 0.4 or "hue": 0.1)");
}

Key reach(const char* name, const char* doc, double most) {
  return {.name = name, .type = KeyType::real, .doc = doc, .fallback = 0.0, .range = between(0, most)};
}

const RegisterMap color_jitter({
    .name = "color_jitter",
    .doc =
        "brightness, contrast and saturation, one after the other, times a factor from 1 - b, not below 0, to 1 + b of "
        "its key, then the hue up to `hue` turns on or back. `white` is the largest value: 1 behind a scale by "
        "\"1/255.0\"",
    .keys =
        {reach("brightness", "of the factor of all values", 100),
         reach("contrast", "of the factor of what lies away from the picture's mean grey", 100),
         reach("saturation", "of the factor of what lies away from the pixel's grey", 100),
         reach("hue", "turns of the circle of colours", 0.5),
         {.name = "white", .type = KeyType::real, .doc = "the largest value", .fallback = 255.0, .range = kAboveZero}},
    .training = true,
    .picture = true,
    .require = require,
    .fault = fault,
    .largest = [](const DataMap& map, double) { return map.number("white"); },
});
const RegisterSample sample("color_jitter",
                            {.taps = [](const DataMap&) -> int64_t { return 3; }, .draw = draw, .pixel = pixel});

}  // namespace
}  // namespace heddle::ir
