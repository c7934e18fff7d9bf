// The kinds `shapes` and `scenes` of the reader `synthetic`.
#include "runtime/data/shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/data/synthetic.h"

namespace heddle::runtime::data {
namespace {

constexpr int64_t kSceneShapes = 4;

// Height and width of the picture, which all columns of a row share.
struct Sides {
  int64_t height = 0, width = 0;
};

Sides sides_of(const ReaderRequest& request, const ColumnRequest& c) {
  for (const char* source : {"image", "mask"})
    for (const ColumnRequest& other : request.columns)
      if (other.source() == source) return {other.dims[0], other.dims[1]};
  throw UserError(c.where, fmt::format("\"{}\" of synthetic {} belongs to a picture, of which no input is \"image\" or "
                                       "\"mask\"",
                                       c.source(), request.text("kind")));
}

Scene scene_of(const SyntheticRow& r, int64_t most) {
  const Sides sides = sides_of(r.request, r.column);
  return draw_scene(r.seed, r.row, sides.height, sides.width, most);
}

void copy(const std::vector<uint8_t>& pixels, std::byte* to) {
  std::ranges::transform(pixels, to, [](uint8_t p) { return static_cast<std::byte>(p); });
}

void require_mask(const ReaderRequest& request, const ColumnRequest& c) {
  require_picture(request, c, 1);
  const Sides sides = sides_of(request, c);
  if (c.dims[0] != sides.height || c.dims[1] != sides.width)
    throw UserError(c.where, fmt::format("the picture has {} x {} pixels, its mask, input '{}', [{}]", sides.height,
                                         sides.width, c.input, fmt::join(c.dims, ",")));
}

SyntheticColumn image(int64_t most) {
  return {.source = "image",
          .check = [](const auto& request, const auto& c) { require_picture(request, c, 3); },
          .draw =
              [most](const SyntheticRow& r, std::byte* to) {
                const std::vector<int64_t>& dims = r.column.dims;
                copy(paint(scene_of(r, most), dims[0], dims[1], dims.size() == 3 ? dims[2] : 1), to);
              }};
}

SyntheticColumn mask_of(int64_t most) {
  return {.source = "mask", .check = require_mask, .draw = [most](const SyntheticRow& r, std::byte* to) {
            copy(mask(scene_of(r, most), r.column.dims[0], r.column.dims[1]), to);
          }};
}

void require_grid(const ReaderRequest& request, const ColumnRequest& c, bool boxes) {
  const std::vector<int64_t> dims = c.dims;
  const bool fits = boxes ? dims.size() == 3 && dims[2] == 4 : dims.size() == 2;
  sides_of(request, c);
  if (!fits)
    throw UserError(c.where, fmt::format("\"{}\" of synthetic scenes is a grid {}, input '{}' has [{}]", c.source(),
                                         boxes ? "[rows,columns,4]" : "[rows,columns]", c.input, fmt::join(dims, ",")));
}

// The grid cell with the middle of a shape's box, and the box in units of a cell: the middle relative to the cell's
// corner, and the sides.
struct OnGrid {
  int64_t cell = 0;
  float box[4] = {};
  int64_t outline = 0;
};

// Where two shapes share a cell, the first one counts.
std::vector<OnGrid> on_grid(const SyntheticRow& r) {
  const Sides sides = sides_of(r.request, r.column);
  const std::vector<int64_t> dims = r.column.dims;
  const float dy = static_cast<float>(sides.height) / static_cast<float>(dims[0]);
  const float dx = static_cast<float>(sides.width) / static_cast<float>(dims[1]);
  std::vector<OnGrid> out;
  for (const Shape& shape : scene_of(r, kSceneShapes).shapes) {
    const Box b = bounds(shape);
    const float x = (b.left + b.right) / (2 * dx), y = (b.top + b.bottom) / (2 * dy);
    const float column = std::floor(x), row = std::floor(y);
    const OnGrid found{.cell = static_cast<int64_t>(row) * dims[1] + static_cast<int64_t>(column),
                       .box = {x - column, y - row, (b.right - b.left) / dx, (b.bottom - b.top) / dy},
                       .outline = static_cast<int64_t>(shape.outline)};
    if (std::ranges::find(out, found.cell, &OnGrid::cell) == out.end()) out.push_back(found);
  }
  return out;
}

void draw_cells(const SyntheticRow& r, std::byte* to) {
  const std::vector<int64_t> dims = r.column.dims;
  std::fill_n(to, dims[0] * dims[1], std::byte{0});
  for (const OnGrid& shape : on_grid(r)) to[shape.cell] = static_cast<std::byte>(shape.outline + 1);
}

void draw_boxes(const SyntheticRow& r, std::byte* to) {
  std::fill_n(to, r.column.dims[0] * r.column.dims[1] * static_cast<int64_t>(sizeof OnGrid::box), std::byte{0});
  for (const OnGrid& shape : on_grid(r))
    std::memcpy(to + shape.cell * static_cast<int64_t>(sizeof OnGrid::box), shape.box, sizeof shape.box);
}

SyntheticKind shapes() {
  const auto check_label = [](const ReaderRequest& request, const ColumnRequest& c) {
    require_number(request, c);
    sides_of(request, c);
  };
  const auto label = [](const SyntheticRow& r, std::byte* to) {
    *to = static_cast<std::byte>(scene_of(r, 1).shapes.at(0).outline);
  };
  return {.name = "shapes",
          .columns = {image(1), mask_of(1), {.source = "label", .check = check_label, .draw = label}}};
}

SyntheticKind scenes() {
  return {.name = "scenes",
          .columns = {image(kSceneShapes),
                      mask_of(kSceneShapes),
                      {.source = "cells",
                       .check = [](const auto& request, const auto& c) { require_grid(request, c, false); },
                       .draw = draw_cells},
                      {.source = "boxes",
                       .type = ElementType::f32,
                       .check = [](const auto& request, const auto& c) { require_grid(request, c, true); },
                       .draw = draw_boxes}}};
}

const RegisterSynthetic of_one(shapes());
const RegisterSynthetic of_several(scenes());

}  // namespace
}  // namespace heddle::runtime::data
