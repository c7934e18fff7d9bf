// The kind `volumes` of the reader `synthetic`: balls and rods in a noisy ground, as in a scan.
//
//   {"op": "synthetic", "kind": "volumes", "rows": 1000, "volume": "volume", "mask": "mask"}
//     -> volume u8[16,16,16], mask u8[16,16,16] (0 the ground, 1 a ball, 2 a rod)
//
// A cut through a rod looks like one through a ball, so that no single plane tells them apart; each is brighter or darker
// than the ground around it, so that no threshold finds it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/data/keyed_random.h"
#include "runtime/data/synthetic.h"

namespace heddle::runtime::data {
namespace {

constexpr int64_t kMostThings = 3, kMinSide = 8, kMaxSide = 128;

// Depth, height, width; a voxel's middle lies at its indices + 0.5.
using Point = std::array<float, 3>;

float dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// All points at most `radius` from a line of 2 `half` along `along`; a ball's line is a point.
struct Thing {
  Point middle = {}, along = {};
  float half = 0, radius = 0, ink = 0;
  uint8_t label() const { return half > 0 ? 2 : 1; }
  // Negative inside.
  float distance(const Point& p) const {
    const Point from = {p[0] - middle[0], p[1] - middle[1], p[2] - middle[2]};
    const float t = std::clamp(dot(from, along), -half, half);
    const Point off = {from[0] - t * along[0], from[1] - t * along[1], from[2] - t * along[2]};
    return std::sqrt(dot(off, off)) - radius;
  }
};

struct Volume {
  std::vector<Thing> things;
  float ground = 0, noise = 0;
  Point slope = {};  // of the ground, from one side to the other
  uint64_t grain = 0;
};

Point sides_of(const std::vector<int64_t>& dims) {
  return {static_cast<float>(dims[0]), static_cast<float>(dims[1]), static_cast<float>(dims[2])};
}

float level_of_ground(const Volume& volume, const Point& p, const Point& sides) {
  float level = volume.ground;
  for (size_t i = 0; i < 3; ++i) level += volume.slope[i] * (p[i] / sides[i] - 0.5F);
  return level;
}

Thing draw_thing(KeyedRandom& random, const Point& sides) {
  const float size = std::ranges::min(sides);
  const bool rod = random.below(2) == 1;
  Thing thing{.radius = size * (rod ? random.uniform(0.1F, 0.15F) : random.uniform(0.2F, 0.32F))};
  // A direction whose height is uniform, so that all are equally likely.
  const float up = random.uniform(-1, 1), turn = random.uniform(0, 6.2831853F), flat = std::sqrt(1 - up * up);
  thing.along = {up, flat * std::cos(turn), flat * std::sin(turn)};
  thing.half = rod ? size * random.uniform(0.4F, 0.6F) : 0;
  for (size_t i = 0; i < 3; ++i) thing.middle[i] = random.uniform(0.2F, 0.8F) * sides[i];
  return thing;
}

Volume draw_volume(uint64_t seed, int64_t row, const Point& sides) {
  KeyedRandom random(seed, static_cast<uint64_t>(row));
  Volume volume{.things = {}, .ground = random.uniform(95, 160), .noise = random.uniform(4, 10)};
  for (float& slope : volume.slope) slope = random.uniform(-25, 25);
  const uint64_t things = 1 + random.below(kMostThings);
  for (uint64_t i = 0; i < things; ++i) {
    Thing thing = draw_thing(random, sides);
    const float contrast = random.uniform(50, 90);
    thing.ink = level_of_ground(volume, thing.middle, sides) + (random.below(2) == 0 ? contrast : -contrast);
    volume.things.push_back(thing);
  }
  volume.grain = random.next();
  return volume;
}

Volume volume_of(const SyntheticRow& r) { return draw_volume(r.seed, r.row, sides_of(r.column.dims)); }

// Calls f(middle of the voxel) for each, the last axis fastest.
template <class F>
void each_voxel(const std::vector<int64_t>& dims, const F& f) {
  for (int64_t z = 0; z < dims[0]; ++z)
    for (int64_t y = 0; y < dims[1]; ++y)
      for (int64_t x = 0; x < dims[2]; ++x)
        f(Point{static_cast<float>(z) + 0.5F, static_cast<float>(y) + 0.5F, static_cast<float>(x) + 0.5F});
}

void draw_voxels(const SyntheticRow& r, std::byte* to) {
  const Volume volume = volume_of(r);
  const Point sides = sides_of(r.column.dims);
  KeyedRandom random(volume.grain, 0);
  each_voxel(r.column.dims, [&](const Point& p) {
    float level = level_of_ground(volume, p, sides);
    for (const Thing& thing : volume.things)
      level += (thing.ink - level) * std::clamp(0.5F - thing.distance(p), 0.0F, 1.0F);
    level += volume.noise * (random.uniform(-1, 1) + random.uniform(-1, 1));
    *to++ = static_cast<std::byte>(static_cast<uint8_t>(std::clamp(level, 0.0F, 255.0F)));
  });
}

// Where two things share a voxel, the later one counts, as in painting.
void draw_mask(const SyntheticRow& r, std::byte* to) {
  const Volume volume = volume_of(r);
  each_voxel(r.column.dims, [&](const Point& p) {
    uint8_t label = 0;
    for (const Thing& thing : volume.things)
      if (thing.distance(p) < 0) label = thing.label();
    *to++ = static_cast<std::byte>(label);
  });
}

bool same_sides(const ColumnRequest& a, const ColumnRequest& b) {
  return std::equal(a.dims.begin(), a.dims.begin() + 3, b.dims.begin());
}

void require_volume(const ReaderRequest& request, const ColumnRequest& c) {
  const auto side = [](int64_t n) { return n >= kMinSide && n <= kMaxSide; };
  const bool rank = c.dims.size() == 3 || (c.dims.size() == 4 && c.dims[3] == 1);
  if (!rank || !std::all_of(c.dims.begin(), c.dims.begin() + 3, side))
    throw UserError(c.where,
                    fmt::format("synthetic volumes are [depth,height,width] or [depth,height,width,1] with sides of "
                                "{} to {}, input '{}' has [{}]",
                                kMinSide, kMaxSide, c.input, fmt::join(c.dims, ",")));
  for (const ColumnRequest& other : request.columns) {
    if (&other == &c) return;  // one that is faulty has been refused before
    if (!same_sides(other, c))
      throw UserError(c.where,
                      fmt::format("\"volume\" and \"mask\" of synthetic volumes have the same sides: input '{}' "
                                  "has [{}], '{}' [{}]",
                                  other.input, fmt::join(other.dims, ","), c.input, fmt::join(c.dims, ",")));
  }
}

const RegisterSynthetic volumes({.name = "volumes",
                                 .columns = {{.source = "volume", .check = require_volume, .draw = draw_voxels},
                                             {.source = "mask", .check = require_volume, .draw = draw_mask}}});

}  // namespace
}  // namespace heddle::runtime::data
