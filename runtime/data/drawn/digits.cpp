#include "runtime/data/drawn/digits.h"

#include <algorithm>
#include <cmath>

#include "runtime/data/glyphs.h"
#include "runtime/data/keyed_random.h"
#include "runtime/data/synthetic.h"

namespace heddle::runtime::data {
namespace {

// Glyph coordinates to pixels.
struct Affine {
  float xx = 1, xy = 0, yx = 0, yy = 1, x0 = 0, y0 = 0;
  Point operator()(Point p) const { return {xx * p.x + xy * p.y + x0, yx * p.x + yy * p.y + y0}; }
};

// Rotation up to 17 degrees, shear up to 0.2, sides of 55 % to 85 % of the picture, anywhere that keeps the centre near
// the middle.
Affine random_affine(KeyedRandom& random, float height, float width) {
  const float angle = random.uniform(-0.30F, 0.30F), shear = random.uniform(-0.20F, 0.20F);
  const float sx = width * random.uniform(0.55F, 0.85F), sy = height * random.uniform(0.55F, 0.85F);
  const float c = std::cos(angle), s = std::sin(angle);
  Affine m{c * sx, (c * shear - s) * sy, s * sx, (s * shear + c) * sy, 0, 0};
  const float x = width * random.uniform(0.385F, 0.615F), y = height * random.uniform(0.385F, 0.615F);
  m.x0 = x - 0.5F * (m.xx + m.xy);
  m.y0 = y - 0.5F * (m.yx + m.yy);
  return m;
}

// Squared distance from each pixel centre to the nearest stroke.
std::vector<float> distances(const std::vector<Stroke>& strokes, int64_t height, int64_t width) {
  std::vector<float> nearest(static_cast<size_t>(height * width), 1e9F);
  for (const Stroke& stroke : strokes) {
    for (size_t i = 1; i < stroke.size(); ++i) {
      const Point a = stroke[i - 1], d{stroke[i].x - a.x, stroke[i].y - a.y};
      const float inverse = 1 / std::max(d.x * d.x + d.y * d.y, 1e-6F);
      for (int64_t y = 0; y < height; ++y) {
        const float py = static_cast<float>(y) + 0.5F - a.y;
        float* row = nearest.data() + y * width;
        for (int64_t x = 0; x < width; ++x) {
          const float px = static_cast<float>(x) + 0.5F - a.x;
          const float t = std::min(std::max((px * d.x + py * d.y) * inverse, 0.0F), 1.0F);
          const float ex = px - t * d.x, ey = py - t * d.y;
          row[x] = std::min(row[x], ex * ex + ey * ey);
        }
      }
    }
  }
  return nearest;
}

}  // namespace

Digit draw_digit(uint64_t seed, int64_t row, int64_t height, int64_t width) {
  KeyedRandom random(seed, static_cast<uint64_t>(row));
  Digit digit{.label = static_cast<int>(random.below(10)), .pixels = {}};
  std::vector<Stroke> strokes = glyph(digit.label, random);
  const auto h = static_cast<float>(height), w = static_cast<float>(width);
  const Affine map = random_affine(random, h, w);
  for (Stroke& stroke : strokes)
    for (Point& p : stroke) p = map(p);

  const float size = std::sqrt(h * w), radius = size * random.uniform(0.025F, 0.065F), soft = size * 0.03F;
  const float ink = random.uniform(150, 255), paper = random.uniform(0, 40), noise = random.uniform(5, 45);
  for (float squared : distances(strokes, height, width)) {
    const float cover = std::min(std::max((radius + soft - std::sqrt(squared)) / soft, 0.0F), 1.0F);
    const float grain = noise * (random.uniform(-1, 1) + random.uniform(-1, 1));
    const float value = paper + (ink - paper) * cover + grain;
    digit.pixels.push_back(static_cast<uint8_t>(std::min(std::max(value, 0.0F), 255.0F)));
  }
  return digit;
}

// Draws the label first, as draw_digit does.
int digit_label(uint64_t seed, int64_t row) {
  return static_cast<int>(KeyedRandom(seed, static_cast<uint64_t>(row)).below(10));
}

namespace {

SyntheticKind kind() {
  const auto image = [](const SyntheticRow& r, std::byte* to) {
    const Digit digit = draw_digit(r.seed, r.row, r.column.dims[0], r.column.dims[1]);
    std::ranges::transform(digit.pixels, to, [](uint8_t p) { return static_cast<std::byte>(p); });
  };
  const auto label = [](const SyntheticRow& r, std::byte* to) {
    *to = static_cast<std::byte>(digit_label(r.seed, r.row));
  };
  return {.name = "digits",
          .columns = {{.source = "image",
                       .check = [](const auto& request, const auto& c) { require_picture(request, c, 1); },
                       .draw = image},
                      {.source = "label", .check = require_number, .draw = label}}};
}

const RegisterSynthetic registered(kind());

}  // namespace
}  // namespace heddle::runtime::data
