#include "runtime/data/shapes.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/data/keyed_random.h"

namespace heddle::runtime::data {
namespace {

constexpr float kSquare = 0.7F, kLong = 0.94F, kThick = 0.32F;  // half sides of the square and of the cross's bars
constexpr float kRing = 0.7F, kBand = 0.3F;                     // middle of the ring, and half its breadth

struct Turn {
  float c = 1, s = 0;
};
Turn turn_of(const Shape& shape) { return {std::cos(shape.angle), std::sin(shape.angle)}; }

// Corners of what is not round, for a radius of 1.
std::vector<std::array<float, 2>> corners(Outline outline) {
  constexpr float kHalf = 0.5F, kSide = 0.8660254F;
  switch (outline) {
    case Outline::square: return {{kSquare, kSquare}, {kSquare, -kSquare}, {-kSquare, kSquare}, {-kSquare, -kSquare}};
    case Outline::triangle: return {{0, 1}, {kSide, -kHalf}, {-kSide, -kHalf}};
    case Outline::cross:
      return {{kLong, kThick}, {kLong, -kThick}, {-kLong, kThick}, {-kLong, -kThick},
              {kThick, kLong}, {kThick, -kLong}, {-kThick, kLong}, {-kThick, -kLong}};
    case Outline::disc:
    case Outline::ring: break;
  }
  return {};
}

// In the shape's own coordinates, where its radius is 1.
float own_distance(Outline outline, float x, float y) {
  const float ax = std::abs(x), ay = std::abs(y), r = std::hypot(x, y);
  switch (outline) {
    case Outline::square: return std::max(ax, ay) - kSquare;
    case Outline::triangle: return std::max(-y, 0.8660254F * ax + 0.5F * y) - 0.5F;
    case Outline::cross: return std::max(std::min(ax, ay) - kThick, std::max(ax, ay) - kLong);
    case Outline::ring: return std::abs(r - kRing) - kBand;
    case Outline::disc: break;
  }
  return r - 1;
}

float nearest(const Scene& scene, float x, float y) {
  float least = 1e9F;
  for (const Shape& shape : scene.shapes) least = std::min(least, signed_distance(shape, x, y));
  return least;
}

// A line through the picture, about a pixel and a half wide.
struct Line {
  float x = 0, y = 0, c = 1, s = 0, ink = 0;
  float cover(float px, float py) const {
    return std::clamp(1.25F - std::abs((px - x) * s - (py - y) * c), 0.0F, 1.0F);
  }
};

// What one channel looks like.
struct Channel {
  float ground = 0, across = 0, down = 0;  // its level and how it changes over the picture
  std::vector<Line> lines = {};
  std::vector<float> inks = {};  // of the shapes
  float noise = 0;
};

Channel draw_channel(KeyedRandom& random, const Scene& scene, float height, float width) {
  Channel c{.ground = random.uniform(80, 175), .across = random.uniform(-75, 75), .down = random.uniform(-75, 75)};
  for (int i = 0; i < 3; ++i) {
    const float angle = random.uniform(0, 3.1415927F);
    c.lines.push_back({random.uniform(0, width), random.uniform(0, height), std::cos(angle), std::sin(angle),
                       random.uniform(0, 255)});
  }
  for (const Shape& shape : scene.shapes) {
    const float around = c.ground + c.across * (shape.x / width - 0.5F) + c.down * (shape.y / height - 0.5F);
    const float contrast = random.uniform(40, 85);
    c.inks.push_back(random.below(2) == 0 ? around - contrast : around + contrast);
  }
  c.noise = random.uniform(4, 14);
  return c;
}

// Without the noise.
float level(const Channel& c, const Scene& scene, float x, float y, float height, float width) {
  float value = c.ground + c.across * (x / width - 0.5F) + c.down * (y / height - 0.5F);
  for (const Line& line : c.lines) value += (line.ink - value) * line.cover(x, y);
  for (size_t i = 0; i < scene.shapes.size(); ++i)
    value += (c.inks[i] - value) * std::clamp(0.5F - signed_distance(scene.shapes[i], x, y), 0.0F, 1.0F);
  return value;
}

bool apart(const Shape& shape, const std::vector<Shape>& others) {
  return std::ranges::all_of(
      others, [&](const Shape& o) { return std::hypot(shape.x - o.x, shape.y - o.y) > shape.radius + o.radius + 1; });
}

}  // namespace

float signed_distance(const Shape& shape, float x, float y) {
  const Turn t = turn_of(shape);
  const float dx = (x - shape.x) / shape.radius, dy = (y - shape.y) / shape.radius;
  return shape.radius * own_distance(shape.outline, t.c * dx + t.s * dy, t.c * dy - t.s * dx);
}

Box bounds(const Shape& shape) {
  const Turn t = turn_of(shape);
  Box box{0, 0, 0, 0};
  for (const auto& [x, y] : corners(shape.outline)) {
    const float dx = t.c * x - t.s * y, dy = t.s * x + t.c * y;
    box = {std::min(box.left, dx), std::min(box.top, dy), std::max(box.right, dx), std::max(box.bottom, dy)};
  }
  if (corners(shape.outline).empty()) box = {-1, -1, 1, 1};
  const float r = shape.radius;
  return {shape.x + r * box.left, shape.y + r * box.top, shape.x + r * box.right, shape.y + r * box.bottom};
}

Scene draw_scene(uint64_t seed, int64_t row, int64_t height, int64_t width, int64_t most) {
  KeyedRandom random(seed, static_cast<uint64_t>(row));
  const auto h = static_cast<float>(height), w = static_cast<float>(width), size = std::min(h, w);
  const float small = most == 1 ? 0.26F : 0.14F, large = most == 1 ? 0.4F : 0.22F;
  Scene scene{.shapes = {}, .paint = random.next()};
  const auto wanted = static_cast<size_t>(1 + random.below(static_cast<uint64_t>(most)));
  constexpr int kTries = 40;  // where there is no room for all, there are fewer
  for (int i = 0; i < kTries && scene.shapes.size() < wanted; ++i) {
    Shape shape{.outline = static_cast<Outline>(random.below(kOutlines)),
                .radius = size * random.uniform(small, large)};
    shape.x = random.uniform(shape.radius, w - shape.radius);
    shape.y = random.uniform(shape.radius, h - shape.radius);
    shape.angle = random.uniform(0, 6.2831853F);
    if (apart(shape, scene.shapes)) scene.shapes.push_back(shape);
  }
  return scene;
}

std::vector<uint8_t> paint(const Scene& scene, int64_t height, int64_t width, int64_t channels) {
  const auto h = static_cast<float>(height), w = static_cast<float>(width);
  KeyedRandom random(scene.paint, 0);
  std::vector<uint8_t> pixels(static_cast<size_t>(height * width * channels));
  for (int64_t k = 0; k < channels; ++k) {
    const Channel channel = draw_channel(random, scene, h, w);
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < width; ++x) {
        const float clean = level(channel, scene, static_cast<float>(x) + 0.5F, static_cast<float>(y) + 0.5F, h, w);
        const float grain = channel.noise * (random.uniform(-1, 1) + random.uniform(-1, 1));
        pixels[static_cast<size_t>((y * width + x) * channels + k)] =
            static_cast<uint8_t>(std::clamp(clean + grain, 0.0F, 255.0F));
      }
  }
  return pixels;
}

std::vector<uint8_t> mask(const Scene& scene, int64_t height, int64_t width) {
  std::vector<uint8_t> inside;
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x)
      inside.push_back(nearest(scene, static_cast<float>(x) + 0.5F, static_cast<float>(y) + 0.5F) < 0 ? 1 : 0);
  return inside;
}

}  // namespace heddle::runtime::data
