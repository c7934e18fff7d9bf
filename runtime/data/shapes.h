// Synthetic pictures of shapes: discs, squares, triangles, crosses and rings on an uneven ground with lines across it,
// in grey or in colour.
//
//   {"op": "synthetic", "kind": "shapes", "rows": 6000, "image": "image", "label": "label", "mask": "mask"}
//     one shape: image u8[32,32,3], label u8[], mask u8[32,32] (1 where the shape is)
//   {"op": "synthetic", "kind": "scenes", "rows": 6000, "image": "image", "mask": "mask", "cell": "cells", "box": "boxes"}
//     one to four that do not overlap: image u8[40,40], mask u8[40,40], and on a grid cells u8[5,5], boxes f32[5,5,4]
//
// In each channel a shape is, at random, brighter or darker than the ground around it, so that no threshold finds it.
#pragma once
#include <cstdint>
#include <vector>

namespace heddle::runtime::data {

enum class Outline : uint8_t { disc, square, triangle, cross, ring };
inline constexpr int64_t kOutlines = 5;

// Coordinates are in pixels. The middle of a pixel is (column + 0.5, row + 0.5).
struct Shape {
  Outline outline = Outline::disc;
  float x = 0, y = 0, radius = 0, angle = 0;
};
struct Box {
  float left = 0, top = 0, right = 0, bottom = 0;
};
// Negative inside the shape. Near the outline, about the distance to it in pixels.
float signed_distance(const Shape& shape, float x, float y);
Box bounds(const Shape& shape);

struct Scene {
  std::vector<Shape> shapes;
  uint64_t paint = 0;  // key of its colours, lines and noise
};
Scene draw_scene(uint64_t seed, int64_t row, int64_t height, int64_t width, int64_t most);
std::vector<uint8_t> paint(const Scene& scene, int64_t height, int64_t width, int64_t channels);
std::vector<uint8_t> mask(const Scene& scene, int64_t height, int64_t width);

}  // namespace heddle::runtime::data
